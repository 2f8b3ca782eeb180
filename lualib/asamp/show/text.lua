-- SPDX-License-Identifier: MIT
-- Renders a profile and its totals as the text of a report, with colours on request. Each section has its own
-- file; sections that the short report of `asamp run` lacks are loaded when they are shown.

local copies = require "asamp.show.copies"
local head = require "asamp.show.head"
local holders = require "asamp.show.holders"
local layout = require "asamp.show.layout"
local measures = require "asamp.sums.measures"
local native = require "asamp.show.native"
local tops = require "asamp.show.tops"
local totals = require "asamp.sums.totals"
local units = require "asamp.show.units"

local M = {}

-- {== sections ==============================================================

-- Returns a sentence about --own: the shares of all allocated bytes and of all time that are charged to its
-- code.
local function ownership(t, own)
  local parts = {}
  for _, part in ipairs{{own.samples, t.whole.samples, "of the allocated bytes"},
                        {own.timesamples, t.whole.timesamples, "of the time"}} do
    if part[2] > 0 then
      parts[#parts + 1] = units.percent(part[1], part[2]) .. " " .. part[3]
    end
  end
  return ("The code in %s, with the code that it called, accounts for %s. Called code counts for the line " ..
          "that called it; all other code counts for its own lines."):format(
    layout.clean(own.paths), table.concat(parts, ", "))
end

-- Explanations of the columns that divide a line's time: {title, explanation}.
local PASSED = {{"Lua", "in the line's own Lua code"}, {"C", "in C functions that it called"},
                {"GC", "in collections while it ran"}}

-- Returns the legend of the report, which explains the columns in use.
--
--   - shown: map from the name of a table to the set of its column titles
--   - own: explanation that comes first, or nil
--   - text: the report
local function legend(shown, own, text)
  local parts = {own}
  local function has(title, ...)
    for _, what in ipairs{...} do
      if shown[what] and shown[what][title] then return true end
    end
  end
  local function add(there, sentence)
    parts[#parts + 1] = there and sentence or nil
  end
  local functions, lines = has("self", "function"), has("self", "line")
  add(functions or lines, "self: bytes or time of " .. (functions and "the function itself" or "the line") ..
    (functions and lines and "; of a line" or "") ..
    (lines and ", with the C functions that it called" or "") .. ".")
  add(has("total", "function", "line", "caller"), "total: self and all functions called from there.")
  local clocks, passed = {}, {}
  for _, column in ipairs(PASSED) do
    if has(column[1], "line", "source") then
      clocks[#clocks + 1], passed[#passed + 1] = column[1], column[2]
    end
  end
  add(#clocks > 0, ("%s: share of all time spent %s."):format(
    table.concat(clocks, ", "), table.concat(passed, ", ")))
  local sites = {"function", "line", "type", "source"}
  if has("blocks", table.unpack(sites)) then
    add(true, "blocks: estimated number of blocks in self" ..
      (has("mean", table.unpack(sites)) and "; mean: their mean size." or "."))
  end
  local lived = has("lived", table.unpack(sites))
  add(lived, "lived: share of self that survived its first collection.")
  add(has("alive", table.unpack(sites)), "alive: share" .. (lived and "" or " of self") ..
    " that is still alive at the end.")
  add(text:find "%d[KMGTPE]%f[^%w]", "K, M, G: powers of 1024.")
  return table.concat(parts, " ")
end

--- Names of the report's sections, in display order.
M.SECTIONS = {"functions", "lines", "callers", "types", "trends", "copies", "native", "labels", "scripts",
              "states", "threads", "leaks", "holders", "lifetimes", "tree", "collections", "marks"}

--- Returns the report on the profile as text. 't': totals of the profile. Some options are results of modules
-- of asamp.sums, and have their names: leaks, lifetimes, copies, trends, native and verdict. The option
-- 'holders' is the result of verdict.held. Other options:
--
--   - show: set of the names of sections (M.SECTIONS)
--   - top: largest number of rows of each table
--   - color: true: with colours
--   - width: columns of the output
--   - brief: true: without explanations
--   - rows: number of terminal rows for the report; sections that do not fit are left out
--   - by: field of sums by which tables are sorted, and of which they show shares; nil: all measures
--   - cumulative: true: sorts by values with callees (total), not without (self)
--   - min, depth: options of asamp.sums.calltree
--   - label: label to which the profile is restricted
--   - bylabel: name of the label in the section "labels"
--   - within: lines for the values of this label (asamp.sums.labelled.within)
--   - focus: if the totals cover only a part of the profile: {title, exclude, range (texts, see head.lua),
--     entries (asamp.sums.focus.cover)}
--   - at: the time of --at, {seconds, inuse, native} (head.lua)
--   - source: a file of asamp.show.source; replaces the sections
--   - own: with --own: {paths, samples, timesamples}: numbers of samples charged to code below these paths
function M.render(profile, t, options)
  local style = {
    profile = profile, totals = t, top = options.top,
    paint = layout.painter(options.color), focus = options.focus,
    key = options.cumulative and "total" or "self",
    width = math.max(options.width or layout.WIDTH, layout.NARROW),
  }
  local fields = options.by and {options.by} or t.measures
  local shown = {}
  function style.explain(what, columns)
    shown[what] = shown[what] or {}
    for _, column in ipairs(columns) do
      shown[what][column.title] = true
    end
  end
  style.choice = options.by ~= nil or #fields > 1
  local lines = head.lines(profile, t, style, options)
  local heading = #lines
  local show = options.source and {lines = true} or options.show
  local used = options.rows and layout.rows(table.concat(lines, "\n"), style.width) or 0
  local function append(list)
    if options.rows and #list > 0 then
      used = used + layout.rows(table.concat(list, "\n"), style.width)
      if used > options.rows then
        return
      end
    end
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
      return append(require "asamp.show.source".lines(style, options.source))
    end
    for _, field in ipairs(fields) do
      if #totals.sorted(t.lines, field) > 0 then
        append(tops.lines(style, field))
      end
    end
  end
  function section.callers()
    for _, field in ipairs(options.focus and fields or {}) do
      append(tops.callers(style, require "asamp.sums.focus".callers(
        profile, options.focus.entries, t.sums, field), field))
    end
  end
  function section.types()
    if t.whole.samples > 0 then
      append(tops.types(style, options.by ~= "timesamples" and options.by
                                 or t.unit))
    end
  end
  for name, part in pairs{copies = copies, native = native, holders = holders} do
    section[name] = function() append(part.lines(style, options[name], options.brief)) end
  end
  function section.trends()
    append(require "asamp.show.trends".lines(style, options.trends, options.brief))
  end
  function section.leaks()
    append(require "asamp.show.leaks".lines(style, options.leaks, options.brief))
  end
  function section.lifetimes()
    append(require "asamp.show.lifetimes".lines(style, options.lifetimes, options.brief))
  end
  function section.labels()
    local labelled, labels = require "asamp.show.labelled", require "asamp.sums.labelled"
    local names, left = {options.bylabel}, 0
    if not options.bylabel then
      names, left = labels.names(profile, labels.MOST)
    end
    for _, name in ipairs(names) do
      append(labelled.lines(style, name))
      append(options.within and labelled.within(style, name, options.within) or {})
    end
    append(labelled.left(style, left))
  end
  local part = options.focus or options.label or options.at
  function section.scripts()
    append(profile.states and not options.focus and require "asamp.show.states".names(style, part) or {})
  end
  function section.states()
    append(profile.states and require "asamp.show.states".states(style, part) or {})
  end
  function section.threads()
    append(profile.threads and require "asamp.show.states".threads(style, part) or {})
  end
  function section.tree()
    local calltree, trees = require "asamp.sums.calltree", require "asamp.show.trees"
    for _, field in ipairs(fields) do
      append(trees.lines(style, calltree.rows(profile, t, field, options),
        field, "Call tree" ..
        (style.choice and ", by " .. measures.NAMES[field] or "")))
    end
  end
  function section.collections()
    append(require "asamp.show.timeline".collections(style))
  end
  function section.marks()
    append(require "asamp.show.timeline".marks(style))
  end
  if t.whole.samples + t.whole.timesamples > 0 then
    for _, name in ipairs(M.SECTIONS) do
      if show[name] then
        section[name]()
      end
    end
    local text = not options.brief and legend(shown, options.own and ownership(t, options.own),
                                              table.concat(lines, "\n", heading + 1)) or ""
    if text ~= "" then
      lines[#lines + 1] = ""
      lines[#lines + 1] = style.paint("dim",
                                      layout.wrap(text, "  ", style.width))
    end
  elseif show.collections and require "asamp.sums.events".collections(profile) then
    section.collections()
  end
  return table.concat(lines, "\n") .. "\n"
end

-- ==}

return M
