-- SPDX-License-Identifier: MIT
-- Does the measurements of bench/sites and prints Markdown. Compares samples by site with an exact trace of
-- the same run (exact.c), with fixed and with random intervals and with several seeds. Also counts samples
-- whose survival is unknown. With --data DIR it writes the distribution of the errors to DIR, for a plot.
-- Runs with the fork, whose reader of profiles it uses. WORK must contain exact.so.

local start = dofile(arg[1] .. "/bench/runner/start.lua") "bench/sites"
local root, work, fail, runner = start.root, start.work, start.fail, start.runner
local lua = table.remove(start.arguments, 1)

local reader = require "profiler.reader"

local command = require "runner.command"
local data = require "runner.data"
local machine = require "runner.machine"
local programs = require "runner.programs"
local siteerror = require "runner.siteerror"

local INTERVALS = { "fixed", "random" }
local NEVER = 1 << 50  -- a period that no run reaches
-- number of programs for which the site with the largest error is printed
local WORST = 8
-- first and last value and step of the distribution of errors, in standard errors
local LIMITS = { first = 0, last = 6, step = 0.1 }

local found, words = start.options("seeds samples least mode data fork", nil, true)
local wanted = {
  seeds = start.positive(found, "seeds", 5), samples = start.positive(found, "samples", 50000),
  least = start.positive(found, "least", 400), mode = start.mode(found, "small"),
}

local all = programs.all(root .. "/bench")
all[#all + 1] = {
  name = "pattern", group = "traps", groups = { traps = true }, script = root .. "/bench/micro/pattern.lua",
  args = function(mode) return { mode } end,
}
local chosen, message = programs.choose(all, words)
if not chosen then fail(message) end

local config = { lua = lua, options = { "-l", "profiler", "-l", "exact" } }

-- Runs a program once. Returns the exact trace (as siteerror.exact) and the samples (as siteerror.sampled).
local function run(program, period, interval, seed)
  local path, trace_path = work .. "/sites.vmprof", work .. "/exact"
  local usage, output = runner:run(command.words(config, program, wanted.mode), {
    ("LUA_PROFILER=alloc=%d,fixed=%d,seed=%d,native=0,quiet,out=%s"):format(
      period, interval == "fixed" and 1 or 0, seed, path),
    "EXACT_OUT=" .. trace_path, "LUA_CPATH=" .. work .. "/?.so;;",
  }, program.dir)
  if not usage then fail(program.name .. ": " .. output) end
  local file = assert(io.open(trace_path, "rb"))
  local trace, wrong = siteerror.exact(file:read("a"))
  file:close()
  local profile
  if trace then profile, wrong = reader.read(path) end
  if profile and not profile.complete then wrong = profile.message end
  if wrong then fail(program.name .. ": " .. wrong) end
  return trace, siteerror.sampled(profile)
end

-- Returns the profiler's seed for a program and the number of a run. It differs between programs, so that
-- their errors are independent.
local function seed_of(program, seed)
  local sum = 0
  for i = 1, #program.name do sum = sum * 31 + program.name:byte(i) end
  return (sum & 0xffffffff) * 1000 + seed
end

-- Measures one program with all seeds, with fixed and with random intervals. Returns a row of the table.
local function measure(program)
  local trace = run(program, NEVER, "fixed", 1)
  local row = {
    program = program, bytes = trace.bytes, period = siteerror.period(trace.bytes, wanted.samples),
    samples = 0, undecided = 0, unknown = 0, z = {}, worst = {}, sites = 0,
  }
  for _, interval in ipairs(INTERVALS) do
    local list = {}
    for seed = 1, wanted.seeds do
      local profile
      trace, profile = run(program, row.period, interval, seed_of(program, seed))
      row.samples = row.samples + profile.samples
      row.undecided = row.undecided + profile.undecided
      row.unknown = row.unknown + siteerror.unknown(trace, profile)
      local errors = siteerror.compare(trace, profile, wanted.least)
      row.sites = math.max(row.sites, #errors)
      for _, site in ipairs(errors) do
        list[#list + 1] = site.z
        if not row.worst[interval] or math.abs(site.z) > math.abs(row.worst[interval].z) then
          row.worst[interval] = site
        end
      end
    end
    row.z[interval] = list
  end
  return row
end

local function share(tally)
  return tally.n == 0 and "-" or ("%.2f%%"):format(100 * tally.within / tally.n)
end

local function columns(tally)
  if tally.n == 0 then return "- | - | -" end
  return ("%s | %.2f | %.1f"):format(share(tally), tally.rms, tally.worst)
end

local rows, every = {}, { fixed = {}, random = {} }
local totals = { samples = 0, undecided = 0, unknown = 0 }
for i, program in ipairs(chosen) do
  io.stderr:write(("[%d/%d] %s\n"):format(i, #chosen, program.name))
  local row = measure(program)
  rows[i] = row
  for name in pairs(totals) do totals[name] = totals[name] + row[name] end
  for interval, list in pairs(every) do table.move(row.z[interval], 1, #row.z[interval], #list + 1, list) end
end

print(machine.line())
print(("%d seeds, sizes: %s, sites that should have %d samples or more\n"):format(
  wanted.seeds, wanted.mode, wanted.least))
print "| program | MB | period | sites | random: within 3 | rms | worst | fixed: within 3 | rms | worst |"
print "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
for _, row in ipairs(rows) do
  print(("| %s | %.1f | %d | %d | %s | %s |"):format(row.program.name, row.bytes / 1e6, row.period,
    row.sites, columns(siteerror.tally(row.z.random)), columns(siteerror.tally(row.z.fixed))))
end
print(("| all | | | | %s | %s |"):format(columns(siteerror.tally(every.random)),
  columns(siteerror.tally(every.fixed))))

print(("\nSamples in all: %d; without a fate: %d; at sites that the exact trace has not: %d."):format(
  totals.samples, totals.undecided, totals.unknown))

-- Returns the largest error of a site of a program with fixed intervals, in standard errors.
local function worst(row) return row.worst.fixed and math.abs(row.worst.fixed.z) or 0 end
table.sort(rows, function(a, b)
  local x, y = worst(a), worst(b)
  if x ~= y then return x > y end
  return a.program.name < b.program.name
end)
print "\n| worst with fixed intervals | site | exact share | sampled share | error, standard errors |"
print "| --- | --- | ---: | ---: | ---: |"
for i = 1, math.min(WORST, #rows) do
  local site = rows[i].worst.fixed
  if site then
    local kind, line, file = site.key:match("^(.-)\t(%d+)\t(.*)$")
    print(("| %s | %s, %s:%s | %.2f%% | %.2f%% | %.1f |"):format(rows[i].program.name, kind,
      file:match("[^/]*$"), line, 100 * site.share, 100 * site.found * site.share / site.expected,
      site.z))
  end
end

if found.data then
  local lines = {}
  for step = 0, math.floor((LIMITS.last - LIMITS.first) / LIMITS.step + 0.5) do
    local limit = LIMITS.first + step * LIMITS.step
    lines[#lines + 1] = {
      ("%.1f"):format(limit), ("%.5f"):format(siteerror.below(every.fixed, limit)),
      ("%.5f"):format(siteerror.below(every.random, limit)),
    }
  end
  local written, wrong = data.write(found.data .. "/sites.tsv",
    { "errors", "fixed intervals", "random intervals" }, lines)
  if not written then fail(wrong) end
end
