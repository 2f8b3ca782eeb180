-- SPDX-License-Identifier: MIT
-- A server that runs for a long time, for bench/longrun:
--   lua long_program.lua PROFILE loads|names|collections N
--   loads        loads and runs a template N times
--   names        the same, but with 61,000 file names in turn, so that the profile has 61,000 functions;
--                takes a sample every 512 bytes
--   collections  creates garbage in a nursery of 4 KiB, until N collections have run
-- Prints the totals that the profile must have: the allocated bytes, and the minor and the major
-- collections while sampling was on.

local profiler = require "profiler"

local path, what, n = arg[1], arg[2], assert(math.tointeger(arg[3]))

local TEMPLATE = [[local name, out = ..., {}
local function line(text) out[#out + 1] = text end
line("Dear "); line(name)
return out]]

local before

local function loads()
  for i = 1, n do
    assert(load(TEMPLATE, "=template"))(i)
  end
end

local function names()
  for i = 1, n do
    assert(load(TEMPLATE, ("@template%d.lua"):format(i % 61000)))(i)
  end
end

local function collections()
  local function count()
    local stats = profiler.stats()
    return stats.minor + stats.major - before.minor - before.major
  end
  local last
  repeat
    for i = 1, 100000 do last = {i, last and last[1]} end
  until count() >= n
end

if what == "collections" then collectgarbage("nursery", 4096) end
before = profiler.stats()
assert(profiler.alloc_start(what == "names" and 512 or 1 << 19, {out = path}))
if what == "loads" then loads() elseif what == "names" then names() else collections() end
-- stops the collector, because the tables of profiler.stats could cause a collection
collectgarbage "stop"
profiler.alloc_stop()
local bytes = profiler.stats().bytes
-- profiler.disable may run one more collection if blocks were freed explicitly
profiler.disable()
local after = profiler.stats()
print(bytes, after.minor - before.minor, after.major - before.major)
