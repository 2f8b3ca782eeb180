-- SPDX-License-Identifier: MIT
-- Trap: a table with weak values, and one with weak keys, that have all the objects
-- there are. The objects die at once.

local PAGE = 1024
local pages = {}
local byid, numbers = setmetatable({}, { __mode = "v" }), setmetatable({}, { __mode = "k" })

return {
  build = function(i, n)
    for k = i, i + n - 1 do
      local page = pages[k // PAGE]
      if not page then
        page = {}
        pages[k // PAGE] = page
      end
      local object = { k }
      page[#page + 1], byid["object " .. k], numbers[object] = object, object, { k }
    end
  end,
  drop = function() pages = {} end,
}
