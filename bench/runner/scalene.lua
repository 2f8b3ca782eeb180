-- SPDX-License-Identifier: MIT
-- Prints the tables of bench/scalene from its measurements: lua scalene.lua FOLDER REPEATS PROGRAM...

local copies = require "asamp.sums.copies"
local leaks = require "asamp.sums.leaks"
local reader = require "profiler.reader"
local totals = require "asamp.sums.totals"
local trends = require "asamp.sums.trends"

local folder, repeats = arg[1], math.tointeger(arg[2])

local function row(...) print("| " .. table.concat({...}, " | ") .. " |") end

local function head(title, ...)
  print("\n" .. title .. "\n")
  row(...)
  print("| --- " .. ("| ---: "):rep(select("#", ...) - 1) .. "|")
end

local profile = assert(reader.read(folder .. "/accuracy", {bins = leaks.BINS}))
local sums, copied = totals.of(profile), assert(copies.of(profile))
local self, moved = {}, {}
for _, line in ipairs(sums.lines) do
  if line.file:find "scalene.lua$" then self[line.line] = line.self end
end
for _, line in ipairs(copied.lines) do moved[line.line] = line.bytes end

local exact = {time = {}, native = {}, memory = {}, copies = {}}
for text in io.lines(folder .. "/exact") do
  local kind, line, amount = text:match "^(%a+) (%d+) (%S+)$"
  table.insert(exact[kind], {line = tonumber(line), amount = tonumber(amount)})
end
for _, list in pairs(exact) do table.sort(list, function(a, b) return a.line < b.line end) end

-- One row for each feature. The third column states whether the profile of this run has the feature.
local native, trend = self[exact.native[1].line], trends.of(profile)
local function shown(value) return value and "yes" or "NO" end
head("Features (Table 2 of the paper):", "feature", "Scalene", "asamp", "shown by")
row("time by line", "yes", shown(native and native.timesamples > 0), "this run, `asamp report`")
row("time in C apart from the script's", "yes", shown(native and native.nativesamples > 0),
    "this run, `asamp report`")
row("memory by line", "yes", shown(self[exact.memory[1].line].bytes > 0), "this run, `asamp report`")
row("memory over time", "yes", shown(trend), "this run, `asamp report --show trends`")
row("copy volume by line", "yes", shown(moved[exact.copies[1].line]),
    "this run, `asamp report --show copies`")
local program <close> = assert(io.open "bench/scalene.lua")
row("code unmodified", "yes", shown(not program:read("a"):find "profiler"), "this run, `lua -l profiler`")
local said = io.open(folder .. "/native")
local nativelines = {}
for _, line in ipairs(said and totals.of(assert(reader.read(folder .. "/touched"))).lines or {}) do
  if line.file:find "scalene.lua$" then nativelines[line.line] = line.self end
end
row("memory of C apart from the script's", "yes", said and shown(next(nativelines)) or "elsewhere",
    said and "this run, `asamp run --malloc`" or "`bench/malloc`")
row("threads", "yes", "elsewhere", "`bench/states`")

head("To the right line?", "what", "line", "exact", "sampled", "sampled / exact")
local spent, turns = 0, 0
for _, e in ipairs(exact.time) do
  turns, spent = turns + e.amount, spent + (self[e.line] or {timesamples = 0}).timesamples
end
for _, e in ipairs(exact.time) do
  local want, have = e.amount / turns, (self[e.line] or {timesamples = 0}).timesamples / spent
  row("share of time", e.line, ("%.1f%%"):format(100 * want), ("%.1f%%"):format(100 * have),
      ("%.3f"):format(have / want))
end
for _, e in ipairs(exact.native) do
  local have = (native and native.nativesamples or 0) * profile.timeperiod
  row("seconds in C", e.line, ("%.3f"):format(e.amount), ("%.3f"):format(have),
      ("%.3f"):format(have / e.amount))
end
local function bytes(what, e, have)
  row(what, e.line, ("%.0f"):format(e.amount), ("%.0f"):format(have), ("%.3f"):format(have / e.amount))
end
for _, e in ipairs(exact.memory) do bytes("bytes allocated", e, (self[e.line] or {bytes = 0}).bytes) end
for _, e in ipairs(exact.copies) do bytes("bytes copied", e, moved[e.line] or 0) end

if said then
  head("Native memory, by `asamp run --malloc=64K`, written to and not:", "what", "line", "exact", "sampled",
       "sampled / exact", "became resident")
  for text in said:lines() do
    local what, line, exactly, rss = text:match "^(%a+) (%d+) (%d+) (-?%d+)$"
    local have = (nativelines[tonumber(line)] or {bytes = 0}).bytes
    row(what, line, exactly, ("%.0f"):format(have), ("%.3f"):format(have / exactly), rss)
  end
  said:close()
else
  print "\nNative memory is left out: no build/spec/cmemory.so; run make speclibs"
end

local function used(path)
  local file = assert(io.open(path))
  local _, user, sys, _, status = file:read("n", "n", "n", "n", "n")
  file:close()
  if status ~= 0 then io.stderr:write("bench/scalene: a program failed: ", path, "\n") os.exit(1) end
  return user + sys
end

head("Full profile (time by line, memory, copies), CPU time of all threads; and its file:",
     "program", "full / off", "lowest", "highest", "bytes a second")
for i = 3, #arg do
  local ratios, seconds = {}, 0
  for n = 1, repeats do
    local full = used(("%s/%s-full-%d"):format(folder, arg[i], n))
    ratios[n] = full / used(("%s/%s-off-%d"):format(folder, arg[i], n))
    seconds = seconds + full / repeats
  end
  table.sort(ratios)
  local file = assert(io.open(("%s/%s.vmprof"):format(folder, arg[i])))
  row(arg[i], ("%.3f"):format(ratios[(repeats + 1) // 2]), ("%.3f"):format(ratios[1]),
      ("%.3f"):format(ratios[repeats]), ("%.0f"):format(file:seek "end" / seconds))
  file:close()
end
row("paper, Scalene (full)", "1.26 to 1.53", "-", "-", "-")
