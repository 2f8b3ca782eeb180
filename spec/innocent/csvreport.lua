-- No leak: reads all lines into a list, then converts them into a second list. Both are used at the end.
local input = {}
for i = 1, 60000 do input[i] = ("%d;%s;%d.%02d"):format(i, "name" .. i % 100, i % 500, i % 100) end
local output = {}
for _, line in ipairs(input) do
  local id, name, amount = line:match "([^;]+);([^;]+);([^;]+)"
  output[#output + 1] = table.concat({name:upper(), id, amount}, "\t")
end
print(#table.concat(output, "\n"))
