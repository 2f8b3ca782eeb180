-- SPDX-License-Identifier: MIT
-- Trap: a coroutine so many frames deep; every frame has an object of its own. Frames
-- are left one by one, too, before the coroutine is dropped.

local yield, wrap = coroutine.yield, coroutine.wrap

-- left: how many more calls, or returns, until the next yield.
local left = 0

local function dive(depth)
  local own = { depth }
  while true do
    if left == 0 then left = yield() end
    if left < 0 then
      left = left + 1
      return own
    end
    left = left - 1
    dive(depth + 1)
  end
end

local co

return {
  build = function(_, n)
    if not co then
      left = 0
      co = wrap(dive)
      co(1)
    end
    co(n)
  end,
  shrink = function(n) co(-n) end,
  drop = function() co = nil end,
}
