-- SPDX-License-Identifier: MIT
-- Formats the results of bench/evaluate as Markdown and as rows of data files. No side effects.
-- A result is a table for one program:
--   program   its name
--   base      the baseline: { cpu = list, wall = list }, seconds of each run
--   points    a list of points
--   long      median CPU time of the baseline with its long size in seconds, or nil
-- A point is a table for one setting of the profiler:
--   series, x      as in settings.lua
--   cpu, wall      lists of ratios: time divided by that of the baseline in the same round
--   fastest        the shortest CPU time divided by the shortest of the baseline
--   seconds        CPU time
--   samples, timesamples, allocated, disk    numbers of samples, bytes allocated, bytes of the profile
-- The last two lines have medians of the rounds.

local evaluation = {}

local settings = require "runner.settings"
local stats = require "runner.stats"

local K = 1024

-- The paper's values for its programs, by the program of bench/load that corresponds to each. (The paper
-- describes allocation sampling for PyPy by VMProf; the values are from its Figures 10 and 11.) 'slower' is
-- the overhead of a thousand time samples per second. It is from the text, because Figure 9 has no numbers.
evaluation.PAPER = {
  loop = { name = "microbenchmark", rate = 52658, overhead = 3.51, normalised = 1.05,
    seconds = 4.44, gigabytes = 26.937, speed = 6.063, slower = 1.1 },
  gcbench = { name = "gcbench", rate = 41081, overhead = 3.88, normalised = 1.07,
    seconds = 0.69, gigabytes = 3.606, speed = 5.222, slower = 1.1 },
  linter = { name = "pypy_translate_step", rate = 8987, overhead = 1.97, normalised = 1.11,
    seconds = 250.06, gigabytes = 144.917, speed = 0.580, slower = 1.11 },
  interpreter = { name = "interpreter_pystone", rate = 8483, overhead = 1.99, normalised = 1.12,
    seconds = 8.10, gigabytes = 4.494, speed = 0.555, slower = 1.12 },
}
-- the largest overhead that the paper's abstract states for a period of 4 MB
local PAPER_MOST = 1.25

