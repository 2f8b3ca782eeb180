-- SPDX-License-Identifier: MIT
-- The Lua stack grows to up to 2,000 calls and shrinks again, while short-lived tables are created.
local function depth(n)
  if n == 0 then return 0 end
  return 1 + depth(n - 1)
end
for i = 1, 10 do
  assert(depth(200 * i) == 200 * i)
  for j = 1, 200 do assert(#{ i, j } == 2) end
end
