-- SPDX-License-Identifier: MIT
-- Does the measurements of bench/states and prints the tables: costs of many small states, with upstream's
-- Lua ("plain") and the fork. Called with ROOT WORK ARGUMENTS... WORK must contain the programs
-- states-plain and states-fork.

local start = dofile(arg[1] .. "/bench/runner/start.lua") "bench/states"
local work, fail, runner = start.work, start.fail, start.runner

local machine = require "runner.machine"
local stats = require "runner.stats"

local found = start.options "number plain fork"
local number = start.positive(found, "number", 2000)

local env = {}

-- Runs the program of bench/states.c of a variant ("plain" or "fork"). Returns the list of the numbers that
-- it prints.
local function run(variant, ...)
  local usage, output = runner:run({ work .. "/states-" .. variant, ... }, env)
  if not usage then fail(("states %s of %s: %s"):format((...), variant, output)) end
  local numbers = {}
  for n in output:gmatch("%-?%d+") do numbers[#numbers + 1] = math.tointeger(n) end
  return numbers
end

local function row(what, plain, fork)
  print(("| %s | %d | %d | %s |"):format(what, plain, fork,
    plain > 0 and ("%.3f"):format(fork / plain) or "-"))
end

-- Prints a row for each number that bench/states.c prints for these arguments. 'names' are the titles of
-- the rows.
local function rows(names, ...)
  local plain, fork = run("plain", ...), run("fork", ...)
  for i, name in ipairs(names) do row(name, plain[i], fork[i]) end
end

print(machine.line() .. "\n")
print("| small states | plain | fork | fork/plain |\n| --- | --- | --- | --- |")
rows({ "idle with libraries, resident bytes each" }, "idle", tostring(number))
rows({ "after a busy script, resident bytes each" }, "busy", tostring(number))
rows({ "least limit: lua_newstate", "least limit: libraries", "least limit: a small script" }, "least")
for _, limit in ipairs { 128, 256, 1024, 4096 } do
  rows({ ("rows kept in %d KiB"):format(limit) }, "rows", tostring(limit * 1024))
end
for _, limit in ipairs { 64, 96, 128 } do
  rows({ ("garbage in %d KiB: requests refused"):format(limit) }, "loop", tostring(limit * 1024))
end
rows({ "made, libraries, closed: CPU ns each" }, "cycle", tostring(number))
rows({ "made, 12 MiB kept, closed: CPU ns each", "resident bytes after the last" },
  "requests", tostring(number // 20 + 1))
rows({ ("%d states in 8 threads: resident bytes"):format(5 * number), "... milliseconds" },
  "threads", tostring(5 * number))

-- Runs the action 'cycle' of bench/states.c again, without ASAMP and with several values of it. With ASAMP,
-- the cost includes the profiler's threads and their start.
local ROUNDS = 5
local WISHES = { "", "alloc=512K", "alloc=512K,time=100", "alloc=0,listen" }
local took = { {}, {}, {}, {} }
for _ = 1, ROUNDS do
  for i, wish in ipairs(WISHES) do
    env = wish == "" and {} or { ("ASAMP=%s,quiet,out=%s/states.vmprof"):format(
      wish:gsub("listen$", "%0=" .. work:gsub("%%", "%%%%") .. "/socket"), work) }
    os.remove(work .. "/states.vmprof")
    table.insert(took[i], run("fork", "cycle", tostring(5 * number))[1])
  end
end
print(("\n| %d states made, libraries, closed; ASAMP | CPU ns each | more |\n| --- | --- | --- |")
  :format(5 * number))
for i, wish in ipairs(WISHES) do
  local ns = stats.median(took[i])
  print(("| %s | %.0f | %.0f |"):format(wish == "" and "not set" or wish, ns, ns - stats.median(took[1])))
end
