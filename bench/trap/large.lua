-- SPDX-License-Identifier: MIT
-- Trap: objects in separate blocks of lua_Alloc: each is the function of a chunk with its own
-- prototype, or, for every sixteenth object, a string of 9,000 bytes.

local BYTES = 9000

return function(k)
  return k % 16 == 0 and ("x"):rep(BYTES) or load("return 1")
end
