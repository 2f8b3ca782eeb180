-- SPDX-License-Identifier: MIT
-- Writes a profile with N collections, each recorded separately, for bench/longrun: lua long_profile.lua
-- PROFILE N. Prints the totals that a report must have: allocated bytes, minor and major collections.

local gen = require "profilegen"

local path, n = arg[1], assert(math.tointeger(arg[2]))
local p = assert(gen.open{path = path, period = 1 << 19})
local now, majors = gen.now(), 0
p:name(8, "serve", 1, "@server.lua")
for i = 1, n do
  local major = i % 100 == 0
  if i % 1000 == 0 then p:sample{8, 3, time = now} end
  p:collection{time = now, inuse = 50000000 + i * 37 % 1000003, held = 80000000,
               rss = 90 << 20, duration = i * 7919 % 300000, major = major,
               fates = i % 1000 == 0 and "0" or ""}
  now, majors = now + 10000000, majors + (major and 1 or 0)
end
assert(p:close())
print((n // 1000) << 19, n - majors, majors)
