-- SPDX-License-Identifier: MIT
-- Runs the benchmarks of each optional mechanism of the collector for bench/ablate, and prints the table.
-- Called with ROOT WORK ARGUMENTS... WORK must contain the interpreters: nothing/lua (with all mechanisms),
-- and NAME/lua for each mechanism NAME (without it).

local start = dofile(arg[1] .. "/bench/runner/start.lua") "bench/ablate"
local root, work, fail, runner = start.root, start.work, start.fail, start.runner

local machine = require "runner.machine"
local options = require "runner.options"

local found = start.options "only rounds"
local rounds = start.positive(found, "rounds", 3)

local function read(path)
  local file = io.open(path)
  if not file then return nil end
  local text = file:read "a"
  file:close()
  return text
end

-- Returns the list of mechanisms that lua/gc/optional.h describes, in its order (with --only, only those).
-- Each has the fields name, parts (source files and functions), invariants and loads (benchmarks), all
-- texts.
local function mechanisms()
  local list, only = {}, found.only and {}
  for _, name in ipairs(found.only and options.split(found.only) or {}) do only[name] = true end
  for comment, name in read(root .. "/lua/gc/optional.h"):gmatch "/%*([^*]+)%*/%s*LUAN_(%u+)" do
    local parts, invariants, loads = comment:gsub("%s+", " "):match(
      "Its code: (.-)%. Its invariants: (.-)%. Benchmarks that show its effect: (.-)%. $")
    name = name:lower()
    if not only or only[name] then
      list[#list + 1] = { name = name, parts = parts, invariants = invariants, loads = loads }
    end
  end
  return list
end

-- Returns the number of lines of a text that are neither empty nor comments.
local function code(text)
  local n = 0
  text = text:gsub("/%*.-%*/", function(comment) return comment:gsub("[^\n]", "") end)
  for line in text:gmatch "[^\n]+" do
    if line:find "%S" then n = n + 1 end
  end
  return n
end

-- Returns the number of code lines of a part, which is FILE or FILE:FUNCTION,FUNCTION. In the second form
-- only the definitions of these functions count.
local function lines(part)
  local file, names = part:match "^([^:]+):?(.*)$"
  local text = read(root .. "/lua/gc/" .. file) or read(root .. "/lua/" .. file)
  if not text then fail(("lua/gc/optional.h names %s, which does not exist"):format(file)) end
  if names == "" then return code(text) end
  local n = 0
  for name in names:gmatch "[^,]+" do
    local definition = text:match("\n([^\n]*[ *]" .. name .. " %([^;{]*%b{})")
    if not definition then
      fail(("lua/gc/optional.h names %s:%s, which does not exist"):format(file, name))
    end
    n = n + code(definition)
  end
  return n
end

local function smallest(a, b) return (not a or b < a) and b or a end

-- Runs a benchmark once with the interpreter without 'mechanism'. Lowers each value in 'into' to the value
-- of this run, if that is smaller.
local function run(mechanism, load, into)
  local step = not read(("%s/bench/load/%s.lua"):format(root, load))
  local words = { ("%s/%s/lua"):format(work, mechanism),
    root .. (step and "/bench/ablate.lua" or "/bench/load.lua"), load }
  local usage, output = runner:run(words, {})
  if not usage then fail(("%s without %s: %s"):format(load, mechanism, output)) end
  into.cpu = smallest(into.cpu, usage.cpu)
  into.rss = smallest(into.rss, usage.rss)
  into.longest = step and smallest(into.longest, tonumber(output:match "longest (%S+)"))
end

local function pair(format, with, without, scale)
  if not with then return "-" end
  return (format .. " / " .. format):format(with * scale, without * scale)
end

print(machine.line() .. "\n")
print("With the mechanism / without it.\n")
print("| mechanism | code lines | invariants | load | CPU seconds | peak MiB | longest step, ms |")
print("| --- | ---: | --- | --- | ---: | ---: | ---: |")
io.stdout:flush()
for _, m in ipairs(mechanisms()) do
  local n = 0
  for part in m.parts:gmatch "%S+" do n = n + lines(part) end
  for load in m.loads:gmatch "%S+" do
    local with, without = {}, {}
    for _ = 1, rounds do
      run("nothing", load, with)
      run(m.name, load, without)
    end
    print(("| %s | %d | %s | %s | %s | %s | %s |"):format(m.name, n, m.invariants, load,
      pair("%.2f", with.cpu, without.cpu, 1), pair("%.1f", with.rss, without.rss, 1 / (1 << 20)),
      pair("%.1f", with.longest, without.longest, 1000)))
    io.stdout:flush()
  end
end
