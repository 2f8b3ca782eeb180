-- SPDX-License-Identifier: MIT
-- Objects that are hard for collectors, for bench/pauses --trap: suspended coroutines, each in its first
-- call.

local yield, wrap = coroutine.yield, coroutine.wrap

local function body(i)
  local own = { i }
  yield(own)
  return own
end

return function(k)
  local co = wrap(body)
  co(k)
  return co
end
