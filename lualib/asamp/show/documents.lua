-- SPDX-License-Identifier: MIT
-- The documents of --json, as tables for json.lua. Users' scripts read the keys: do not remove a key or
-- change its meaning.

local calltree = require "asamp.sums.calltree"
local events = require "asamp.sums.events"
local labelled = require "asamp.sums.labelled"
local states = require "asamp.sums.states"
local units = require "asamp.show.units"
local verdict = require "asamp.show.verdict"

local M = {}

local HEAD = {
  "path", "command", "complete", "message", "version", "interpreter", "period", "periods",
  "malloc", "random", "fates", "started", "duration", "samples", "bytes", "allocated", "survived",
  "survivedbytes", "later", "laterbytes", "followed", "unfollowed", "undecided",
  "undetailed", "timesamples", "timeperiod", "timeperiods", "wall", "cpu", "minors", "majors",
  "walks", "walked", "longestwalk", "ring", "alone",
}

-- Fields about the whole run: omitted with --from, --until and --exclude.
local WHOLE = {"collections", "marks", "minors", "majors", "walks", "walked", "longestwalk", "allocated"}

-- Limit of the rows of each list without --top, because a hostile profile can have half a million rows, whose
-- text would take minutes. A line with several functions counts as a row for each.
local ROWS = 1 << 14
M.ROWS = ROWS

local function first(list, n)
  return table.move(list, 1, math.min(#list, n), 1, {})
end

-- Returns the first entries of a list: as many as 'top'. If 'top' is nil, returns as many entries as have
-- about ROWS rows together, and adds the number of the omitted entries to left.count.
local function limited(list, top, left)
  local n, rows = 0, 0
  while not top and n < #list and rows < ROWS do
    n = n + 1
    rows = rows + math.max(1, #(type(list[n]) == "table" and list[n].functions or {}))
  end
  if not top then
    left.count = left.count + (list.n or #list) - n
  end
  return first(list, top or n)
end

-- Returns an element of the document's list "left", which describes omitted data. This element has the number
-- of the omitted rows, left.count.
local function leftof(left)
  local text = ("without --top, a list has at most %s rows: %s rows are left out; --top N lists N rows")
  return {what = "rows", limit = ROWS, count = left.count,
          text = text:format(units.count(ROWS), units.count(left.count))}
end

local function verdictof(v, profile)
  if v then
    local doc = {sentences = verdict.sentences(v, profile)}
    for key, value in pairs(v) do
      doc[key] = value
    end
    return doc
  end
end

-- Returns the rows of the values of labels (labelled.all), up to 'top' for each label. Adds the number of
-- rows beyond ROWS to left.count. Returns nil if there are no labels, or if --exclude is given.
local function labelsof(profile, top, left, exclude)
  local all, n = labelled.all(profile, top, ROWS)
  left.count = left.count + (exclude and 0 or n)
  return not exclude and all or nil
end

--- Returns the report of a profile and its totals ('t'), with the call tree if 'options' request it. 'top':
-- rows of each list (nil: up to ROWS). 'options': those of asamp.show.text.render.
function M.report(profile, t, top, options)
  local doc, left = {unit = t.unit, whole = t.whole}, {count = 0}
  for _, key in ipairs(HEAD) do
    doc[key] = profile[key]
  end
  for _, key in ipairs{"functions", "lines", "types"} do
    doc[key] = limited(t[key], top, left)
  end
  doc.begun = profile.states and profile.begun
  if profile.states and not (options.focus or options.label or options.at) then
    doc.states, doc.threads = limited(states.states(profile), top, left),
                              limited(states.threads(profile), top, left)
  end
  doc.range = options.range
  doc.exclude = options.focus and options.focus.exclude
  doc.labels, doc.label = labelsof(profile, top, left, doc.exclude), options.label
  doc.collections = events.collections(profile)
  doc.marks = limited(events.marks(profile), top, left)
  if doc.range or doc.exclude then
    for _, key in ipairs(WHOLE) do
      doc[key] = nil
    end
  end
  doc.leaks, doc.lifetimes = options.leaks, options.lifetimes
  doc.verdict, doc.holders = verdictof(options.verdict, profile), limited(options.holders or {}, top, left)
  doc.lifelines = limited(options.lifelines or {}, top, left)
  for _, name in ipairs{"copies", "native"} do
    for key, value in pairs(options[name] or {}) do
      doc[name] = doc[name] or {}
      doc[name][key] = type(value) == "table" and limited(value, top, left) or value
    end
  end
  if options.trends then
    doc.trends = {seconds = options.trends.seconds, whole = options.trends.whole,
                  lines = limited(options.trends.lines, top, left),
                  functions = limited(options.trends.functions, top, left)}
  end
  doc.own, doc.at = options.own, options.at
  if options.source then
    doc.source = {file = options.source.name, text = options.source.text,
                  lines = options.source.rows, changed = options.source.changed}
  end
  if options.show.tree then
    doc.tree = {}
    for _, field in ipairs(options.by and {options.by} or t.measures) do
      doc.tree[field] = calltree.nested(profile, t, field, options)
    end
  end
  doc.left = profile.left
  if left.count > 0 then
    doc.left = table.move(profile.left or {}, 1, #(profile.left or {}), 1, {})
    doc.left[#doc.left + 1] = leftof(left)
  end
  return doc
end

--- Returns the comparison of profiles a and b as a table.
--
--   - results: list of results of asamp.sums.compare, one for each measure
--   - top: largest number of rows in a list; nil: ROWS
function M.diff(a, b, results, top)
  local measures, left = {}, {count = 0}
  for i, result in ipairs(results) do
    measures[i] = {}
    for key, value in pairs(result) do
      measures[i][key] = type(value) == "table" and limited(value, top, left) or value
    end
  end
  return {a = a.path, b = b.path, measures = measures, left = left.count > 0 and {leftof(left)} or nil}
end

return M
