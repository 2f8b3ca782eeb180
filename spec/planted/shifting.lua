-- The verdict must name line 8, reason c
-- Removing the first element of a long list moves all other elements.
local queue = {}
for i = 1, 20000 do queue[i] = i end

local sum = 0
local function next_()
  local first = table.remove(queue, 1)
  queue[#queue + 1] = first
  return first
end

for _ = 1, 1500 do sum = sum + next_() end
print(sum)
