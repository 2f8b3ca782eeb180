-- SPDX-License-Identifier: MIT
-- Prints the table of bench/bare: the memory of an unused state and the cost of an empty run, with
-- upstream's Lua ("plain") and the fork. Called with ROOT WORK ARGUMENTS... WORK must contain the programs
-- bare-plain and bare-fork. The cost is the CPU time of `lua -e ''`, and its instructions if valgrind is
-- installed.

local start = dofile(arg[1] .. "/bench/runner/start.lua") "bench/bare"
local work, fail, runner = start.work, start.fail, start.runner

local machine = require "runner.machine"
local options = require "runner.options"
local report = require "runner.report"
local stats = require "runner.stats"

-- the number of empty runs in one measurement of CPU time
local RUNS = 100

local function memory(name)
  local usage, output = runner:run({ work .. "/bare-" .. name }, {})
  if not usage then fail(("bare state of %s: %s"):format(name, output)) end
  local bare, open, resident = output:match("^(%d+) (%d+) (%-?%d+)")
  return { bare, open, resident }
end

local function empty_runs(lua)
  local usage, message = runner:run({ lua, "-e", "" }, {}, nil, RUNS)
  if not usage then fail(("%s -e '': %s"):format(lua, message)) end
  return usage.cpu
end

local function empty_instructions(lua)
  local usage, message = runner:count({ lua, "-e", "" }, {})
  if not usage then fail(("%s -e '': %s"):format(lua, message)) end
  return usage.instructions
end

local wanted, message = options.parse(start.arguments)
if not wanted then fail(message) end
local lua = { plain = wanted.plain or "build/plain/bin/lua", fork = wanted.fork or "build/bin/lua" }

print(machine.line() .. "\n")
print("| a bare state | plain | fork | fork/plain |\n| --- | --- | --- | --- |")
local plain, fork = memory("plain"), memory("fork")
for i, what in ipairs { "lua_newstate, bytes", "with luaL_openlibs, bytes", "resident, bytes a state" } do
  print(("| %s | %s | %s | %.3f |"):format(what, plain[i], fork[i], fork[i] / plain[i]))
end

local times = { plain = {}, fork = {} }
for round = 1, wanted.rounds do
  local first, second = "plain", "fork"
  if round % 2 == 0 then first, second = second, first end
  times[first][round] = empty_runs(lua[first])
  times[second][round] = empty_runs(lua[second])
end
print(("| start-up, CPU ms | %.3f | %.3f | %s |"):format(
  stats.median(times.plain) / RUNS * 1000, stats.median(times.fork) / RUNS * 1000,
  report.ratio(stats.ratios(times.fork, times.plain))))
if os.execute("command -v valgrind >/dev/null") then
  local base, ours = empty_instructions(lua.plain), empty_instructions(lua.fork)
  print(("| start-up, instructions | %d | %d | %.3f |"):format(base, ours, ours / base))
end
