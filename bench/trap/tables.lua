-- SPDX-License-Identifier: MIT
-- Objects that are hard for collectors, for bench/pauses --trap: tables with large arrays. Each array has
-- 9,600 bytes, so that lua_Alloc allocates it separately.

local SLOTS = 600
local unpack = table.unpack
local slots = {}
for i = 1, SLOTS do slots[i] = i end

return function()
  return { unpack(slots, 1, SLOTS) }
end
