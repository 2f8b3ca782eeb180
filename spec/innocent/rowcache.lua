-- A cache of arrays is full after 60% of the run, and drops its oldest array for each new one.
local map, order, first, n = {}, {}, 1, 0
local s = 0
for k = 1, 5000 do
  local row = {}
  for i = 1, 300 do row[i] = i * k end
  order[#order + 1], map[k], n = k, row, n + 1
  if n > 3000 then
    map[order[first]] = nil
    first, n = first + 1, n - 1
  end
  for _ = 1, 20 do
    local t = {}
    for i = 1, 20 do t[i] = map[k][i] end
    s = s + #t
  end
end
print(s)
