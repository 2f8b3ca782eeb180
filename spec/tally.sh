# SPDX-License-Identifier: MIT
# Sourced by what runs commands that close with "N passed, N failed" and closes
# so itself: one sum, and no line of theirs that could be taken for it.
passed=0 failed=0
said=$(mktemp) || exit 1

# tally NAME COMMAND...: runs the command, shows its output, with NAME before
# its closing line, and adds that line to $passed and $failed. A command that
# has none counts as one passed if it ends well. What ends badly without
# reporting a failure counts as one failed. All that it said stays in the file
# $said until the next call.
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

# The closing line; fails if anything did.
closing() {
  rm -f "$said" "$said.status"
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ]
}
