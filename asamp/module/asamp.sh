#!/bin/sh
# SPDX-License-Identifier: MIT
# The command `asamp`, installed beside the interpreter that has its modules.
# LUA_PATH, LUA_INIT and the like are for the programs that it runs (-E).
here=$(dirname "$(readlink -f "$0")")
unset ASAMP  # nor is this one
exec "$here/lua" -E -e 'os.exit(require("asamp").main(arg), true)' /dev/null "$@"
