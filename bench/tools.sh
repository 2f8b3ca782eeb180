# SPDX-License-Identifier: MIT
# What every bench command needs, sourced by them: 'root', 'scratch' (helpers, kept),
# 'work' (a folder of this run's own, removed at its end), 'lua' (a Lua 5.4 that
# runs the runner itself) and the small C helpers, built when missing.
# Never measures anything, writes only below build/bench.

root=$(cd "$(dirname "$0")/.." && pwd)
scratch=$root/build/bench
mkdir -p "$scratch"
work=$(mktemp -d "$scratch/run.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

die() {
  echo "$(basename "$0"): $1" >&2
  exit 2
}

lua=
for candidate in "$root/build/plain/bin/lua" lua5.4 lua "$root/build/bin/lua"; do
  case $("$candidate" -v 2>/dev/null) in
    "Lua 5.4"*) lua=$candidate; break ;;
  esac
done
[ -n "$lua" ] || die "no Lua 5.4 to run the runner; run make plain, or apt-get install lua5.4"

# helper OUTPUT SOURCE FLAGS...: compiles a helper that is older than its source.
helper() {
  helper_out=$1 helper_source=$2
  shift 2
  [ "$helper_out" -nt "$helper_source" ] && return
  "${CC:-gcc}" -std=gnu99 -O2 -Wall -Wextra "$@" -o "$work/helper" "$helper_source" ||
    die "cannot compile $helper_source; apt-get install gcc, or set CC"
  mv "$work/helper" "$helper_out"
}
helper "$scratch/runstat" "$root/bench/runstat.c"
helper "$scratch/fixedseed.so" "$root/bench/fixedseed.c" -shared -fPIC

need_valgrind() {
  command -v valgrind >/dev/null || die "valgrind is not installed; apt-get install valgrind"
}
