# SPDX-License-Identifier: MIT
# Every command of bench/ sources this file. It sets four variables:
#   root     the root folder of the project
#   scratch  a folder for compiled helpers, which is kept
#   work     a folder for this run, which is removed when the command ends
#   lua      a Lua 5.4 that runs the scripts of bench/runner
# It compiles the C helpers that are missing or older than their sources. It writes only below build/bench.

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

# helped ARGUMENTS...: if --help is one of them, prints the comment at the start of the command and exits.
helped() {
  for argument; do
    case $argument in --help | -h) sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;; esac
  done
}

lua=
for candidate in "$root/build/plain/bin/lua" lua5.4 lua "$root/build/bin/lua"; do
  case $("$candidate" -v 2>/dev/null) in
    "Lua 5.4"*) lua=$candidate; break ;;
  esac
done
[ -n "$lua" ] || die "no Lua 5.4 to run the runner; run make plain, or apt-get install lua5.4"

# helper OUTPUT SOURCE FLAGS...: compiles a C helper if it is older than its source.
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

# option NAME DEFAULT ARGUMENTS...: sets 'value' to the value of --NAME among the arguments, or to
# DEFAULT.
option() {
  option_name=$1 value=$2 option_previous=
  shift 2
  for argument; do
    case $option_previous=$argument in
      "--$option_name="*) value=$argument ;;
      *"=--$option_name="*) value=${argument#"--$option_name="} ;;
    esac
    option_previous=$argument
  done
}

# link_variants NAME ARGUMENTS...: links bench/NAME.c with the library of each interpreter, as
# 'work'/NAME-plain and NAME-fork. ARGUMENTS are the command's own: --plain PATH and --fork PATH among
# them name the interpreters, in a prefix (PREFIX/bin/lua, PREFIX/lib/liblua.a, PREFIX/include/lua5.4).
link_variants() {
  link_name=$1
  shift
  option plain "$root/build/plain/bin/lua" "$@"
  link_one plain "$value"
  option fork "$root/build/bin/lua" "$@"
  link_one fork "$value"
}

# prefix_of OPTION PATH: sets 'prefix' to the folder that contains the bin/ of the interpreter PATH.
prefix_of() {
  [ -x "$2" ] || die "no interpreter at $2; build it, or give --$1 PATH"
  prefix=$(cd "$(dirname "$2")/.." && pwd)
}

link_one() {
  prefix_of "$1" "$2"
  [ -f "$prefix/lib/liblua.a" ] || die "no $prefix/lib/liblua.a; build it, or give --$1 PREFIX/bin/lua"
  "${CC:-gcc}" -std=gnu99 -O2 -Wall -Wextra -I"$prefix/include/lua5.4" -o "$work/$link_name-$1" \
    "$root/bench/$link_name.c" -Wl,-E "$prefix/lib/liblua.a" -lm -ldl || die "cannot link against $prefix/lib/liblua.a"
}

# need_valgrind: call it before counting instructions. callgrind counts each byte of a `rep movsb` as one
# instruction, and the C library copies thousands of bytes by one such instruction. So this function
# disables the instruction in the C library.
need_valgrind() {
  command -v valgrind >/dev/null || die "valgrind is not installed; apt-get install valgrind"
  export GLIBC_TUNABLES=glibc.cpu.x86_rep_movsb_threshold=1000000000:glibc.cpu.x86_rep_stosb_threshold=1000000000
}

# compile_exact PREFIX: compiles 'work'/exact.so for the interpreter in the folder PREFIX.
compile_exact() {
  [ -d build/fork/src/src ] || die "no headers of the core in build/fork/src; run make fork"
  "${CC:-gcc}" -std=gnu99 -O2 -Wall -Wextra -shared -fPIC -I"$1/include/lua5.4" -Ilua -Ilua/vm -Ilua/gc \
    $(printf -- '-I%s ' lua/gc/*/) -Ibuild/fork/src/src -o "$work/exact.so" bench/exact.c ||
    die "cannot compile bench/exact.c; apt-get install gcc, or set CC"
}
