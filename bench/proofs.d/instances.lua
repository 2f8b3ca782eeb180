-- SPDX-License-Identifier: MIT
-- A class keeps all of its objects in a list, even those that are no longer used.
local Shape = {all = {}}
Shape.__index = Shape

function Shape.new(i)
  local shape = setmetatable({x = i, y = -i, corners = {i, i, i}}, Shape)
  Shape.all[#Shape.all + 1] = shape
  return shape
end

function Shape:area() return self.x * self.y end

local sum = 0
for i = 1, 30000 do sum = sum + Shape.new(i):area() end
print(sum)
