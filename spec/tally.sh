# SPDX-License-Identifier: MIT
# Functions for scripts that run commands whose last line is "N passed, N failed" and that end with such a
# line themselves. A script sources this file, which then adds up the counts and hides the last lines of the
# commands.
passed=0 failed=0
said=$(mktemp) || exit 1

# tally NAME COMMAND...: runs the command and shows its output, with NAME before its last line. Adds that
# line's counts to $passed and $failed. A command without such a line counts as one passed if its exit
# status is 0. A command that fails without reporting a failure counts as one failed. All output of the
# command stays in the file $said until the next call.
tally() {
  name=$1
  shift
  { { "$@" 2>&1; echo $? >"$said.status"; } | tee "$said"; } |
    sed -u "s|^[0-9][0-9]* passed, [0-9][0-9]* failed\$|$name: &|"
  status=$(cat "$said.status")
  line=$(grep -aE '^[0-9]+ passed, [0-9]+ failed$' "$said" | tail -1)
  ran=${line%% *} lost=${line#*, } lost=${lost%% *}
  [ -n "$line" ] || lost=0 ran=$([ "$status" = 0 ] && echo 1 || echo 0)
  if [ "$status" != 0 ] && [ "$lost" = 0 ]; then
    echo "$name: ended with status $status" >&2
    lost=1
  fi
  passed=$((passed + ran)) failed=$((failed + lost))
}

# Prints the line "N passed, N failed" and removes the file. Fails if anything failed.
closing() {
  rm -f "$said" "$said.status"
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ]
}
