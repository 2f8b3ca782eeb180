-- SPDX-License-Identifier: MIT
-- Objects that are hard for collectors, for bench/pauses --trap: a coroutine with very many frames, each
-- with its own object. The frames return one by one in the phase "shrink".

local yield, wrap = coroutine.yield, coroutine.wrap

-- Number of calls that 'dive' makes until the next yield. If negative: minus the number of returns.
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
