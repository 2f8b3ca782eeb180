-- SPDX-License-Identifier: MIT
-- Prints the tables of bench/lifetimes: lua lifetimes.lua PERIOD=BASE,ACTED ... BASE is a profile of the
-- unchanged program; ACTED is one of the program that keeps its short-lived objects.

local lifetimes = require "asamp.sums.lifetimes"
local reader = require "profiler.reader"

local CLASSES = {"Fraction", "NumberParser", "ReadStream", "Cell", "Row"}
-- The values of the paper on FiLiP. Each row has the fraction of sampled objects, and two lists for the
-- classes Fraction, NumberParser, ReadStream, ByteString and Array. First list: mean lifetimes in percent
-- of the run (Table 4). Second list: by how much they rise when short-lived objects are kept (Table 2).
local PAPER = {
  {"100%", {0.06, 0.06, 0.06, 93.3, 93.3}, {72, 72, 72, 4, 4}},
  {"50%", {0.05, 0.05, 0.05, 89.9, 89.9}, {49, 49, 49, 4, 4}},
  {"1%", {0.04, 0.04, 0.04, 86.3, 86.3}, {38, 38, 38, 6, 6}},
  {"0.1%", {0.04, 0.04, 0.04, 87.1, 87}, {38, 38, 38, 6, 6}},
}

local function byname(path)
  local rows, all, n = {}, 0, 0
  for _, row in ipairs(assert(lifetimes.classes(assert(reader.read(path))))) do
    rows[row.name] = row
    all, n = all + row.share * row.objects, n + row.objects
  end
  return rows, all / n
end

-- Compares two rows of lifetimes.classes. Returns the largest difference of their cumulative distributions
-- of lifetimes (0 to 1, as in the Kolmogorov-Smirnov test), and the difference that chance exceeds in 5% of
-- cases.
local function distance(a, b)
  local steps, most, sum = {}, 0, 0
  for _, slot in ipairs(a.histogram) do
    steps[slot.below] = slot.objects / a.objects
  end
  for _, slot in ipairs(b.histogram) do
    steps[slot.below] = (steps[slot.below] or 0) - slot.objects / b.objects
  end
  for k = 0, 63 do
    sum = sum + (steps[2.0 ^ k] or 0)
    most = math.max(most, math.abs(sum))
  end
  return most, 1.358 * math.sqrt(1 / a.samples + 1 / b.samples)
end

local function line(first, values, format)
  local cells = {first}
  for i, v in ipairs(values) do
    cells[i + 1] = v and format:format(v) or "-"
  end
  print("| " .. table.concat(cells, " | ") .. " |")
end

local runs = {}
for i, word in ipairs(arg) do
  local period, base, acted = word:match "^([^=]*)=([^,]*),(.*)$"
  local run = {period = period}
  run.base, run.all = byname(base)
  run.acted, run.actedall = byname(acted)
  runs[i] = run
end

local function column(rows, value)
  local list = {}
  for i, name in ipairs(CLASSES) do
    list[i] = rows[name] and value(rows[name], name) or false
  end
  return list
end

local function heads(what)
  print(("\n%s\n"):format(what))
  print("| one sample every | " .. table.concat(CLASSES, " | ") .. " |")
  print("| --- " .. ("| ---: "):rep(#CLASSES) .. "|")
end

heads "Objects of a class, of all:"
for _, run in ipairs(runs) do
  local n = 0
  for _, row in pairs(run.base) do n = n + row.objects end
  line(run.period, column(run.base, function(r) return 100 * r.objects / n end), "%.1f%%")
end

heads "Mean lifetime by class, of the run (FiLiP, Table 4):"
for _, run in ipairs(runs) do
  line(run.period, column(run.base, function(r) return 100 * r.share end), "%.2f%%")
end
for _, paper in ipairs(PAPER) do line("paper, " .. paper[1], paper[2], "%.2f%%") end

heads "Difference of the mean lifetime when the short-lived are kept (FiLiP, Table 2):"
for _, run in ipairs(runs) do
  line(run.period, column(run.base, function(r, name)
    return run.acted[name] and 100 * (run.acted[name].share - r.share)
  end), "%+.1f%%")
end
for _, paper in ipairs(PAPER) do line("paper, " .. paper[1], paper[3], "%+.0f%%") end

if #runs > 2 then
  heads("Distance of the distribution, in time, from that of one sample every " .. runs[2].period ..
    " (Kolmogorov-Smirnov; then the distance that chance exceeds once in 20):")
end
for i = 3, #runs do
  local list = {}
  for k, name in ipairs(CLASSES) do
    local a, b = runs[2].base[name], runs[i].base[name]
    list[k] = a and b and ("%.3f (%.3f)"):format(distance(a, b)) or "-"
  end
  print("| " .. runs[i].period .. " | " .. table.concat(list, " | ") .. " |")
end

print "\nAll objects, mean lifetime and its difference (FiLiP, Table 1: DataFrame +60%, +42%, +32%, +33%):\n"
print "| one sample every | mean | when kept | difference |\n| --- | ---: | ---: | ---: |"
for _, run in ipairs(runs) do
  line(run.period, {100 * run.all, 100 * run.actedall, 100 * (run.actedall - run.all)}, "%.2f%%")
end
