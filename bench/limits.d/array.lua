-- SPDX-License-Identifier: MIT
-- Arrays grow to 4,000 elements and are dropped.
for _ = 1, 10 do
  local list = {}
  for i = 1, 4000 do list[i] = i end
  assert(#list == 4000)
end
