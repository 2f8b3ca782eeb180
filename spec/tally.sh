# SPDX-License-Identifier: MIT
# Sourced by scripts that run commands whose last line is "N passed, N failed" and that end with such a
# line themselves: adds up the counts, and hides the last lines of the commands.
passed=0 failed=0
said=$(mktemp) || exit 1

# tally NAME COMMAND...: runs the command, shows its output, with NAME before its last line, and adds
# that line's counts to $passed and $failed. A command without such a line counts as one passed if its
# exit status is 0. A command that fails without reporting a failure counts as one failed. All of its
# output stays in the file $said until the next call.
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

# Prints the last line; fails if anything failed.
closing() {
  rm -f "$said" "$said.status"
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ]
}
