-- SPDX-License-Identifier: MIT
-- The hash parts of tables grow to 700 string keys. Table and keys are then dropped.
for round = 1, 8 do
  local set, n = {}, 0
  for i = 1, 700 do set["key " .. round .. " " .. i] = i end
  for _ in pairs(set) do n = n + 1 end
  assert(n == 700)
end
