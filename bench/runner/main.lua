-- SPDX-License-Identifier: MIT
-- Does the measurements of bench/run and prints the report as Markdown: lua main.lua ROOT WORK ARGUMENTS...
-- If a program fails or its outputs differ, the other programs are still reported. Exit status: 0 if
-- everything was measured and all outputs are equal, 1 if a program failed or its outputs differ, 2 for
-- wrong usage.

local start = dofile(arg[1] .. "/bench/runner/start.lua") "bench/run"
local root, work, fail, runner = start.root, start.work, start.fail, start.runner

local configs = require "runner.configs"
local machine = require "runner.machine"
local options = require "runner.options"
local programs = require "runner.programs"
local report = require "runner.report"
local rounds = require "runner.rounds"

local BUILDER = { plain = "make plain builds it", fork = "make builds it", lua55 = "bench/lua55 builds it" }

local function executable(path, option)
  local file = io.open(path, "rb")
  if not file then
    fail(("no interpreter at %q; %s, or give --%s PATH"):format(path, BUILDER[option], option))
  end
  file:close()
  return path:sub(1, 1) == "/" and path or root .. "/" .. path
end

local function list_programs(all)
  for _, program in ipairs(all) do print(("%-16s %s"):format(program.name, program.group)) end
  print("groups: " .. table.concat(programs.GROUPS, " "))
end

local function write_report(path, text)
  local file, reason = io.open(path, "w")
  if not file then fail(("cannot write the report: %s; give another --out"):format(reason)) end
  file:write(text)
  file:close()
end

local function measure_all(chosen, list, wanted)
  local rows, failed = {}, {}
  for i, program in ipairs(chosen) do
    io.stderr:write(("[%d/%d] %s\n"):format(i, #chosen, program.name))
    local row, message = rounds.measure(runner, program, list, wanted)
    if row and wanted.instructions then
      row, message = rounds.add_instructions(runner, row, list, wanted)
    end
    if row then
      rows[#rows + 1] = row
    else
      failed[#failed + 1] = message
      io.stderr:write("bench/run: ", message, "\n")
    end
  end
  return rows, failed
end

local wanted, message = options.parse(start.arguments)
if not wanted then fail(message) end
if wanted.help then
  print(options.USAGE)
  os.exit(0)
end

local all = programs.all(root .. "/bench", os.getenv("AWFY"))
if wanted.list then
  list_programs(all)
  os.exit(0)
end
local chosen
chosen, message = programs.choose(all, wanted.words)
if not chosen then fail(message) end

local list
list, message = configs.make(wanted.configs, {
  plain = wanted.plain or "build/plain/bin/lua", fork = wanted.fork or "build/bin/lua",
  lua55 = wanted.lua55 or "build/lua55/bin/lua",
  period = wanted.period, preload = wanted.preload, profile = work .. "/profile.vmprof",
  mimalloc = machine.library("libmimalloc.so"),
})
if not list then fail(message) end
for _, config in ipairs(list) do
  local option = (config.kind == "plain" or config.kind == "preload") and "plain"
    or config.kind == "lua55" and "lua55" or "fork"
  config.lua = executable(config.lua, option)
end

local comparisons
if wanted.base then
  comparisons, message = configs.against(list, wanted.base)
  if not comparisons then fail(message) end
else
  comparisons = configs.comparisons(list)
end

local rows, failed = measure_all(chosen, list, wanted)
if #rows == 0 then fail("nothing was measured") end
if wanted.callgrind or wanted.instructions then
  local done
  done, message = rounds.subtract_startup(runner, rows, list)
  if not done then fail(message) end
end

local render = wanted.callgrind and report.counted or report.timed
local text = table.concat({
  machine.line(),
  ("%d rounds, sizes: %s, sampling period of 'sample': %s"):format(
    wanted.rounds, wanted.mode, wanted.period),
  "",
  render(rows, list, comparisons, programs.GROUPS, wanted.instructions),
}, "\n")
for _, each in ipairs(failed) do text = text .. "\nFAILED: " .. each .. "\n" end
io.write(text)
if wanted.out then write_report(wanted.out, text) end
os.exit(#failed == 0 and 0 or 1)
