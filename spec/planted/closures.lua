-- The verdict must name line 10, reason closures
-- A comparison function is created for each frame.
local objects = {}
for i = 1, 20 do objects[i] = {x = i} end

local sum = 0
local function each(f) for i = 1, #objects do f(objects[i]) end end

for frame = 1, 60000 do
  each(function(o) sum = sum + o.x * frame % 7 end)
end
print(sum)
