-- SPDX-License-Identifier: MIT
-- Does the measurements of bench/diffs: compares two runs of the same program by the code of asamp diff,
-- and prints Markdown. As the runs are equal, chance or the machine is the cause of any reported change.
-- Runs with the fork, whose reader of profiles it uses.

local start = dofile(arg[1] .. "/bench/runner/start.lua") "bench/diffs"
local root, work, fail, runner = start.root, start.work, start.fail, start.runner
local lua = table.remove(start.arguments, 1)

local compare = require "asamp.sums.compare"
local measures = require "asamp.sums.measures"
local reader = require "profiler.reader"
local totals = require "asamp.sums.totals"

local command = require "runner.command"
local machine = require "runner.machine"
local programs = require "runner.programs"

local PROGRAMS = { "binary_trees", "gcbench", "vectors", "lru_cache", "json", "strings", "linter",
  "hash_build", "template", "interpreter" }
-- the largest fraction of rows that may be reported as changes
local MOST = 0.01

local found, words = start.options("pairs alloc time mode fork", nil, true)
local pairs_ = start.positive(found, "pairs", 1)
local alloc, time = start.positive(found, "alloc", 16384), start.positive(found, "time", 1000)
local mode = start.mode(found, "size")
local chosen, message = programs.choose(programs.all(root .. "/bench"),
  #words > 0 and words or PROGRAMS)
if not chosen then fail(message) end

local config = { lua = lua, options = { "-l", "profiler" } }

-- Profiles a program. Returns the profile and its totals.
local function run(program)
  local path = work .. "/diffs.vmprof"
  local usage, output = runner:run(command.words(config, program, mode), {
    ("LUA_PROFILER=alloc=%d,time=%d,quiet,out=%s"):format(alloc, time, path) }, program.dir)
  if not usage then fail(program.name .. ": " .. output) end
  local profile, wrong = reader.read(path)
  wrong = wrong or not profile.complete and profile.message
  if wrong then fail(program.name .. ": " .. wrong) end
  os.remove(path)
  return profile, totals.of(profile)
end

local function add(to, from)
  for key, n in pairs(from) do to[key] = (to[key] or 0) + n end
end

-- Returns three numbers from a comparison of two profiles: 'rows', 'changes' (rows that are reported as
-- changes), and 'squares' (the sum of the squares of change / error).
local function tally(result)
  local sum = { rows = 0, changes = 0, squares = 0 }
  for _, list in ipairs { "functions", "lines", "types", "classes" } do
    for _, row in ipairs(result[list]) do
      add(sum, { rows = 1, changes = row.noise and 0 or 1, squares = (row.change / row.error) ^ 2 })
    end
  end
  return sum
end

local function line(name, measure, sum, whole)
  print(("| %s | %s | %s | %d | %d | %.2f%% | %.2f |"):format(name, measure, whole, sum.rows,
    sum.changes, 100 * sum.changes / sum.rows, math.sqrt(sum.squares / sum.rows)))
end

print(machine.line())
print(("A sample every %d bytes, %d of time a second, sizes: %s, pairs: %d\n"):format(
  alloc, time, mode, pairs_))
print "| program | by | whole | rows | counted as changes | share | rms of change / error |"
print "| --- | --- | ---: | ---: | ---: | ---: | ---: |"
local all = {}
for _, program in ipairs(chosen) do
  for _ = 1, pairs_ do
    local pa, a = run(program)
    local pb, b = run(program)
    for _, field in ipairs(compare.fields(pa, a, pb, b)) do
      local result = compare.of(pa, a, pb, b, field, { sigma = 3 })
      local sum, name = tally(result), measures.NAMES[field]
      line(program.name, name, sum, ("%+.1f%%"):format(100 * (result.b - result.a) / result.a))
      all[name] = all[name] or {}
      add(all[name], sum)
    end
  end
end
local passed = true
for _, field in ipairs { "bytes", "timesamples" } do
  local name = measures.NAMES[field]
  if all[name] then
    line("all", name, all[name], "")
    passed = passed and all[name].changes <= MOST * all[name].rows
  end
end
if not passed then
  io.stderr:write("bench/diffs: more than 1 row in 100 passes for a change\n")
  os.exit(1)
end
