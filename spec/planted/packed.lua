-- The verdict must name line 4, reason tables
-- The arguments of each call are packed into a table that has its final size at once.
local function log(...)
  local parts = table.pack(...)
  for i = 1, parts.n do parts[i] = #parts[i] end
  return parts[1] + parts[parts.n]
end

local n = 0
for _ = 1, 80000 do n = n + log("from", "account", "to", "account") end
print(n)
