-- SPDX-License-Identifier: MIT
-- Formats the results of bench/run as Markdown. No side effects: takes rows (rounds.lua) and comparisons
-- (configs.lua), returns text. A ratio is the median of the ratios of all rounds; the smallest and the
-- largest one are in parentheses.

local report = {}

local stats = require "runner.stats"

-- peak RSS in bytes above which a program counts as big
local BIG = 10 * 1024 * 1024

local function table_of(header, lines)
  local out = { "| " .. table.concat(header, " | ") .. " |" }
  out[2] = "|" .. (" --- |"):rep(#header)
  for _, line in ipairs(lines) do out[#out + 1] = "| " .. table.concat(line, " | ") .. " |" end
  return table.concat(out, "\n") .. "\n"
end

local function ratios(row, comparison, key)
  return stats.ratios(row.figures[comparison.over][key], row.figures[comparison.under][key])
end

local function median_ratio(row, comparison, key)
  return stats.median(ratios(row, comparison, key))
end

-- Formats the ratios of all rounds: the median and the range, such as "1.234 (1.200..1.300)". If there is
-- one round, only its value.
function report.ratio(list)
  local low, high = stats.range(list)
  if #list == 1 then return ("%.3f"):format(list[1]) end
  return ("%.3f (%.3f..%.3f)"):format(stats.median(list), low, high)
end

local function rows_of(rows, group)
  local out = {}
  for _, row in ipairs(rows) do
    if row.program.groups[group] then out[#out + 1] = row end
  end
  return out
end

-- Returns a table with a row per program for the values named 'key' ("cpu", "rss", "instructions").
-- Columns: the value of the first configuration (of all, if shown.all is true), divided by shown.scale;
-- then for each comparison the ratio of these values, and the ratios of the values named in shown.others.
local function figures(rows, configs, comparisons, key, shown)
  local header = { "program" }
  for _, config in ipairs(shown.all and configs or { configs[1] }) do
    header[#header + 1] = config.name .. " " .. shown.unit
  end
  for _, comparison in ipairs(comparisons) do
    header[#header + 1] = comparison.title
    for _, other in ipairs(shown.others or {}) do header[#header + 1] = other end
  end
  local lines = {}
  for _, row in ipairs(rows) do
    local line = { row.program.name }
    for _, config in ipairs(shown.all and configs or { configs[1] }) do
      line[#line + 1] = shown.format:format(stats.median(row.figures[config][key]) / shown.scale)
    end
    for _, comparison in ipairs(comparisons) do
      line[#line + 1] = report.ratio(ratios(row, comparison, key))
      for _, other in ipairs(shown.others or {}) do
        line[#line + 1] = ("%.3f"):format(median_ratio(row, comparison, other))
      end
    end
    lines[#lines + 1] = line
  end
  return table_of(header, lines)
end

-- Returns a table with a row for each comparison in each group. It has the geometric mean of the ratios,
-- and the programs with the lowest and the highest ratio.
local function summary(rows, groups, comparisons, key)
  local lines = {}
  local function add(title, members)
    for _, comparison in ipairs(comparisons) do
      local values, lowest, highest = {}, nil, nil
      for i, row in ipairs(members) do
        local value = median_ratio(row, comparison, key)
        values[i] = value
        if not lowest or value < lowest.value then lowest = { value = value, row = row } end
        if not highest or value > highest.value then highest = { value = value, row = row } end
      end
      lines[#lines + 1] = {
        title, comparison.title, #values, ("%.3f"):format(stats.geomean(values)),
        ("%.3f %s"):format(lowest.value, lowest.row.program.name),
        ("%.3f %s"):format(highest.value, highest.row.program.name),
      }
    end
  end
  for _, group in ipairs(groups) do
    local members = rows_of(rows, group)
    if #members > 0 then add(group, members) end
  end
  return table_of({ "group", "ratio", "programs", "geometric mean", "lowest", "highest" }, lines)
end

-- Returns the comparisons for memory, where a ratio above 1 means that more memory is used than by the
-- baseline. For some of them, 'over' and 'under' must be exchanged.
local function memory_comparisons(comparisons)
  local out = {}
  for i, comparison in ipairs(comparisons) do
    if comparison.good == "high" then
      out[i] = { title = comparison.under.name .. "/" .. comparison.over.name,
        over = comparison.under, under = comparison.over }
    else
      out[i] = comparison
    end
  end
  return out
end

local function big(rows, configs)
  local out = {}
  for _, row in ipairs(rows) do
    if stats.median(row.figures[configs[1]].rss) > BIG then out[#out + 1] = row end
  end
  return out
end

-- Returns the whole report of a run that measured time. 'counted' is true if instructions were counted,
-- too.
function report.timed(rows, configs, comparisons, groups, counted)
  local memory = memory_comparisons(comparisons)
  local out = {}
  local function add(title, text)
    out[#out + 1] = title .. "\n"
    out[#out + 1] = text
  end
  add("## CPU time", figures(rows, configs, comparisons, "cpu", {
    unit = "s", scale = 1, format = "%.2f",
    others = counted and { "wall", "instructions" } or { "wall" },
  }))
  add("### By group", summary(rows, groups, comparisons, "cpu"))
  if counted then
    add("### Instructions by group", summary(rows, groups, comparisons, "instructions"))
  end
  add("## Peak RSS", figures(rows, configs, memory, "rss",
    { unit = "MB", scale = 1e6, format = "%.1f", all = true }))
  local large = big(rows, configs)
  if #large > 0 and #memory > 0 then
    add(("### Programs over 10 MiB under %s"):format(configs[1].name),
      summary(large, groups, memory, "rss"))
  end
  return table.concat(out, "\n")
end

function report.counted(rows, configs, comparisons, groups)
  return table.concat({
    "## Instructions\n",
    figures(rows, configs, comparisons, "instructions",
      { unit = "M", scale = 1e6, format = "%.1f", all = true }),
    "### By group\n",
    summary(rows, groups, comparisons, "instructions"),
  }, "\n")
end

return report
