-- SPDX-License-Identifier: MIT
-- Does the measurements of bench/pauses: runs the program of bench/pauses.c in every configuration, and
-- prints the report. Called with ROOT WORK ARGUMENTS... WORK must contain the programs pauses-plain and
-- pauses-fork. Exit status: 0 if everything was measured, 2 for wrong usage or if a run failed.

local start = dofile(arg[1] .. "/bench/runner/start.lua") "bench/pauses"
local root, work, fail, runner = start.root, start.work, start.fail, start.runner

local distribution = require "runner.distribution"
local machine = require "runner.machine"
local pause_options = require "runner.pause_options"
local pause_report = require "runner.pause_report"
local rounds = require "runner.rounds"

local wanted, message = pause_options.parse(start.arguments)
if not wanted then fail(message) end
if wanted.help then
  print(pause_options.USAGE)
  os.exit(0)
end

local function measure(config)
  local command = { work .. "/pauses-" .. config.variant, root .. "/bench/micro/churn.lua",
    config.mode, wanted.clock, wanted.records, wanted.page, wanted.survivors, wanted.batches }
  if wanted.trap then
    command[2], command[9] = root .. "/bench/micro/trap.lua", root .. "/bench/trap/" .. wanted.trap .. ".lua"
    command[5], command[6] = wanted.size, wanted.batches
  end
  local usage, output = runner:run(command, {})
  if not usage then fail(("%s: %s"):format(config.name, output)) end
  local run = distribution.parse(output)
  if not run then fail(("%s printed no measurement: %q"):format(config.name, output)) end
  run.rss = usage.rss
  return pause_report.figures(run)
end

local found = {}
for _, config in ipairs(wanted.configs) do found[config] = {} end
for round = 1, wanted.rounds do
  for _, config in ipairs(rounds.order(wanted.configs, round)) do
    io.stderr:write(("[%d/%d] %s\n"):format(round, wanted.rounds, config.name))
    found[config][round] = measure(config)
  end
end

print(machine.line())
if wanted.trap then
  print(("trap %s, %d at once, made and dropped twice in %d batches, %s time, %d rounds\n"):format(
    wanted.trap, wanted.size, wanted.batches, wanted.clock, wanted.rounds))
else
  print(("%d MB live in %d records, %d MB made in addition in %d batches, %d of 16 records survive, "
    .. "%s time, %d rounds\n"):format(wanted.live, wanted.records, wanted.allocate, wanted.batches,
    wanted.survivors, wanted.clock, wanted.rounds))
end
io.write(pause_report.render(wanted.configs, found))
