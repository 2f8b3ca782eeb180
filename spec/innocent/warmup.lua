-- No leak: tables are loaded first, and then only used.
local data = {}
for i = 1, 40000 do data[i] = {id = i, name = "item " .. i} end
local n = 0
for round = 1, 150000 do
  local pair = {round, data[round % #data + 1]}
  n = n + pair[2].id % 3
end
print(n)
