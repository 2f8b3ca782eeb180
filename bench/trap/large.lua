-- SPDX-License-Identifier: MIT
-- Trap: objects that lua_Alloc gives one by one: functions of chunks, each with a
-- prototype of its own, and at every sixteenth a string of 9,000 bytes.

local PAGE, BYTES = 1024, 9000
local pages = {}

return {
  build = function(i, n)
    for k = i, i + n - 1 do
      local page = pages[k // PAGE]
      if not page then
        page = {}
        pages[k // PAGE] = page
      end
      page[#page + 1] = k % 16 == 0 and ("x"):rep(BYTES) or load("return 1")
    end
  end,
  drop = function() pages = {} end,
}
