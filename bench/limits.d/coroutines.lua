-- SPDX-License-Identifier: MIT
-- Coroutines whose stacks have grown are dropped; one is alive at a time.
local function deep(n)
  if n == 0 then coroutine.yield() else deep(n - 1) end
  return 1
end
for _ = 1, 150 do coroutine.wrap(deep)(200) end
