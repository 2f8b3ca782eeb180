-- SPDX-License-Identifier: MIT
-- Objects that are hard for collectors, for bench/pauses --trap: objects in separate blocks of lua_Alloc.
-- Each is the function of a chunk with its own prototype; every sixteenth is a string of 9,000 bytes
-- instead.

local BYTES = 9000

return function(k)
  return k % 16 == 0 and ("x"):rep(BYTES) or load("return 1")
end
