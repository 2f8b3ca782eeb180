#!/bin/sh
# SPDX-License-Identifier: MIT
# The command `asamp`, installed beside the interpreter that has its modules.
# LUA_PATH, LUA_INIT and the like are for the programs that it runs (-E); its modules
# are those of the interpreter's tree, not of the current folder.
# readlink runs for symbolic links only: its start takes longer than the rest of `asamp --version`.
here=$0
[ ! -L "$here" ] || here=$(readlink -f "$here")
case $here in */*) here=${here%/*} ;; *) here=. ;; esac
if [ -L "$here/lua" ]; then
  tree=$(readlink -f "$here/lua")
  tree=${tree%/*/*}
elif [ "${here#/}" != "$here" ] && [ ! -L "$here" ]; then
  tree=${here%/*}
else  # starts a process
  tree=$(CDPATH='' cd -P -- "$here/.." && pwd -P)
fi
unset ASAMP  # nor is this one
exec "$here/lua" -E -e "package.path = [==[$tree/share/asamp/?.luac;$tree/share/asamp/?.lua]==]
package.cpath = [==[$tree/lib/asamp/?.so]==]
os.exit(require('asamp').main(arg))" /dev/null "$@"
