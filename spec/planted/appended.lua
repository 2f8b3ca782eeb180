-- The verdict must name line 5, reason resized
-- For each of many requests, a list of numbers is filled element by element, so that its array is resized.
local function list(n)
  local t = {}
  for i = 1, n do t[#t + 1] = i end
  return t
end

local sum = 0
for i = 1, 12000 do sum = sum + #list(60 + i % 8) end
print(sum)
