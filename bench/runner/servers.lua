-- SPDX-License-Identifier: MIT
-- Does the measurements of bench/servers: lua servers.lua ROOT WORK PLACE BUILT ARGUMENTS... PLACE is a
-- folder that contains both libraries, in plain/lib and fork/lib. BUILT is the folder of the servers that
-- were compiled.

local start = dofile(arg[1] .. "/bench/runner/start.lua") "bench/servers"
local root, fail = start.root, start.fail
local place, built = table.remove(start.arguments, 1), table.remove(start.arguments, 1)

local machine = require "runner.machine"
local process = require "runner.serverprocess"
local stats = require "runner.stats"

local SERVERS = { "haproxy", "mod_lua", "pllua" }
-- the numbers of records in the answers that are compared between the libraries
local SIZES = { 1, 7, 100, 1000 }
-- the smallest fraction of a server's CPU time that its time samples must represent
local SAMPLED = 0.1
local ASAMP = "alloc=64K,time=1000,listen"

local found, names = start.options("rounds requests", "", true)
local rounds = start.positive(found, "rounds", 3)
local requests = start.positive(found, "requests", 2000)
if #names == 0 then names = SERVERS end

local count = 0

-- Starts the server with the library of 'variant': "plain" (upstream's Lua) or "fork".
local function launch(name, server, variant, asamp)
  count = count + 1
  local fields = { root = root, built = built, pg = "/usr/lib/postgresql/17/bin",
    folder = ("%s/%s.%d"):format(place, name, count) }
  local started, message = process.start(server, fields, place .. "/" .. variant .. "/lib", asamp)
  return started or fail(("%s on %s: %s"):format(name, variant, message))
end

-- Measures a server once. Returns the CPU seconds per request, and its answers as one string.
local function measure(name, server, variant)
  local running = launch(name, server, variant)
  local answers = {}
  for i, n in ipairs(SIZES) do answers[i] = running:request(n) end
  running:load(requests // 10 + 1)
  local cpu = running:load(requests)
  running:stop()
  if not cpu then fail(("%s on %s: a request failed"):format(name, variant)) end
  return cpu, table.concat(answers, "\0")
end

local SECONDS = { us = 1e-6, ms = 1e-3, s = 1 }

-- Parses a report of asamp. Returns the number of time samples as text, and the CPU seconds that they
-- represent.
local function timed(report)
  local amount, unit, samples = report:match "([%d.]+) (%l+) of CPU time, from ([%d,]+) sample"
  return samples or "none", amount and tonumber(amount) * (SECONDS[unit] or 60) or 0
end

-- Runs a server under ASAMP. Returns three values: true if a profiler's socket answered, the report of all
-- profiles together, and the CPU seconds of all requests.
local function profile(name, server)
  local running = launch(name, server, "fork", ASAMP)
  local answered = false
  local cpu = running:load(requests, function() answered = running:answers(place .. "/fork/bin/asamp") end)
  running:stop()
  if not cpu then fail(name .. " under ASAMP: a request failed") end
  local line = "'%s/fork/bin/asamp' report --sum --width 160 --top 60 --show lines '%s/profiles'/* 2>&1"
  return answered, process.output(line:format(place, running.folder)), cpu * requests
end

print(machine.line() .. "\n")
print("| server | answers equal | own lines | time samples | of CPU time | socket "
  .. "| plain, CPU us a request | fork | fork/plain |")
print("| --- | --- | --- | ---: | ---: | --- | ---: | ---: | --- |")
io.stdout:flush()
local function yes(value) return value and "yes" or "no" end
local missing = 0
for _, name in ipairs(names) do
  local path = ("%s/bench/server/%s.lua"):format(root, name)
  local chunk = name ~= "page" and loadfile(path)
  if not chunk then fail(("no server %q; there are %s"):format(name, table.concat(SERVERS, ", "))) end
  local server = chunk()
  local cpu, equal, expected = { plain = {}, fork = {} }, true, nil
  for round = 1, rounds do
    for _, variant in ipairs(round % 2 == 1 and { "plain", "fork" } or { "fork", "plain" }) do
      local answers
      cpu[variant][round], answers = measure(name, server, variant)
      expected = expected or answers
      equal = equal and answers == expected
    end
  end
  local answered, report, used = profile(name, server)
  local lines = report:find(server.lines) ~= nil
  local samples, seconds = timed(report)
  local ratios = stats.ratios(cpu.fork, cpu.plain)
  local least, most = stats.range(ratios)
  print(("| %s | %s | %s | %s | %.0f%% | %s | %.0f | %.0f | %.3f (%.3f..%.3f) |"):format(
    name, yes(equal), yes(lines), samples, 100 * seconds / used, yes(answered), stats.median(cpu.plain) * 1e6,
    stats.median(cpu.fork) * 1e6, stats.median(ratios), least, most))
  io.stdout:flush()
  if not (equal and lines and answered and seconds >= SAMPLED * used) then
    missing = missing + 1
    io.stderr:write(report:sub(1, 2000), "\n")
  end
end
print(("\n%d of %d servers lack something."):format(missing, #names))
os.exit(missing > 0 and 1 or 0)
