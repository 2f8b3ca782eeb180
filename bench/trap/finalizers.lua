-- SPDX-License-Identifier: MIT
-- Trap: objects with finalizers, each of which holds two more objects.

local PAGE = 1024
local pages, called = {}, 0
local mt = { __gc = function() called = called + 1 end }

return {
  build = function(i, n)
    for k = i, i + n - 1 do
      local page = pages[k // PAGE]
      if not page then
        page = {}
        pages[k // PAGE] = page
      end
      page[#page + 1] = setmetatable({ { k }, { -k } }, mt)
    end
  end,
  drop = function() pages = {} end,
}
