-- SPDX-License-Identifier: MIT
-- Sorts records with a comparison function that creates strings.
local list = {}
for i = 1, 300 do list[i] = { id = i * 7919 % 1009 } end
for _ = 1, 3 do
  table.sort(list, function(a, b) return ("%05d"):format(a.id) < ("%05d"):format(b.id) end)
end
