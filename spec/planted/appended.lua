-- expect: 5 resized
-- A list is filled again for each of many requests.
local function list(n)
  local t = {}
  for i = 1, n do t[#t + 1] = i end
  return t
end

local sum = 0
for i = 1, 12000 do sum = sum + #list(60 + i % 8) end
print(sum)
