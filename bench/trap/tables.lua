-- SPDX-License-Identifier: MIT
-- Trap: tables whose vectors lua_Alloc gives one by one (9,600 bytes each).

local PAGE, SLOTS = 1024, 600
local unpack = table.unpack
local pages, slots = {}, {}
for i = 1, SLOTS do slots[i] = i end

return {
  build = function(i, n)
    for k = i, i + n - 1 do
      local page = pages[k // PAGE]
      if not page then
        page = {}
        pages[k // PAGE] = page
      end
      page[#page + 1] = { unpack(slots, 1, SLOTS) }
    end
  end,
  drop = function() pages = {} end,
}
