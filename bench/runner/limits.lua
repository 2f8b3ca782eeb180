-- SPDX-License-Identifier: MIT
-- Prints the table of bench/limits: the smallest memory limits in which scripts succeed, with upstream's
-- Lua ("plain") and the fork. Called with ROOT WORK ARGUMENTS... WORK must contain the programs
-- limits-plain and limits-fork.

local start = dofile(arg[1] .. "/bench/runner/start.lua") "bench/limits"
local root, work, fail, runner = start.root, start.work, start.fail, start.runner

local machine = require "runner.machine"
local options = require "runner.options"

-- a limit in KiB that is large enough for every script
local MOST = 65536

local SCRIPTS = { "recursion", "coroutines", "concat", "buffer", "rep", "gsub", "array", "hash", "closures",
  "userdata", "finalizers", "sort", "load", "format", "cstack", "weak", "varargs", "dump", "errors",
  "queue", "words" }

local found = start.options "only step upto plain fork"
local step = start.positive(found, "step", 2)
local upto = start.positive(found, "upto", 8)
local scripts = found.only and options.split(found.only) or SCRIPTS

-- Runs the program of bench/limits.c of a variant ("plain" or "fork") with an action ("least" or "sweep")
-- and a script. The further arguments are the action's numbers after STEP. Returns its output.
local function run(variant, what, script, ...)
  local words = { work .. "/limits-" .. variant, what, ("%s/bench/limits.d/%s.lua"):format(root, script) }
  for _, number in ipairs { step, ... } do words[#words + 1] = tostring(number) end
  local usage, output = runner:run(words, {})
  if not usage then fail(("%s under %s: %s"):format(script, variant, output)) end
  return output
end

local function least(variant, script)
  local kib = math.tointeger(tonumber(run(variant, "least", script, MOST)))
  if kib == 0 then fail(("%s under %s fails in %d KiB; run it with lua"):format(script, variant, MOST)) end
  return kib
end

-- Returns a table from each limit between 'from' and 'to' in which a script fails (KiB) to the error
-- message.
local function failures(variant, script, from, to)
  local failing = {}
  for kib, message in run(variant, "sweep", script, from, to):gmatch "(%d+) ([^\n]*)\n" do
    failing[math.tointeger(tonumber(kib))] = message
  end
  return failing
end

for _, script in ipairs(scripts) do
  local f = io.open(("%s/bench/limits.d/%s.lua"):format(root, script))
  if not f then fail(("--only has no script %q; see bench/limits.d"):format(script)) end
  f:close()
end

print(machine.line() .. "\n")
print("| script | plain, least KiB | fork, least KiB | fork/plain | limits from 1.5 times | fork fails in "
  .. "| from..to KiB | plain fails in | message |")
print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |")
io.stdout:flush()
local bad = 0
for _, script in ipairs(scripts) do
  local plain, fork = least("plain", script), least("fork", script)
  local from, to = (plain * 3 // 2 + step - 1) // step * step, plain * upto
  local theirs, ours = failures("plain", script, from, to), failures("fork", script, from, to)
  local tried, failed, others, low, high = 0, 0, 0, nil, nil
  for kib = from, to, step do
    tried = tried + 1
    if theirs[kib] then
      others = others + 1
    elseif ours[kib] then
      failed, low, high = failed + 1, low or kib, kib
    end
  end
  print(("| %s | %d | %d | %.2f | %d | %d | %s | %d | %s |"):format(script, plain, fork, fork / plain, tried,
    failed, low and ("%d..%d"):format(low, high) or "", others, high and ours[high] or ""))
  io.stdout:flush()
  bad = bad + math.min(failed, 1)
end
print(("\n%d of %d scripts fail on the fork in a limit of 1.5 times plain's least or more, "
  .. "in which plain succeeds."):format(bad, #scripts))
os.exit(bad > 0 and 1 or 0)
