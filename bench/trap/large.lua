-- SPDX-License-Identifier: MIT
-- Objects that are hard for collectors, for bench/pauses --trap: compiled functions. Each has a prototype
-- of its own, whose parts are allocated and freed separately. Every sixteenth object is a string of 9,000
-- bytes instead.

local BYTES = 9000

return function(k)
  return k % 16 == 0 and ("x"):rep(BYTES) or load("return 1")
end
