-- SPDX-License-Identifier: MIT
-- Data of the page of `asamp view` about lifetimes: likely leaks, lifetimes, live bytes over time, copies and
-- native memory, as in the report. Converts a profile with time slices (profile.bins) to tables of at most
-- ROWS lines. The tables always cover the whole run.

local copies = require "asamp.sums.copies"
local leaks = require "asamp.sums.leaks"
local showncopies = require "asamp.show.copies"
local showntrends = require "asamp.show.trends"
local native = require "asamp.sums.native"
local shownnative = require "asamp.show.native"
local shown = require "asamp.show.leaks"
local lifetimes = require "asamp.sums.lifetimes"
local trends = require "asamp.sums.trends"
local units = require "asamp.show.units"

local M = {}

local ROWS = 500
local PATHS = 5  -- largest number of holders that are shown for one line

-- Returns the profile with fewer time slices: merges neighbours until there are at most leaks.BINS, because
-- asamp.sums.leaks requires that. The timeline of the page has more slices.
function M.coarse(profile)
  local from, step = profile.bins, 1
  if not from then
    return profile
  end
  while (from.n + step - 1) // step > leaks.BINS do
    step = step * 2
  end
  local bins = {bin = {}, n = (from.n + step - 1) // step, width = from.width * step}
  for i, bin in ipairs(from.bin) do
    bins.bin[i] = bin // step
  end
  return setmetatable({bins = setmetatable(bins, {__index = from})}, {__index = profile})
end

-- Returns the first PATHS holders (paths of references) that keep a line's live samples alive, as a list of
-- {text, share}, the largest share first. Returns nil if the holders are unknown.
local function pathsof(holders)
  local list = {}
  for i = 1, holders and math.min(PATHS, #holders) or 0 do
    list[i] = {text = holders[i].text, share = holders[i].share}
  end
  return #list > 0 and list or nil
end

--- Returns the likely leaks as a table:
--
--   - summary: a sentence: how the heap grew, or which data the profile lacks
--   - proved: true: the profile shows which survivors died later
--   - left: number of omitted rows
--   - rows: a row for each line. Fields of a row:
--     - file, line, name, native, kept, keptbytes, parts, of, type: as in the rows of asamp.sums.leaks
--     - share: share of the line's samples that is alive
--     - below: true: the row belongs to the same group as the previous one
--     - holders: the references that keep the samples alive, list of {text, share}; nil: unknown
function M.leaks(profile)
  local found, lacks = leaks.of(M.coarse(profile))
  if not found then
    return {summary = "The profile cannot show likely leaks: " .. lacks, rows = {}, left = 0}
  end
  local rows = {}
  for i = 1, math.min(ROWS, #found.rows) do
    local row = found.rows[i]
    rows[i] = {file = row.file, line = row.line, name = row.name, native = row.native, kept = row.kept,
               keptbytes = row.keptbytes, share = row.kept / row.samples,
               parts = row.parts, of = row.of, type = row.type,
               below = i > 1 and row.group == found.rows[i - 1].group,
               holders = pathsof(row.holders)}
  end
  return {summary = shown.summary(found), proved = found.proved, rows = rows,
          left = #found.rows - #rows}
end

-- Returns the number of rows of a list that a table shows. If the table omits some, appends a sentence to the
-- list 'left'. 'plural': plural noun for the rows, for this sentence.
local function fitting(list, left, plural)
  if #list > ROWS then
    left[#left + 1] = ("The page has only the %d largest of %s %s."):format(ROWS, units.count(#list), plural)
  end
  return math.min(ROWS, #list)
end

local function trendrows(found, list, left, plural)
  local rows, unit = {}, select(2, showntrends.unit(found))
  for i = 1, fitting(list, left, plural) do
    local row = list[i]
    local growth = showntrends.growth(row, found)
    rows[i] = {file = row.file, line = row.line, name = row.name, alive = row.alive[#row.alive],
               bars = showntrends.sparkline(row.alive, row.peak),
               growth = growth == "level" and growth or growth .. " per " .. unit}
  end
  return rows
end

--- Returns two lists of rows: the trends of live bytes by line and by function. Returns nil if the profile
-- lacks data. Appends sentences about omitted rows to the list 'left'. Fields of a row:
--
--   - file, line, name: the line, or the function with the line of its definition
--   - bars: live bytes in each time slice, as a text of bar characters
--   - alive: bytes at the end
--   - growth: text of the growth, such as "+1.2M ±0.1M per second"
function M.trends(profile, left)
  local found = trends.of(M.coarse(profile))
  if not found then
    return nil
  end
  return trendrows(found, found.lines, left, "lines with a trend"),
         trendrows(found, found.functions, left, "functions with a trend")
end

--- Returns a list of the lines that copy bytes into strings, buffers or tables, or nil if copies were not
-- sampled. Appends a sentence about omitted lines to the list 'left'. Fields of a line:
--
--   - file, line: path of the file, and number of the line
--   - bytes: copied bytes
--   - share: part of these bytes that had been copied before, or was copied because a buffer or table grew
--   - advice: text, or nil
function M.copies(profile, left)
  local found = copies.of(profile)
  local rows = {}
  for i = 1, found and fitting(found.lines, left, "lines that copy") or 0 do
    local row = found.lines[i]
    rows[i] = {file = row.file, line = row.line, bytes = row.bytes, share = row.share,
               advice = row.quadratic and showncopies.advice(row) or nil}
  end
  return found and rows
end

--- Returns the native memory that libraries requested, or nil if there are no samples of it. Appends a
-- sentence about omitted libraries to the list 'left'. Fields:
--
--   - summary: a sentence
--   - whole: bytes of all libraries, including omitted ones
--   - rows: a row for each library. Fields of a row:
--     - library, path: name and path of the library
--     - samples, bytes: samples of memory that it requested, and the bytes that they represent
--     - alive: bytes at the end; nil: unknown
--     - file, line, name: the Lua line with most of the bytes, or nil
function M.native(profile, left)
  local found = native.of(M.coarse(profile))
  if not found or found.samples == 0 then
    return nil
  end
  local rows = {}
  for i = 1, fitting(found.libraries, left, "libraries with native memory") do
    local row = found.libraries[i]
    rows[i] = {library = shownnative.library(row), path = row.library, bytes = row.bytes,
               alive = row.alive, samples = row.samples, file = row.file, line = row.line,
               name = row.name}
  end
  return {summary = shownnative.summary(found), whole = found.bytes, rows = rows}
end

--- Returns rows about how long blocks lived (asamp.sums.lifetimes), or {} if the profile does not record when
-- they died.
function M.lifetimes(profile)
  return lifetimes.of(profile) or {}
end

return M
