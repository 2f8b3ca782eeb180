-- No leak: loads a table of comma-separated values, then adds up its columns.
local function load_csv(n)
  local rows = {}
  for i = 1, n do
    local line = ("%d,%d,%d,item%d"):format(i, i * 3 % 101, i * 7 % 97, i % 50)
    local row = {}
    for field in line:gmatch "[^,]+" do row[#row + 1] = field end
    rows[#rows + 1] = row
  end
  return rows
end
local rows = load_csv(15000)
local sums = {0, 0, 0}
for _, row in ipairs(rows) do
  for c = 1, 3 do sums[c] = sums[c] + tonumber(row[c]) end
end
print(sums[1], sums[2], sums[3])
