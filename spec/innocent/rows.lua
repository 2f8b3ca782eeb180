-- Loads rows of numbers, then sums them many times.
local rows = {}
for k = 1, 2000 do
  local row = {}
  for i = 1, 400 do row[i] = i * k end
  rows[k] = row
end
local s = 0
for _ = 1, 40 do
  for k = 1, #rows do
    local row = rows[k]
    for i = 1, #row do s = s + row[i] end
  end
end
print(s)
