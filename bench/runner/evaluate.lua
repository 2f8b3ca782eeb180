-- SPDX-License-Identifier: MIT
-- Does the measurements of bench/evaluate, the cost of sampling by period, rate and program: lua
-- evaluate.lua ROOT WORK ARGUMENTS... The baseline is the fork without the profiler. Settings are passed in
-- LUA_PROFILER, as users do. CPU time is that of all threads, including the profile's writer. Exit status:
-- 0 if everything was measured, 1 if a program failed, 2 for wrong usage.

local start = dofile(arg[1] .. "/bench/runner/start.lua") "bench/evaluate"
local root, work, fail, runner = start.root, start.work, start.fail, start.runner

local data = require "runner.data"
local evaluation = require "runner.evaluation"
local machine = require "runner.machine"
local options = require "runner.options"
local programs = require "runner.programs"
local rounds = require "runner.rounds"
local settings = require "runner.settings"
local stats = require "runner.stats"

local DEFAULT = { "loop", "gcbench", "linter", "interpreter", "json", "coroutines" }
-- the largest number of rounds of the parts 'full' and 'long'
local ROUNDS = { full = 1, long = 3 }

local USAGE = [[
usage: bench/evaluate [options] [program or group]...
  --rounds N      rounds of every program (default 5; 'full' has one, 'long' three)
  --parts A,B     of period, rate, long, full (default: all)
  --periods A,B   of 'period', bytes with an optional K or M (default 16K to 16M)
  --mode MODE     size of the workloads: size, small or tiny (default size)
  --data DIR      write the data files of the plots to DIR
  --fork PATH     the fork (default build/bin/lua)
  --quick         two periods, one rate
Without options it takes about 22 minutes where gcbench takes half a second, of
which 'long' takes five and 'full' two.]]

local found, words = start.options("rounds parts periods mode data fork", "quick help", true)
if found.help then
  print(USAGE)
  os.exit(0)
end
local count = start.positive(found, "rounds", 5)
local mode = start.mode(found, "size")
local parts = found.parts and options.split(found.parts) or settings.PARTS
for _, part in ipairs(parts) do
  if not table.concat(settings.PARTS, " "):find("%f[%w]" .. part .. "%f[%W]") then
    fail(("--parts has no part %q; use period, rate, long, full"):format(part))
  end
end
local points = found.quick and settings.QUICK or { PERIODS = settings.PERIODS, RATES = settings.RATES }
if found.periods then
  local list, wrong = settings.sizes(options.split(found.periods))
  if not list then fail(wrong) end
  points = { PERIODS = list, RATES = points.RATES }
end
local chosen, message = programs.choose(programs.all(root .. "/bench", os.getenv("AWFY")),
  #words > 0 and words or DEFAULT)
if not chosen then fail(message) end

local paths = { fork = found.fork or root .. "/build/bin/lua", profile = work .. "/profile.vmprof" }
local file = io.open(paths.fork, "rb")
if not file then fail(("no interpreter at %q; run make fork, or give --fork PATH"):format(paths.fork)) end
file:close()

-- Returns true if the kernel permits timers that cause an interrupt for every time sample.
local function exact_timers()
  return (runner:run({ paths.fork, "-l", "profiler", "-e", "" },
    { ("LUA_PROFILER=alloc=0,time=1000,exact,quiet,out=%s"):format(paths.profile) })
    and runner:errors() == "") or false
end
paths.exact = exact_timers()
if not paths.exact then io.stderr:write("bench/evaluate: no exact timers here; left out\n") end

-- Adds to the usage of a profiled run the numbers of its samples, the allocated bytes and the size of its
-- profile.
local function inspect(config, usage)
  if config.kind ~= "sample" then return end
  local closing = settings.closing(runner:errors())
  if not closing then fail(("%s: no closing line: %s"):format(config.name, runner:errors())) end
  for name, value in pairs(closing) do usage[name] = value end
  usage.disk = start.size(paths.profile)
end

local KEYS = { "samples", "timesamples", "allocated", "disk" }

local function add(result, config, figures, base)
  local each = {
    series = config.series, x = config.x, cpu = stats.ratios(figures.cpu, base.cpu),
    wall = stats.ratios(figures.wall, base.wall),
    fastest = math.min(table.unpack(figures.cpu)) / math.min(table.unpack(base.cpu)),
    seconds = stats.median(figures.cpu),
  }
  for _, key in ipairs(KEYS) do
    each[key] = figures[key] and #figures[key] > 0 and stats.median(figures[key]) or 0
  end
  result.points[#result.points + 1] = each
end

-- Moves the programs for which the paper has values to the front.
local order = {}
for _, program in ipairs(chosen) do
  if evaluation.PAPER[program.name] then order[#order + 1] = program end
end
for _, program in ipairs(chosen) do
  if not evaluation.PAPER[program.name] then order[#order + 1] = program end
end
chosen = order

local results, failed = {}, {}
for i, program in ipairs(chosen) do
  io.stderr:write(("[%d/%d] %s\n"):format(i, #chosen, program.name))
  local result = { program = program.name, base = { cpu = {}, wall = {} }, points = {} }
  local own = {}
  for _, part in ipairs(parts) do
    if part ~= "long" or program.long then own[#own + 1] = part end
  end
  for _, batch in ipairs(settings.batches(own, paths, points)) do
    local row, wrong = rounds.measure(runner, program, batch, {
      mode = batch.part == "long" and mode == "size" and "long" or mode,
      rounds = math.min(count, ROUNDS[batch.part] or count), inspect = inspect, keys = KEYS,
    })
    if not row then
      failed[#failed + 1] = wrong
      break
    end
    local base = row.figures[batch[1]]
    if batch.part == "long" then
      result.long = stats.median(base.cpu)
    else
      table.move(base.cpu, 1, #base.cpu, #result.base.cpu + 1, result.base.cpu)
      table.move(base.wall, 1, #base.wall, #result.base.wall + 1, result.base.wall)
    end
    for j = 2, #batch do add(result, batch[j], row.figures[batch[j]], base) end
  end
  if #result.points > 0 then results[#results + 1] = result end
end
if #results == 0 then fail("nothing was measured: " .. table.concat(failed, "; ")) end

print(machine.line())
print(("%d rounds, sizes: %s, parts: %s. Overhead: CPU time of all threads over the fork's without "
  .. "profiler,\nmedian of the rounds.\n"):format(count, mode, table.concat(parts, ", ")))
io.write(evaluation.report(results))
for _, each in ipairs(failed) do print("\nFAILED: " .. each) end

if found.data then
  local function write(name, header, rows)
    local done, wrong = data.write(found.data .. "/" .. name .. ".tsv", header, rows)
    if not done then fail(wrong) end
  end
  write("all", evaluation.all(results))
  write("figure10", evaluation.figure10(results))
  for _, series in ipairs { "c", "lua", "time", "exact" } do
    local header, rows = evaluation.matrix(results, series)
    if #rows > 0 then write(series, header, rows) end
  end
end
os.exit(#failed == 0 and 0 or 1)
