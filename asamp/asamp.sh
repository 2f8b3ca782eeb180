#!/bin/sh
# SPDX-License-Identifier: MIT
# The command `asamp`, installed beside the interpreter that has its modules.
here=$(dirname "$(readlink -f "$0")")
exec "$here/lua" -e 'os.exit(require("asamp").main(arg), true)' /dev/null "$@"
