#!/bin/sh
# SPDX-License-Identifier: MIT
# The command `asamp`, installed in the folder of the interpreter that runs it. -E: LUA_PATH,
# LUA_INIT and similar variables apply to the programs that it runs, not to the command; its
# modules are those of the interpreter's tree, not of the current folder.
# readlink runs for symbolic links only: its start takes longer than the rest of `asamp --version`.
here=$0
[ ! -L "$here" ] || here=$(readlink -f "$here")
case $here in */*) here=${here%/*} ;; *) here=. ;; esac
if [ -L "$here/lua" ]; then
  tree=$(readlink -f "$here/lua")
  tree=${tree%/*/*}
elif [ "${here#/}" != "$here" ] && [ ! -L "$here" ]; then
  tree=${here%/*}
else  # this form starts a process
  tree=$(CDPATH='' cd -P -- "$here/.." && pwd -P)
fi
unset ASAMP  # the command itself is not sampled
exec "$here/lua" -E -e "package.path = [==[$tree/share/asamp/?.luac;$tree/share/asamp/?.lua]==]
package.cpath = [==[$tree/lib/asamp/?.so]==]
os.exit(require('asamp').main(arg))" /dev/null "$@"
