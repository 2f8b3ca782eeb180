-- SPDX-License-Identifier: MIT
-- Does the measurements of bench/instructions: instructions per iteration of an allocating loop. callgrind
-- counts those of the program's own thread. The difference between a long and a short run is divided by the
-- difference in iterations, so that start-up has no effect.
--
-- There are four configurations: upstream's Lua ("plain"), the fork, the fork with the profiler loaded, and
-- the fork with the profiler started with a period so long that no sample is taken. Each runs at two paces:
-- with the collector stopped, so that an iteration is only allocation; and with a minor collection after
-- every batch of iterations.
--
-- With the collector stopped, the count with the profiler started may differ from the counts with the
-- profiler loaded, and without it, by at most 1 in 2,000.

local start = dofile(arg[1] .. "/bench/runner/start.lua") "bench/instructions"
local root, work, fail, runner = start.root, start.work, start.fail, start.runner

local machine = require "runner.machine"
local slope = require "runner.slope"

local LIMIT = 1 / 2000
-- numbers of iterations in the short and the long run, multiples of the batch of alloc.lua
local SHORT, LONG = 30000, 90000
local KINDS = { "table", "closure", "string", "mixed" }

-- With this setting, malloc maps each block of 16 KiB or more separately, and realloc grows it without
-- copying. Otherwise copying depends on the layout of malloc's heap, and thus on the length of the
-- programs' paths. One copy could change the result by 1 in 1,800, which is more than the limit.
local MALLOC = "MALLOC_MMAP_THRESHOLD_=16384"

local PROFILE = work .. "/profile.vmprof"

local function count(lua, profiler, pace, kind, turns)
  -- removes an old profile first, because the profiler would not overwrite it
  os.remove(PROFILE)
  local usage, message = runner:count({
    lua, root .. "/bench/micro/alloc.lua", profiler, pace, kind, tostring(turns),
    PROFILE,
  }, { MALLOC })
  if not usage then fail(("%s, %s under %s: %s"):format(profiler, kind, lua, message)) end
  return usage.own
end

-- Returns the instructions per iteration of the loop.
local function turn(lua, profiler, pace, kind)
  return slope.of(function(turns) return count(lua, profiler, pace, kind, turns) end, SHORT, LONG)
end

-- the largest relative difference that checked() has found
local worst = 0

local function checked(started, loaded, off)
  worst = math.max(worst, math.abs(started / loaded - 1), math.abs(started / off - 1))
end

-- Prints the table for one pace ("stop" or "step", see alloc.lua). If 'check' is true, the differences
-- count for the exit status.
local function compare(plain, fork, pace, check)
  print("| allocates | plain | fork | fork, profiler loaded | started, never reached "
    .. "| plain/fork | started/loaded | started/fork |")
  print("|" .. (" --- |"):rep(8))
  for _, kind in ipairs(KINDS) do
    local base, off = turn(plain, "none", pace, kind), turn(fork, "none", pace, kind)
    local loaded, started = turn(fork, "load", pace, kind), turn(fork, "idle", pace, kind)
    if check then checked(started, loaded, off) end
    print(("| %s | %.2f | %.2f | %.2f | %.2f | %.3f | %.6f | %.6f |"):format(
      kind, base, off, loaded, started, base / off, started / loaded, started / off))
  end
end

-- Prints the result of the check. Returns true if all differences are within the limit.
local function verdict()
  local equal = worst <= LIMIT
  print(("Largest difference of sampling on from off: %s: %s (limit 1 in %d)."):format(
    worst == 0 and "none" or ("1 in %.0f"):format(1 / worst), equal and "equal" or "DIFFERENT",
    1 // LIMIT))
  return equal
end

-- Prints the cost of labels: instructions per call of profiler.label and profiler.with, instructions per
-- change of the running code's label, and instructions of a server with and without labels.
local function labels(fork)
  local function whole(what, n)
    local usage, message = runner:count({fork, root .. "/bench/micro/labels.lua", what, tostring(n), PROFILE},
                                        { MALLOC })
    if not usage then fail(("labels, %s: %s"):format(what, message)) end
    return usage
  end
  local function call(what)
    return slope.of(function(n) return whole(what, n).own end, 10000, 30000)
  end
  local table_ = call "table" - call "none"
  print("| | instructions |\n| --- | --- |")
  print(("| a table with one label | %.0f |"):format(table_))
  for _, what in ipairs { "label", "with" } do
    print(("| profiler.%s, the table apart | %.0f |"):format(what, call(what) - call "none" - table_))
  end
  local switch = (call "switch" - call "same") / 2
  print(("| a change of the running label, by a resume or a yield | %.1f |"):format(switch))
  print(("| 100,000 of them, of 3 * 10^9 instructions | %.3f%% |"):format(switch * 1e5 / 3e9 * 100))
  local without, with = whole("plain", 40).instructions, whole("labelled", 40).instructions
  print(("| a server whose routes allocate 1:2:4, without labels | %d |"):format(without))
  print(("| with labels | %d, %.4f |"):format(with, with / without))
end

local wanted = start.options("plain fork", "check labels")
local plain = wanted.plain or "build/plain/bin/lua"
local fork = wanted.fork or "build/bin/lua"

if wanted.check then
  checked(turn(fork, "idle", "stop", "table"), turn(fork, "load", "stop", "table"),
    turn(fork, "none", "stop", "table"))
  os.exit(verdict() and 0 or 1)
end
print(machine.line())
if wanted.labels then
  labels(fork)
  os.exit(0)
end
print("Instructions of one turn of the loop in bench/micro/alloc.lua.")
print("\n## Collector stopped\n")
compare(plain, fork, "stop", true)
print()
local equal = verdict()
print("\n## A young collection after every batch\n")
compare(plain, fork, "step", false)
os.exit(equal and 0 or 1)
