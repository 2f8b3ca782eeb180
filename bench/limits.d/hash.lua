-- SPDX-License-Identifier: MIT
-- Fills tables with 700 string keys, so that their hash parts grow step by step, and drops them.
for round = 1, 8 do
  local set, n = {}, 0
  for i = 1, 700 do set["key " .. round .. " " .. i] = i end
  for _ in pairs(set) do n = n + 1 end
  assert(n == 700)
end
