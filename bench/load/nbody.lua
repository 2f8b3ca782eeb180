-- SPDX-License-Identifier: MIT
-- Five bodies attract each other by gravity. Their data are floats in tables that are created once. The
-- loop reads and writes fields and computes, and allocates nothing. 'size' is the number of steps. The
-- result is the energy before and after.

local function system()
  return {
    { x = 0, y = 0, z = 0, vx = 0, vy = 0, vz = 0, mass = 40.0 },
    { x = 5, y = -1, z = 0.1, vx = 0.6, vy = 2.8, vz = -0.02, mass = 0.04 },
    { x = 8, y = 4, z = -0.4, vx = -1.0, vy = 1.8, vz = 0.01, mass = 0.01 },
    { x = 13, y = -15, z = -0.2, vx = 1.1, vy = 0.9, vz = -0.01, mass = 0.002 },
    { x = -15, y = 26, z = 0.2, vx = -1.0, vy = -0.6, vz = 0.03, mass = 0.002 },
  }
end

local function energy(bodies)
  local sum = 0.0
  for i, a in ipairs(bodies) do
    sum = sum + 0.5 * a.mass * (a.vx ^ 2 + a.vy ^ 2 + a.vz ^ 2)
    for j = i + 1, #bodies do
      local b = bodies[j]
      sum = sum - a.mass * b.mass / ((a.x - b.x) ^ 2 + (a.y - b.y) ^ 2 + (a.z - b.z) ^ 2) ^ 0.5
    end
  end
  return sum
end

local function advance(bodies, step)
  local n = #bodies
  for i = 1, n do
    local a = bodies[i]
    local ax, ay, az, am = a.x, a.y, a.z, a.mass
    local vx, vy, vz = a.vx, a.vy, a.vz
    for j = i + 1, n do
      local b = bodies[j]
      local dx, dy, dz = ax - b.x, ay - b.y, az - b.z
      local square = dx * dx + dy * dy + dz * dz
      local pull = step / (square * square ^ 0.5)
      local mine, theirs = b.mass * pull, am * pull
      vx, vy, vz = vx - dx * mine, vy - dy * mine, vz - dz * mine
      b.vx, b.vy, b.vz = b.vx + dx * theirs, b.vy + dy * theirs, b.vz + dz * theirs
    end
    a.vx, a.vy, a.vz = vx, vy, vz
    a.x, a.y, a.z = ax + step * vx, ay + step * vy, az + step * vz
  end
end

local function run(steps)
  local bodies = system()
  local before = energy(bodies)
  for _ = 1, steps do advance(bodies, 0.001) end
  return ("%.9f %.9f"):format(before, energy(bodies))
end

return {
  about = "five bodies under gravity: floats in fields",
  size = 500000, small = 20000, tiny = 20,
  run = run,
}
