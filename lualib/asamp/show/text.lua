-- SPDX-License-Identifier: MIT
-- A profile and its totals in, the report as text out: as wide as it is told,
-- readable without knowing the file's format. Pure; colours on request. Head and
-- sections are in files of their own.

local calltree = require "asamp.sums.calltree"
local events = require "asamp.sums.events"
local copies = require "asamp.show.copies"
local focus = require "asamp.sums.focus"
local head = require "asamp.show.head"
local labelled = require "asamp.show.labelled"
local labels = require "asamp.sums.labelled"
local layout = require "asamp.show.layout"
local leaks = require "asamp.show.leaks"
local lifetimes = require "asamp.show.lifetimes"
local measures = require "asamp.sums.measures"
local native = require "asamp.show.native"
local source = require "asamp.show.source"
local states = require "asamp.show.states"
local timeline = require "asamp.show.timeline"
local tops = require "asamp.show.tops"
local totals = require "asamp.sums.totals"
local trees = require "asamp.show.trees"
local trends = require "asamp.show.trends"
local units = require "asamp.show.units"

local M = {}

-- {== sections ==============================================================

-- A sentence on --own: how many of the samples are charged to which code.
local function ownership(t, own)
  local parts = {}
  for _, part in ipairs{{own.samples, t.whole.samples, "of what was allocated"},
                        {own.timesamples, t.whole.timesamples, "of the time"}} do
    if part[2] > 0 then
      parts[#parts + 1] = units.percent(part[1], part[2]) .. " " .. part[3]
    end
  end
  return ("Charged to the code in %s that ran it, or called what did: %s. The rest is " ..
          "where it was."):format(own.paths, table.concat(parts, ", "))
end

local function legend(p, t, show, own)
  local parts = {own and ownership(t, own)}
  if show.functions or show.lines then
    parts[#parts + 1] = "self: of functions, by the function itself; of lines, by the " ..
      "line and the C functions it called. total: self and all that was " ..
      "called from there."
    if t.whole.timesamples > 0 and show.lines then
      parts[#parts + 1] = "Lua, C, GC: share of all time that passed at the " ..
        "line, in C functions it called, in collections then."
    end
  end
  local sites = show.functions or show.lines or show.types
  if sites and t.whole.objects > 0 then
    parts[#parts + 1] = "blocks: about how many, of self; mean: their mean size."
  end
  if sites and t.whole.samples > 0 then
    parts[#parts + 1] = "lived: share of self that survived its first " ..
      "collection." .. (measures.tellsdeaths(p) and
      " alive: share that no later collection has found dead." or "")
  end
  if t.unit == "bytes" then
    parts[#parts + 1] = "K, M, G: powers of 1024."
  end
  return table.concat(parts, " ")
end

--- The sections there are, in the order in which they are shown.
M.SECTIONS = {"functions", "lines", "callers", "types", "trends", "copies", "native", "labels", "scripts",
              "states", "threads", "leaks", "lifetimes", "tree", "collections", "marks"}

--- The report. 'options': bylabel (the label of the section labels; nil: all), label (text:
-- what the profile was restricted to), top (rows of each table), color, width, show (set
-- of sections), by (field to sort by and take shares of; nil: all that the
-- totals have), cumulative (sort by total instead of self), brief (no
-- explanations), source (a file of asamp.show.source, in place of the sections), own
-- ({paths, samples, timesamples}: these are charged to code there), at (head.lua), leaks (what
-- asamp.sums.leaks has found), lifetimes (rows of asamp.sums.lifetimes), copies (of
-- asamp.sums.copies), trends (of asamp.sums.trends), native (of asamp.sums.native), min and depth
-- (asamp.sums.calltree's), focus ({title, entries}: the totals cover only a part).
function M.render(profile, t, options)
  local style = {
    profile = profile, totals = t, top = options.top,
    paint = layout.painter(options.color), focus = options.focus,
    key = options.cumulative and "total" or "self",
    width = math.max(options.width or layout.WIDTH, layout.NARROW),
  }
  local fields = options.by and {options.by} or t.measures
  style.choice = options.by ~= nil or #fields > 1
  local lines = head.lines(profile, t, style, options)
  local show = options.source and {lines = true} or options.show
  local function append(list)
    table.move(list, 1, #list, #lines + 1, lines)
  end
  local section = {}
  function section.functions()
    for _, field in ipairs(fields) do
      append(tops.functions(style, field))
    end
  end
  function section.lines()
    if options.source then
      return append(source.lines(style, options.source))
    end
    for _, field in ipairs(fields) do
      if #totals.sorted(t.lines, field) > 0 then
        append(tops.lines(style, field))
      end
    end
  end
  function section.callers()
    for _, field in ipairs(options.focus and fields or {}) do
      append(tops.callers(style, focus.callers(
        profile, options.focus.entries, t.sums, field), field))
    end
  end
  function section.types()
    if t.whole.samples > 0 then
      append(tops.types(style, options.by ~= "timesamples" and options.by
                                 or t.unit))
    end
  end
  for name, part in pairs{trends = trends, copies = copies, native = native, leaks = leaks,
                          lifetimes = lifetimes} do
    section[name] = function() append(part.lines(style, options[name], options.brief)) end
  end
  function section.labels()
    for _, name in ipairs(options.bylabel and {options.bylabel} or labels.names(profile)) do
      append(labelled.lines(style, name))
    end
  end
  function section.scripts()
    append(profile.states and not options.focus and states.names(style) or {})
  end
  function section.states()
    append(profile.states and states.states(style) or {})
  end
  function section.threads()
    append(profile.threads and states.threads(style) or {})
  end
  function section.tree()
    for _, field in ipairs(fields) do
      append(trees.lines(style, calltree.rows(profile, t, field, options),
        field, "Call tree" ..
        (style.choice and ", by " .. measures.NAMES[field] or "")))
    end
  end
  function section.collections()
    append(timeline.collections(style))
  end
  function section.marks()
    append(timeline.marks(style))
  end
  if t.whole.samples + t.whole.timesamples > 0 then
    for _, name in ipairs(M.SECTIONS) do
      if show[name] then
        section[name]()
      end
    end
    local text = not options.brief and legend(profile, t, show, options.own) or ""
    if text ~= "" then
      lines[#lines + 1] = ""
      lines[#lines + 1] = style.paint("dim",
                                      layout.wrap(text, "  ", style.width))
    end
  elseif events.collections(profile) and show.collections then
    append(timeline.collections(style))
  end
  return table.concat(lines, "\n") .. "\n"
end

-- ==}

return M
