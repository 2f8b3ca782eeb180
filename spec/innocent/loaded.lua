-- No leak: the first half of the run builds an index, and the second half only reads it.
local index = {}
for i = 1, 60000 do index["id" .. i] = {i, i % 7} end
local n = 0
for i = 1, 400000 do
  local row = index["id" .. (i % 60000 + 1)]
  n = n + row[2]
end
print(n)
