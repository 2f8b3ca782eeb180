-- The verdict must name line 6, reason tables
-- Each step copies the list into a table that has its final size from the start. table.unpack enlarges
-- Lua's stack.
local n = 0
local function copied(list)
  return {table.unpack(list)}
end

for round = 1, 3000 do
  local list = {}
  for _ = 1, 40 do list = copied{round, table.unpack(list)} end
  n = n + #list
end
print(n)
