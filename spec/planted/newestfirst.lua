-- expect: 7|8|9 list history
-- A history with the newest entry first: each insertion moves all older ones, so the work per entry grows.
local shell = {history = {}}

function shell:run(line)
  local words = {}
  for word in line:gmatch "%S+" do words[#words + 1] = word end
  local entry = {line = line, words = words}
  table.insert(self.history, 1, entry)
  return #words
end

local n = 0
for i = 1, 9000 do n = n + shell:run("set" .. i % 10 .. " value" .. i .. " --force") end
print(n)
