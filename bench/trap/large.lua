-- SPDX-License-Identifier: MIT
-- Trap: objects in separate blocks of lua_Alloc: functions of chunks, each with its own prototype, and
-- for every sixteenth a string of 9,000 bytes.

local BYTES = 9000

return function(k)
  return k % 16 == 0 and ("x"):rep(BYTES) or load("return 1")
end
