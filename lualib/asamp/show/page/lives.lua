-- SPDX-License-Identifier: MIT
-- Data of the page of `asamp view` about lifetimes: likely leaks, lifetimes, live bytes over time, copies and
-- native memory, as in the report. Has no side effects: converts a profile with time slices (profile.bins) to
-- tables of at most ROWS lines. The tables always cover the whole run.

local copies = require "asamp.sums.copies"
local leaks = require "asamp.sums.leaks"
local showncopies = require "asamp.show.copies"
local showntrends = require "asamp.show.trends"
local native = require "asamp.sums.native"
local shownnative = require "asamp.show.native"
local shown = require "asamp.show.leaks"
local lifetimes = require "asamp.sums.lifetimes"
local trends = require "asamp.sums.trends"

local M = {}

local ROWS = 500
local PATHS = 5  -- largest number of paths of references in a row

-- Returns the profile with the number of time slices that asamp.sums.leaks expects: merges the shorter
-- slices of the page into those that the reader makes for that module.
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

-- Returns the paths to a row's samples, the largest first, as {text, share}; nil if there are none.
local function pathsof(holders)
  local list = {}
  for i = 1, holders and math.min(PATHS, #holders) or 0 do
    list[i] = {text = holders[i].text, share = holders[i].share}
  end
  return #list > 0 and list or nil
end

--- Returns {summary (a sentence; the reason if the profile lacks data), proved, rows, left (number of further
-- rows)}. 'proved' and most fields of a row are those of asamp.sums.leaks. Further fields: share (of the
-- line's samples, those kept), below (true: same group as the row above), holders (paths of references to
-- the kept objects: list of {text, share}; nil: unknown).
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

local function trendrows(list)
  local rows = {}
  for i = 1, math.min(ROWS, #list) do
    local row = list[i]
    rows[i] = {file = row.file, line = row.line, name = row.name, alive = row.alive[#row.alive],
               bars = showntrends.sparkline(row.alive, row.peak),
               growth = showntrends.growth(row)}
  end
  return rows
end

--- Returns two lists, the trends of lines and of functions: {{file, line, name, bars (one for each slice
-- of the run), alive (bytes at the end), growth (per hour, as text)}}; nil if the profile lacks data.
function M.trends(profile)
  local found = trends.of(M.coarse(profile))
  if not found then
    return nil
  end
  return trendrows(found.lines), trendrows(found.functions)
end

--- Returns {{file, line, bytes, share (copied more than once), advice (text; nil: none)}}; nil if
-- copies were not sampled.
function M.copies(profile)
  local found = copies.of(profile)
  local rows = {}
  for i = 1, found and math.min(ROWS, #found.lines) or 0 do
    local row = found.lines[i]
    rows[i] = {file = row.file, line = row.line, bytes = row.bytes, share = row.share,
               advice = row.quadratic and showncopies.advice(row) or nil}
  end
  return found and rows
end

--- Returns {summary (a sentence), rows}; nil: there are no samples of native memory. A row:
-- {library (its name), path, bytes, alive (nil: unknown), samples; file, line, name of the line
-- with most of its bytes, or nil}.
function M.native(profile)
  local found = native.of(M.coarse(profile))
  if not found or found.samples == 0 then
    return nil
  end
  local rows = {}
  for i = 1, math.min(ROWS, #found.libraries) do
    local row = found.libraries[i]
    rows[i] = {library = shownnative.library(row), path = row.library, bytes = row.bytes,
               alive = row.alive, samples = row.samples, file = row.file, line = row.line,
               name = row.name}
  end
  return {summary = shownnative.summary(found), rows = rows}
end

--- Returns rows of asamp.sums.lifetimes; none if the file has no deaths.
function M.lifetimes(profile)
  return lifetimes.of(profile) or {}
end

return M
