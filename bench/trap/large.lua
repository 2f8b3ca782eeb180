-- SPDX-License-Identifier: MIT
-- Trap: objects that lua_Alloc gives one by one: functions of chunks, each with a
-- prototype of its own, and at every sixteenth a string of 9,000 bytes.

local BYTES = 9000

return function(k)
  return k % 16 == 0 and ("x"):rep(BYTES) or load("return 1")
end
