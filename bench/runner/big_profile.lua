-- SPDX-License-Identifier: MIT
-- Writes a large profile for bench/convert, with the profiler's own writer:
--   lua big_profile.lua PATH SAMPLES FORMAT gzip|plain
-- Its allocation samples have 400 different stacks in random order. Each stack has 12 to 20 of 200
-- functions. After every tenth allocation sample there is a time sample, and after every 200 a collection
-- that decides their survival. Equal arguments give equal samples.

local gen = require "profilegen"

local STACKS, FUNCTIONS, OPEN = 400, 200, 200

local path, samples, format, packing = arg[1], tonumber(arg[2]), tonumber(arg[3]), arg[4]
math.randomseed(1)

local p = assert(gen.open {
  path = path, format = format, plain = packing == "plain", period = 512 * 1024,
  timeperiod = 1000000,
})
for i = 1, FUNCTIONS do
  p:name(8 * i, "function" .. i, 10 * i, ("@/usr/share/lua/5.4/module%d.lua"):format(i % 20))
end
for i = 1, 4 do p:class(i, "Class" .. i) end

local stacks = {}
for i = 1, STACKS do
  local stack = { kind = i % #gen.kinds, size = 16 + 8 * (i % 64) }
  for depth = 1, 12 + i % 9 do
    stack[2 * depth - 1] = 8 * (1 + (7 * i + depth * depth * (i % 13)) % FUNCTIONS)
    stack[2 * depth] = 10 + (i + depth) % 50
  end
  stacks[i] = stack
end

-- For ten collections: random survival outcomes ('1': the object survived) and classes of OPEN samples. The
-- collections of the profile use these lists in turn.
local fates, classes = {}, {}
for k = 0, 9 do
  local list = {}
  classes[k] = {}
  for i = 1, OPEN do
    list[i] = math.random(10) == 1 and "1" or "0"
    classes[k][i] = math.random(0, 4)
  end
  fates[k] = table.concat(list)
end

local time = gen.now()
for i = 1, samples do
  local stack = stacks[math.random(STACKS)]
  time = time + 20000 + math.random(2000)
  stack.time = time
  p:sample(stack)
  if i % 10 == 0 then p:time(stack) end
  if i % OPEN == 0 then
    local k = i // OPEN % 10
    p:collection {
      fates = fates[k], classes = classes[k], time = time + 5000, duration = 30000,
      inuse = 50000000 + i % 100000, held = 80000000, rss = 90000000 + i % 4096,
      tenured = i % 9999,
    }
  end
end
assert(p:close())
