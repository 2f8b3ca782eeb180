-- SPDX-License-Identifier: MIT
-- Vectors are tables with arithmetic metamethods. Each a + b and a * s creates a table that dies after the
-- expression. Eight bodies on springs are moved in steps. 'size' is the number of steps. The result is the
-- sum of their positions, and an energy.

local Vector = {}
Vector.__index = Vector

local function vector(x, y, z)
  return setmetatable({ x = x, y = y, z = z }, Vector)
end

function Vector.__add(a, b) return vector(a.x + b.x, a.y + b.y, a.z + b.z) end
function Vector.__sub(a, b) return vector(a.x - b.x, a.y - b.y, a.z - b.z) end
function Vector.__mul(a, s) return vector(a.x * s, a.y * s, a.z * s) end
function Vector.__unm(a) return vector(-a.x, -a.y, -a.z) end
function Vector:dot(b) return self.x * b.x + self.y * b.y + self.z * b.z end

local function run(steps)
  local step, stiffness, damping = 0.01, 4.0, 0.001
  local places, speeds = {}, {}
  for i = 1, 8 do
    places[i] = vector(i, 1 / i, -i / 2)
    speeds[i] = vector(0, i / 8, 0)
  end
  local centre = vector(0, 0, 0)
  local energy = 0.0
  for _ = 1, steps do
    for i = 1, #places do
      local pull = (centre - places[i]) * stiffness + -speeds[i] * damping
      speeds[i] = speeds[i] + pull * step
      places[i] = places[i] + speeds[i] * step
      energy = energy + speeds[i]:dot(speeds[i])
    end
  end
  local sum = centre
  for i = 1, #places do sum = sum + places[i] end
  return ("%.9f %.9f %.9f, energy %.6f"):format(sum.x, sum.y, sum.z, energy)
end

return {
  about = "vectors with metatables: every operator makes a table",
  size = 60000, small = 4000, tiny = 10,
  run = run,
}
