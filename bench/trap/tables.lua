-- SPDX-License-Identifier: MIT
-- Objects that are hard for collectors, for bench/pauses --trap: tables whose arrays are separate blocks of
-- lua_Alloc (9,600 bytes each).

local SLOTS = 600
local unpack = table.unpack
local slots = {}
for i = 1, SLOTS do slots[i] = i end

return function()
  return { unpack(slots, 1, SLOTS) }
end
