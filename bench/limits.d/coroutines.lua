-- SPDX-License-Identifier: MIT
-- Creates coroutines, suspends each one in a recursion of 200 calls, so that its stack has grown, and drops
-- it.
local function deep(n)
  if n == 0 then coroutine.yield() else deep(n - 1) end
  return 1
end
for _ = 1, 150 do coroutine.wrap(deep)(200) end
