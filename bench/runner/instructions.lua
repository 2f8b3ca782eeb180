-- SPDX-License-Identifier: MIT
-- bench/instructions: what one turn of an allocating loop costs, counted by
-- callgrind, as the slope between two lengths of the loop (start-up cancels out):
-- plain, the fork, the fork with the profiler loaded, and with the profiler
-- started at a period that is never reached.
-- Twice: with the collector stopped, where a turn is allocation alone, and with a
-- young collection after every batch of turns, where it is that, the freeing and
-- what the profiler does at a collection.
-- The check is on the first: started against loaded-only and against not loaded
-- differ by no more than 1 in 2,000 for every kind. Exit status 0 equal, 1
-- different, 2 could not be measured.

local start = dofile(arg[1] .. "/bench/runner/start.lua") "bench/instructions"
local root, work, fail, runner = start.root, start.work, start.fail, start.runner

local machine = require "runner.machine"
local options = require "runner.options"
local slope = require "runner.slope"

local LIMIT = 1 / 2000
local SHORT, LONG = 30000, 90000  -- turns, whole batches
local KINDS = { "table", "closure", "string", "mixed" }

-- Large blocks are mapped one by one: realloc grows them without copying, in every
-- state alike. Elsewhere it depends on malloc's layout whether it copies, and one
-- copy of a string table is 4 instructions a turn.
local MALLOC = "MALLOC_MMAP_THRESHOLD_=65536"

local function count(lua, profiler, pace, kind, turns)
  local usage, message = runner:count({
    lua, root .. "/bench/micro/alloc.lua", profiler, pace, kind, tostring(turns),
    work .. "/profile.vmprof",
  }, { MALLOC })
  if not usage then fail(("%s, %s under %s: %s"):format(profiler, kind, lua, message)) end
  return usage.instructions
end

-- Instructions of one turn.
local function turn(lua, profiler, pace, kind)
  return slope.of(function(turns) return count(lua, profiler, pace, kind, turns) end, SHORT, LONG)
end

-- Prints the table of one pace; the largest difference of on from off.
local function compare(plain, fork, pace)
  print("| allocates | plain | fork | fork, profiler loaded | started, never reached "
    .. "| plain/fork | started/loaded | started/fork |")
  print("|" .. (" --- |"):rep(8))
  local worst = 0
  for _, kind in ipairs(KINDS) do
    local base, off = turn(plain, "none", pace, kind), turn(fork, "none", pace, kind)
    local loaded, started = turn(fork, "load", pace, kind), turn(fork, "idle", pace, kind)
    worst = math.max(worst, math.abs(started / loaded - 1), math.abs(started / off - 1))
    print(("| %s | %.2f | %.2f | %.2f | %.2f | %.3f | %.6f | %.6f |"):format(
      kind, base, off, loaded, started, base / off, started / loaded, started / off))
  end
  return worst
end

local wanted, message = options.parse(start.arguments)
if not wanted then fail(message) end
local plain = wanted.plain or "build/plain/bin/lua"
local fork = wanted.fork or "build/bin/lua"

print(machine.line())
print("Instructions of one turn of the loop in bench/micro/alloc.lua.")
print("\n## Collector stopped\n")
local worst = compare(plain, fork, "stop")
local equal = worst <= LIMIT
print(("\nLargest difference of sampling on from off: %s: %s (limit 1 in %d)."):format(
  worst == 0 and "none" or ("1 in %.0f"):format(1 / worst), equal and "equal" or "DIFFERENT",
  1 // LIMIT))
print("\n## A young collection after every batch\n")
compare(plain, fork, "step")
os.exit(equal and 0 or 1)
