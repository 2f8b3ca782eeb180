-- The verdict must name line 6|7|8|9|10, reason resized
-- Points are created as empty tables and filled field by field, so that their hash part is resized.
local function point(i)
  local p = {}
  p.x = i
  p.y = i + 1
  p.z = i + 2
  p.w = 1
  p.name = "p"
  return p
end

local sum = 0
for i = 1, 120000 do sum = sum + point(i).z end
print(sum)
