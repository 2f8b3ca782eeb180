-- SPDX-License-Identifier: MIT
-- Trap: coroutines that wait, each in its first call.

local PAGE = 1024
local yield, wrap = coroutine.yield, coroutine.wrap
local pages = {}

local function body(i)
  local own = { i }
  yield(own)
  return own
end

return {
  build = function(i, n)
    for k = i, i + n - 1 do
      local page = pages[k // PAGE]
      if not page then
        page = {}
        pages[k // PAGE] = page
      end
      local co = wrap(body)
      co(k)
      page[#page + 1] = co
    end
  end,
  drop = function() pages = {} end,
}
