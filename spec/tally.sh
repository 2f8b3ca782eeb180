# SPDX-License-Identifier: MIT
# Functions for scripts that run several commands, each of which prints "N passed, N failed" as its last
# line. A script sources this file to add up these counts. It prints one such line at its end.
passed=0 failed=0
said=$(mktemp) || exit 1

# tally NAME COMMAND...: runs the command and shows its output. If the last line is "N passed, N failed",
# prints NAME before it, and adds its counts to $passed and $failed. Without such a line, a command counts
# as one passed if its exit status is 0. A command that fails without reporting a failure counts as one
# failed. The output of the command stays in the file $said until the next call.
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
