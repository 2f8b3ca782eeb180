-- SPDX-License-Identifier: MIT
-- Trap: short strings, no two alike.

local PAGE = 1024
local pages = {}

return {
  build = function(i, n)
    for k = i, i + n - 1 do
      local page = pages[k // PAGE]
      if not page then
        page = {}
        pages[k // PAGE] = page
      end
      page[#page + 1] = "string " .. k
    end
  end,
  drop = function() pages = {} end,
}
