-- SPDX-License-Identifier: MIT
-- Passes lists of 1,500 values on the stack, and on that of a coroutine.
local list = {}
for i = 1, 1500 do list[i] = i end
for _ = 1, 20 do
  assert(select("#", table.unpack(list)) == 1500)
  assert(#{ coroutine.wrap(function(...) return ... end)(table.unpack(list)) } == 1500)
end
