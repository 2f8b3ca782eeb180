-- The verdict must name line 7|8|9, reason list, holder history
-- A list has its newest element first, so that each insertion moves all other elements.
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
