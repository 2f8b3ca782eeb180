-- SPDX-License-Identifier: MIT
-- Passes 1,500 values as arguments, once on the stack of the main program and once on that of a coroutine.
local list = {}
for i = 1, 1500 do list[i] = i end
for _ = 1, 20 do
  assert(select("#", table.unpack(list)) == 1500)
  assert(#{ coroutine.wrap(function(...) return ... end)(table.unpack(list)) } == 1500)
end
