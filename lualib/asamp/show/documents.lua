-- SPDX-License-Identifier: MIT
-- The documents of --json, as tables for json.lua. Users' scripts read the keys: do not remove a key or
-- change its meaning.

local calltree = require "asamp.sums.calltree"
local events = require "asamp.sums.events"
local labelled = require "asamp.sums.labelled"
local states = require "asamp.sums.states"
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

-- Returns the first n entries of a list; n = nil: all.
local function first(list, n)
  return table.move(list, 1, math.min(#list, n or #list), 1, {})
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

--- Returns the report of a profile and its totals ('t'), with the call tree if 'options' request it.
-- 'top': rows of each list (nil: all); 'options': as for asamp.show.text.render.
function M.report(profile, t, top, options)
  local doc = {unit = t.unit, whole = t.whole}
  for _, key in ipairs(HEAD) do
    doc[key] = profile[key]
  end
  for _, key in ipairs{"functions", "lines", "types"} do
    doc[key] = first(t[key], top)
  end
  doc.begun = profile.states and profile.begun
  if profile.states and not (options.focus or options.label or options.at) then
    doc.states, doc.threads = first(states.states(profile), top), first(states.threads(profile), top)
  end
  doc.left = profile.left
  doc.range = options.range
  doc.exclude = options.focus and options.focus.exclude
  doc.labels, doc.label = not doc.exclude and labelled.all(profile, top) or nil, options.label
  doc.collections = events.collections(profile)
  doc.marks = first(events.marks(profile), top)
  if doc.range or doc.exclude then
    for _, key in ipairs(WHOLE) do
      doc[key] = nil
    end
  end
  doc.leaks, doc.lifetimes = options.leaks, options.lifetimes
  doc.verdict, doc.holders = verdictof(options.verdict, profile), first(options.holders or {}, top)
  doc.lifelines = first(options.lifelines or {}, top)
  for _, name in ipairs{"copies", "native"} do
    for key, value in pairs(options[name] or {}) do
      doc[name] = doc[name] or {}
      doc[name][key] = type(value) == "table" and first(value, top) or value
    end
  end
  if options.trends then
    doc.trends = {seconds = options.trends.seconds, whole = options.trends.whole,
                  lines = first(options.trends.lines, top),
                  functions = first(options.trends.functions, top)}
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
  return doc
end

--- Returns the comparison of profiles a and b as a table.
--
--   - results: list of results of asamp.sums.compare, one for each measure
--   - top: largest number of rows in a list; nil: all
function M.diff(a, b, results, top)
  local measures = {}
  for i, result in ipairs(results) do
    measures[i] = {}
    for key, value in pairs(result) do
      measures[i][key] = type(value) == "table" and first(value, top) or value
    end
  end
  return {a = a.path, b = b.path, measures = measures}
end

return M
