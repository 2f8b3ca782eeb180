-- SPDX-License-Identifier: MIT
-- Runs the generated programs of bench/fuzz (fuzzpoints.lua) with upstream's Lua ("plain") and the fork, in
-- interleaved rounds with equal numbers of iterations. Lists the programs that exceed the limits below.

local start = dofile(arg[1] .. "/bench/runner/start.lua") "bench/fuzz"
local root, work, fail, runner = start.root, start.work, start.fail, start.runner

local machine = require "runner.machine"
local options = require "runner.options"
local points = require "runner.fuzzpoints"
local stats = require "runner.stats"

-- largest ratio fork/plain of CPU time, as the median of the rounds
local SLOWER = 1.15
-- largest ratio fork/plain of memory, as the median of the rounds; MORE bytes are allowed in addition
local LARGER = 1.5
-- bytes that the fork may use in addition to LARGER times the memory of plain
local MORE = 4 << 20
-- largest ratio between the slowest and the fastest run on the fork
local VARIES = 2

local found = start.options("seed points only seconds rounds plain fork", "list print")
local rounds = start.positive(found, "rounds", 3)
local seconds = tonumber(found.seconds or 0.15)
if not seconds or not (seconds > 0 and seconds <= 10) then
  fail(("--seconds must be a number above 0 and up to 10, got %q"):format(found.seconds))
end
local seed = math.tointeger(tonumber(found.seed or 1))
if not seed then fail(("--seed must be an integer, got %q"):format(found.seed)) end
local paths = { plain = found.plain or "build/plain/bin/lua", fork = found.fork or "build/bin/lua" }

local wanted
if found.only then
  wanted = {}
  for i, name in ipairs(options.split(found.only)) do
    local point, message = points.parse(name)
    wanted[i] = point or fail(message)
  end
else
  wanted = points.draw(seed, start.positive(found, "points", 100))
end

if found.list or found.print then
  for _, point in ipairs(wanted) do
    local name = points.name(point)
    print(found.list and name or ("-- %s\n%s"):format(name, points.program(point)))
  end
  os.exit(0)
end

local script, module = work .. "/point.lua", root .. "/build/bench/fuzzdata.so"

-- Runs the generated script with an interpreter. 'turns' is its number of iterations; nil: it runs for the
-- chosen time. Returns its usage, its number of iterations and its checksum; or nil and a message.
local function run(variant, turns)
  local usage, output = runner:run({ paths[variant], script, turns or "-", tostring(seconds), module }, {})
  if not usage then return nil, variant .. ": " .. output end
  local done, sum = output:match "^(%d+)%s+(%S+)"
  if not done then return nil, ("%s printed %q"):format(variant, output) end
  return usage, done, sum
end

-- Measures a program (a point, see fuzzpoints.lua). Returns { plain, fork }, each with a list 'cpu' of
-- seconds and a list 'rss' of bytes, with one number per round; or nil and a message.
local function measure(point)
  local f <close> = assert(io.open(script, "w"))
  f:write(points.program(point))
  f:flush()
  local usage, turns = run "plain"
  if not usage then return nil, turns end
  local figures = { plain = { cpu = {}, rss = {} }, fork = { cpu = {}, rss = {} } }
  local expected
  for round = 1, rounds do
    for _, variant in ipairs(round % 2 == 1 and { "plain", "fork" } or { "fork", "plain" }) do
      local used, done, sum = run(variant, turns)
      if not used then return nil, done end
      expected = expected or sum
      if sum ~= expected then
        return nil, ("the sum under %s is %s, not %s"):format(variant, sum, expected)
      end
      figures[variant].cpu[round] = used.cpu
      figures[variant].rss[round] = used.rss
    end
  end
  return figures
end

-- Returns the names of the limits that a program exceeds. 'speed' is the ratio fork/plain of CPU time,
-- 'memory' the bytes of the fork.
local function excess(figures, speed, memory)
  local why = {}
  if speed > SLOWER then why[#why + 1] = "time" end
  if memory > LARGER * stats.median(figures.plain.rss) + MORE then why[#why + 1] = "memory" end
  local least, most = stats.range(figures.fork.cpu)
  if most > VARIES * least then why[#why + 1] = "varies" end
  return why
end

-- Returns the smallest and the largest number of a list of seconds as a text in milliseconds, such as
-- "12..15".
local function milliseconds(list)
  local least, most = stats.range(list)
  return ("%.0f..%.0f"):format(least * 1000, most * 1000)
end

print(machine.line() .. "\n")
print("| point | exceeds | time, fork/plain | plain, ms | fork, ms | plain, MiB | fork, MiB |")
print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
io.stdout:flush()
local ratios, listed, failed = {}, 0, 0
for _, point in ipairs(wanted) do
  local figures, message = measure(point)
  if figures then
    local speed = stats.median(stats.ratios(figures.fork.cpu, figures.plain.cpu))
    local memory = stats.median(figures.fork.rss)
    ratios[#ratios + 1] = speed
    local why = excess(figures, speed, memory)
    if #why > 0 or found.only then
      print(("| %s | %s | %.2f | %s | %s | %.1f | %.1f |"):format(points.name(point),
        #why > 0 and table.concat(why, ", ") or "-", speed, milliseconds(figures.plain.cpu),
        milliseconds(figures.fork.cpu), stats.median(figures.plain.rss) / (1 << 20), memory / (1 << 20)))
    end
    listed = listed + math.min(#why, 1)
  else
    failed = failed + 1
    print(("| %s | FAILED: %s | | | | | |"):format(points.name(point), message))
  end
  io.stdout:flush()
end
print(("\n%d points, %d listed, %d failed."):format(#wanted, listed, failed))
if #ratios > 0 then
  local least, most = stats.range(ratios)
  print(("Time, fork/plain: geometric mean %.3f, %.2f to %.2f."):format(stats.geomean(ratios), least, most))
end
os.exit(listed + failed > 0 and 1 or 0)
