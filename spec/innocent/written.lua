-- No leak: replaces numbers in the lines of a log, collects the results, and writes them one by one at the
-- end.
local function filter(n)
  local result = {}
  for i = 1, n do
    local line = ("%d GET /page/%d 200 %d"):format(i, i % 97, i * 7 % 1000)
    line = line:gsub("%d+", function(d) return #d > 2 and "<" .. d .. ">" or d end)
    table.insert(result, line)
  end
  return result
end
for _, line in ipairs(filter(60000)) do io.write(line, "\n") end