local function markdown(header, rows)
  local lines = { "| " .. table.concat(header, " | ") .. " |", "| --- |" .. (" ---: |"):rep(#header - 1) }
  for _, row in ipairs(rows) do lines[#lines + 1] = "| " .. table.concat(row, " | ") .. " |" end
  return table.concat(lines, "\n") .. "\n"
end

local function point(result, series, x)
  for _, each in ipairs(result.points) do
    if each.series == series and (x == nil or each.x == x) then return each end
  end
end

local function overhead(found) return found and stats.median(found.cpu) end
local function fastest(found) return found and found.fastest end

local function text(value, format) return value and (format or "%.3f"):format(value) or "-" end

-- Returns the values of x for which a series has points, in ascending order.
local function places(results, series)
  local seen, list = {}, {}
  for _, result in ipairs(results) do
    for _, each in ipairs(result.points) do
      if each.series == series and not seen[each.x] then
        seen[each.x] = true
        list[#list + 1] = each.x
      end
    end
  end
  table.sort(list)
  return list
end

-- Returns two numbers for a point: samples per second of CPU time, and the overhead that a thousand samples
-- per second would have, by the paper's formula. Overheads are ratios to the time without sampling.
function evaluation.normalised(found)
  local rate = math.max(found.samples, found.timesamples) / found.seconds
  return rate, rate > 0 and 1 + (overhead(found) - 1) / rate * 1000 or nil
end

-- Returns the paper's overhead for a program at the point x, as text; or nil if the paper has none. The
-- program "" is the worst one. The values are from Figure 8 (series c) or Figure 9 (series time, exact).
local function paper_value(program, series, x)
  local paper, worst = evaluation.PAPER[program], 0
  for _, each in pairs(evaluation.PAPER) do worst = math.max(worst, each.overhead) end
  if series == "c" and x == 32 * K then return ("%.2f"):format(paper and paper.overhead or worst) end
  if series == "c" then
    return not paper and x == 4 * K * K and ("%.2f"):format(PAPER_MOST) or nil
  end
  return paper and x == 1000 and ("> %g"):format(paper.slower) or nil
end

-- Returns rows with the paper's values for the programs of a table, to be printed below the measured rows.
-- 'xs' are the values of x in the columns, 'width' is the number of columns.
local function paper_rows(results, series, xs, width)
  local rows = {}
  local function add(title, program)
    local row, any = { title }, false
    for i = 1, width - 1 do
      local value = xs[i] and paper_value(program, series, xs[i])
      row[i + 1], any = value or "-", any or value
    end
    if any then rows[#rows + 1] = row end
  end
  local some = false
  for _, result in ipairs(results) do
    local paper = evaluation.PAPER[result.program]
    if paper then add("the paper's " .. paper.name, result.program) end
    some = some or paper
  end
  if some then add("the paper's worst", "") end
  return rows
end

-- Returns a table with the overhead of every program at every point of a series. The last measured row has
-- the worst values. 'figure' is the function that computes the value of a point: overhead or fastest. If
-- 'paper' is true, rows with the paper's values follow.
local function curve(results, series, title, figure, paper)
  local xs = places(results, series)
  if #xs == 0 then return "" end
  local extra = {}
  if series == "c" then extra = { "off", "idle" } end
  local header, rows = { "program" }, {}
  for _, x in ipairs(xs) do header[#header + 1] = series:find("^[cl]") and settings.size(x) or x .. "/s" end
  for _, name in ipairs(extra) do header[#header + 1] = name end
  local worst = { "the worst" }
  local function add(row, found)
    local value = (figure or overhead)(found)
    row[#row + 1] = text(value)
    if value then worst[#row] = math.max(worst[#row] or 0, value) end
  end
  for i, result in ipairs(results) do
    local row = { result.program }
    for _, x in ipairs(xs) do add(row, point(result, series, x)) end
    for _, name in ipairs(extra) do add(row, point(result, name)) end
    rows[i] = row
  end
  for i = 2, #header do worst[i] = text(worst[i]) end
  rows[#rows + 1] = worst
  if paper then
    for _, row in ipairs(paper_rows(results, series, xs, #header)) do rows[#rows + 1] = row end
  end
  return ("## %s\n\n%s"):format(title, markdown(header, rows))
end

local function programs_table(results)
  local rows = {}
  for _, result in ipairs(results) do
    if #result.base.cpu > 0 then
      local found = point(result, "c") or point(result, "lua")
      local seconds, allocated = stats.median(result.base.cpu), found and found.allocated
      local paper = evaluation.PAPER[result.program] or {}
      rows[#rows + 1] = {
        result.program, ("%.2f"):format(seconds), text(allocated and allocated / 1e9),
        text(allocated and allocated / 1e9 / seconds), paper.name or "-", text(paper.seconds, "%.2f"),
        text(paper.gigabytes), text(paper.speed),
      }
    end
  end
  if #rows == 0 then return "" end
  return "## Run time and allocation, without sampling (the paper's Figure 11)\n\n" .. markdown(
    { "program", "CPU s", "GB", "GB/s", "paper's", "s", "GB", "GB/s" }, rows)
end

-- Returns the table of Figure 10, the cost of a thousand samples per second. 'list' describes the settings
-- to be shown: { series, x, title, paper = true to show the paper's values }.
local function normalised_table(results, list)
  local rows = {}
  for _, result in ipairs(results) do
    for _, each in ipairs(list) do
      local found = point(result, each.series, each.x)
      if found then
        local rate, normalised = evaluation.normalised(found)
        local paper = each.paper and evaluation.PAPER[result.program] or {}
        rows[#rows + 1] = {
          result.program, each.title, ("%.0f"):format(rate), text(overhead(found)),
          text(stats.median(found.wall)), text(normalised, "%.4f"), text(paper.rate, "%d"),
          text(paper.overhead, "%.2f"), text(paper.normalised, "%.2f"),
        }
      end
    end
  end
  if #rows == 0 then return "" end
  return "## Samples a second, and overhead for a thousand of them (the paper's Figure 10)\n\n" .. markdown({
    "program", "sampled", "samples/s", "overhead", "of wall time", "for 1000/s", "paper: samples/s",
    "overhead", "for 1000/s" }, rows)
end

-- Returns the table of bytes per sample in the profile. The row "mean" has the mean of all programs, with
-- equal weights. The row "all together" has the bytes of all files divided by the number of all samples.
local function disk_table(results)
  local rows, sums = {}, {}
  local mean, together = { "mean" }, { "all together" }
  for _, result in ipairs(results) do
    local row, any = { result.program }, false
    for _, x in ipairs { 16 * K, 32 * K, 512 * K } do
      for _, series in ipairs { "c", "lua" } do
        local found = point(result, series, x)
        local at = #row + 1
        local sum = sums[at] or { n = 0, ratios = 0, disk = 0, samples = 0 }
        sums[at], row[at] = sum, "-"
        if found and found.samples > 0 then
          any, row[at] = true, text(found.disk / found.samples, "%.1f")
          sum.n, sum.ratios = sum.n + 1, sum.ratios + found.disk / found.samples
          sum.disk, sum.samples = sum.disk + found.disk, sum.samples + found.samples
        end
      end
    end
    if any then rows[#rows + 1] = row end
  end
  if #rows == 0 then return "" end
  for at, sum in pairs(sums) do
    mean[at] = sum.n > 0 and text(sum.ratios / sum.n, "%.1f") or "-"
    together[at] = sum.n > 0 and text(sum.disk / sum.samples, "%.1f") or "-"
  end
  rows[#rows + 1], rows[#rows + 2] = mean, together
  return "## Bytes of file for a sample (compressed)\n\n" .. markdown({ "program", "16K, C stacks",
    "16K, Lua", "32K, C stacks", "32K, Lua", "512K, C stacks", "512K, Lua" }, rows)
end

local function long_table(results)
  local rows = {}
  for _, result in ipairs(results) do
    local function add(title, found)
      if not found then return end
      local sampled = found.samples > 0
      rows[#rows + 1] = {
        result.program, title, text(found.seconds, "%.1f"), text(overhead(found)),
        text(stats.median(found.wall)), text(found.fastest),
        sampled and ("%.0f"):format(found.samples) or "-",
        sampled and ("%.0f"):format(found.samples / found.seconds) or "-",
        sampled and text(found.disk / found.samples, "%.1f") or "-",
      }
    end
    if result.long then
      rows[#rows + 1] = {
        result.program, "the baseline", text(result.long, "%.1f"), "-", "-", "-", "-", "-", "-" }
    end
    add("off", point(result, "longoff"))
    for _, x in ipairs(settings.LONG) do add(settings.size(x), point(result, "long", x)) end
  end
  if #rows == 0 then return "" end
  return "## A long run, C and Lua stacks\n\n" .. markdown({ "program", "period", "CPU s", "overhead",
    "of wall time", "fastest", "samples", "samples/s", "bytes a sample" }, rows)
end

local function full_table(results)
  local rows = {}
  for _, result in ipairs(results) do
    for _, series in ipairs { "fullc", "fulllua" } do
      local found = point(result, series)
      if found then
        rows[#rows + 1] = {
          result.program, series == "fullc" and "C and Lua" or "Lua", text(overhead(found), "%.1f"),
          text(stats.median(found.wall), "%.1f"), ("%.0f"):format(found.samples),
          ("%.1f"):format(found.disk / 1e6), ("%.1f"):format(found.disk / found.samples),
        }
      end
    end
  end
  if #rows == 0 then return "" end
  return "## Full tracing: a sample for every 64 bytes\n\n" .. markdown({ "program", "stacks",
    "times slower, CPU", "wall", "samples", "file, MB", "bytes a sample" }, rows)
end

-- Returns the whole report as Markdown.
function evaluation.report(results)
  local parts = {
    programs_table(results),
    curve(results, "c", "Overhead against sampling period, C and Lua stacks (the paper's Figure 8)",
      overhead, true),
    curve(results, "c", "The same by the fastest run of each, which other processes disturb least",
      fastest),
    curve(results, "lua", "Overhead against sampling period, Lua stacks only"),
    normalised_table(results, {
      { series = "c", x = 32 * K, title = "32K, C stacks", paper = true },
      { series = "lua", x = 32 * K, title = "32K, Lua stacks" },
      { series = "exact", x = 1000, title = "time, 1000/s, exact" },
    }),
    curve(results, "time", "Overhead against rate of time samples (the paper's Figure 9)",
      overhead, true),
    curve(results, "exact", "Overhead against rate of time samples, an interrupt for each (exact=1)",
      overhead, true),
    disk_table(results), long_table(results), full_table(results),
  }
  local out = {}
  for _, each in ipairs(parts) do
    if each ~= "" then out[#out + 1] = each end
  end
  return table.concat(out, "\n")
end

-- Returns the header and the rows of the data file of a series, with one column per program.
function evaluation.matrix(results, series)
  local header, rows = { series }, {}
  for i, result in ipairs(results) do header[i + 1] = result.program end
  for i, x in ipairs(places(results, series)) do
    rows[i] = { ("%d"):format(x) }
    for j, result in ipairs(results) do
      local value = overhead(point(result, series, x))
      rows[i][j + 1] = value and ("%.4f"):format(value) or "?"
    end
  end
  return header, rows
end

-- Returns the header and the rows of a data file with all measured values.
function evaluation.all(results)
  local rows = {}
  for _, result in ipairs(results) do
    for _, each in ipairs(result.points) do
      local low, high = stats.range(each.cpu)
      rows[#rows + 1] = {
        result.program, each.series, each.x and ("%d"):format(each.x) or "?",
        ("%.4f"):format(stats.median(each.cpu)), ("%.4f"):format(low), ("%.4f"):format(high),
        ("%.4f"):format(each.fastest), ("%.4f"):format(stats.median(each.wall)),
        ("%.3f"):format(each.seconds),
        ("%.0f"):format(each.samples), ("%.0f"):format(each.timesamples), ("%.0f"):format(each.disk),
      }
    end
  end
  return { "program", "series", "x", "overhead", "low", "high", "fastest", "wall", "seconds", "samples",
    "timesamples", "disk" }, rows
end

-- Returns the header and the rows of the data file of Figure 10: for each program, how much a thousand
-- samples per second add to the CPU time (0.01 is 1%).
function evaluation.figure10(results)
  local rows = {}
  for _, result in ipairs(results) do
    local c, lua = point(result, "c", 32 * K), point(result, "lua", 32 * K)
    local exact, paper = point(result, "exact", 1000), evaluation.PAPER[result.program]
    local function cost(found)
      local value = found and select(2, evaluation.normalised(found))
      return value and ("%.5f"):format(value - 1) or "?"
    end
    rows[#rows + 1] = {
      result.program, cost(c), cost(lua), cost(exact), paper and ("%.2f"):format(paper.normalised - 1) or "?",
    }
  end
  return { "program", "C and Lua stacks", "Lua stacks", "time (exact)", "the paper, C stacks" }, rows
end

return evaluation
