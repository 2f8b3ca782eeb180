-- SPDX-License-Identifier: MIT
-- Prints the table of bench/defaults: runs with the default settings of `asamp run`, compared with runs
-- without the profiler.
--   lua defaults.lua ROOT WORK [ROUNDS [NAME...]]

local root, work, rounds = arg[1], arg[2], tonumber(arg[3] or 5)
package.path = root .. "/lualib/?.lua;" .. package.path
local run = require "asamp.commands.run"

local names = #arg > 3 and table.move(arg, 4, #arg, 1, {}) or
  {"binary_trees", "gcbench", "closures", "vectors", "lru_cache", "coroutines", "live_heap"}
-- number of times that a program runs in one process, so that the process takes seconds
local TIMES = 4
-- number of processes in one measurement of the short script, whose run is too short to measure alone
local SHORT = 20

local function setting()
  local items = {"quiet=1", "out=" .. work .. "/%p.vmprof"}  -- a new file in each run, as by default
  for key, value in pairs(run.SCRIPT) do
    items[#items + 1] = key .. "=" .. value
  end
  return table.concat(items, ",")
end

-- Runs 'command' by the program runstat with the given options. Returns the CPU seconds.
local function cpu(options, command)
  local line = ("%s/build/bench/runstat %s %s/stat %s >%s/out 2>&1"):format(root, options, work, command,
                                                                       work)
  assert(os.execute(line), line)
  local file <close> = assert(io.open(work .. "/stat"))
  local _, user, system = file:read("n", "n", "n")
  return user + system
end

local function median(list)
  table.sort(list)
  return (list[(#list + 1) // 2] + list[#list // 2 + 1]) / 2
end

-- Measures a script in all rounds and prints its row. 'count' is the number of processes in one
-- measurement. If 'whole' is true, measures the whole command `asamp run` with its report, otherwise only
-- the profiled program. Returns the ratio of the fastest runs, with and without the profiler.
local function measure(name, script, count, whole)
  local ratios, plain, sampled = {}, math.huge, math.huge
  local repeated = "-n " .. count
  for i = 1, rounds do
    local a = cpu(repeated, root .. "/build/bin/lua " .. script) / count
    local b
    if whole then
      b = cpu(repeated, ("%s/build/bin/asamp run -o %s/%%p.vmprof %s"):format(root, work, script)) / count
    else
      b = cpu(("%s -e LUA_PROFILER=%s"):format(repeated, setting()),
              root .. "/build/bin/lua -l profiler " .. script) / count
    end
    ratios[i], plain, sampled = b / a, math.min(plain, a), math.min(sampled, b)
  end
  print(("| %s | %.1f | %.1f | %+.1f%% | %+.1f%% |"):format(name, plain * 1000, sampled * 1000,
    100 * (median(ratios) - 1), 100 * (sampled / plain - 1)))
  return sampled / plain
end

print("| program | plain, ms | sampled, ms | median | fastest |")
print("| --- | ---: | ---: | ---: | ---: |")
local product = 1
for _, name in ipairs(names) do
  product = product * measure(name, ("%s/bench/load.lua %s size %d"):format(root, name, TIMES), 1)
end
print(("| geometric mean | | | | %+.1f%% |"):format(100 * (product ^ (1 / #names) - 1)))
measure("short", work .. "/short.lua", SHORT)
measure("short, with report", work .. "/short.lua", SHORT, true)
