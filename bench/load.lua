-- SPDX-License-Identifier: MIT
-- Runs one workload: lua bench/load.lua NAME [SIZE [TIMES]] prints "NAME SIZE: RESULT". SIZE is a number, or
-- the name of one of the sizes below. The workload runs TIMES times (1); the result is that of the last run.
-- A workload is the file bench/load/NAME.lua, which returns a table:
--   about  one line: the operation that it stresses
--   size   a positive integer, for a run of about a second (the default)
--   small  the same for instruction counts
--   tiny   the same for the specs
--   long   the same for a run of some twenty seconds; only a few workloads have it
--   run(size) -> a string or number that depends only on size
-- This script seeds math.random, so that 'run' may use it. Results must not depend on addresses or on the
-- order of pairs.

local NAMED_SIZES = { size = true, small = true, tiny = true, long = true }

local function fail(message, ...)
  io.stderr:write("load.lua: ", message:format(...), "\n")
  os.exit(2)
end

local here = (arg[0]:match("^(.*/)") or "./")
local name, size = arg[1], arg[2] or "size"
if not name or not name:match("^[%w_]+$") then
  fail("no workload named %q; give the name of a file in bench/load", tostring(name))
end

local path = here .. "load/" .. name .. ".lua"
local chunk, reason = loadfile(path)
if not chunk then
  fail("cannot load workload %q (%s); give the name of a file in bench/load", name, reason)
end

local load = chunk()
local count = NAMED_SIZES[size] and load[size] or math.tointeger(tonumber(size))
if not count or count < 1 then
  fail("size %q is neither a positive integer nor a named size of the workload", size)
end

local times = math.tointeger(tonumber(arg[3] or 1))
if not times or times < 1 then
  fail("%q is not a positive integer; give the number of times that the workload runs", arg[3])
end

local result
for _ = 1, times do
  math.randomseed(42)
  result = load.run(count)
end
print(("%s %d: %s"):format(name, count, result))
