-- Reads a table of comma-separated values with much garbage, then adds up one column.
local text
do
  local lines = {}
  for i = 1, 30000 do lines[i] = i .. ",name" .. i .. "," .. i % 13 end
  text = table.concat(lines, "\n")
end
local rows = {}
for line in text:gmatch "[^\n]+" do
  local row = {}
  for field in line:gmatch "[^,]+" do row[#row + 1] = field end
  rows[#rows + 1] = row
end
local sums = {}
for _, row in ipairs(rows) do sums[row[3]] = (sums[row[3]] or 0) + tonumber(row[1]) end
print(sums["7"])
