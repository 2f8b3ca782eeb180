-- SPDX-License-Identifier: MIT
-- A profile and its totals in, the report as text out: as wide as it is told,
-- readable without knowing the file's format. Pure; colours on request. The
-- head is here, the sections are in files of their own.

local calltree = require "asamp.calltree"
local events = require "asamp.events"
local focus = require "asamp.focus"
local layout = require "asamp.layout"
local tables = require "asamp.tables"
local timeline = require "asamp.timeline"
local totals = require "asamp.totals"
local trees = require "asamp.trees"
local units = require "asamp.units"

local M = {}

-- {== head ==================================================================

local function amount(p, t)
  local time = p.duration > 0 and " in " .. units.seconds(p.duration) or ""
  if t.unit == "bytes" then
    local rate = p.duration > 0 and
      (" (%s/s)"):format(units.bytes(t.whole.bytes // p.duration | 0)) or ""
    return ("%s allocated%s%s, estimated from %s."):format(
      units.bytes(t.whole.bytes), time, rate,
      units.plural(t.whole.samples, "sample"))
  end
  return units.plural(t.whole.samples, "sample") .. time .. "."
end

-- What a sample of an allocation, and so every number of it, means.
local function meaning(p, t)
  if t.unit ~= "bytes" then
    return "The file does not tell how many bytes a sample stands for: the " ..
           "report counts samples."
  end
  local size = units.bytes(p.period)
  local text = ("One sample stands for %s: it shows who allocated when %s " ..
                "had been allocated since the one before%s. "):format(
    size, size, p.random and " (on average, at random)" or "")
  if p.periods > 0 then
    text = ("The first samples stand for %s each, later ones for other " ..
            "sizes, as the period was set %s during the run; a sample shows " ..
            "who allocated when that much had been allocated. "):format(
      size, units.plural(p.periods, "time"))
  end
  return text .. "A row of n samples is right to about 1 part in √n (100 " ..
         "samples: 10%)."
end

local function survival(p, t)
  local decided = t.whole.samples - t.whole.undecided
  if not p.fates or decided == 0 then
    return nil
  end
  local text = ("Of what was sampled %s survived its first collection")
    :format(units.percent(t.whole.survived, decided))
  if totals.tellsdeaths(p) then
    text = text .. (": %s died later, %s was alive at the end%s."):format(
      units.percent(t.whole.later, decided),
      units.percent(t.whole.alive, decided),
      p.majors == 0 and
      ", as no major collection has come to look at it again" or "")
  else
    text = text .. "."
  end
  if totals.tellsdeaths(p) and p.unfollowed > 0 then
    text = text .. (" Of %s that survived it is not known when they died: " ..
      "more than %s were alive at once."):format(
      units.plural(p.unfollowed, "sample"), units.count(p.followed))
  end
  if t.whole.undecided > 0 then
    text = text .. (" %s had no collection before the end."):format(
      units.plural(t.whole.undecided, "sample"))
  end
  return text
end

local function timing(p, t)
  local n = t.whole.timesamples
  if n == 0 then
    return nil
  end
  -- what several periods have in common is one observation
  local independent = math.max(1, math.floor(totals.observations(t.whole) + 0.5))
  local text = units.plural(independent, "sample") .. " of time"
  if (p.timeperiod or 0) > 0 then
    text = ("%s of %stime, from %s of %s%s"):format(
      units.seconds(n * p.timeperiod), p.wall and "wall " or p.own and "CPU "
      or "", units.plural(independent, "sample"),
      units.seconds(n * p.timeperiod / independent),
      independent == 1 and "" or independent == n and " each" or " on average")
  end
  return ("%s: %s in Lua, %s in C, %s in collections."):format(text,
    units.percent(n - t.whole.nativesamples - t.whole.gcsamples, n),
    units.percent(t.whole.nativesamples, n),
    units.percent(t.whole.gcsamples, n))
end

local function collected(p)
  local n = p.minors + p.majors
  if n == 0 then
    return nil
  end
  local last = p.collections[#p.collections]
  local text = ("%s (%s minor, %s major)"):format(
    units.plural(n, "collection"), units.count(p.minors),
    units.count(p.majors))
  if last and last.inuse > 0 then
    text = text .. ("; after the last one %s in use, %s held"):format(
      units.bytes(last.inuse), units.bytes(last.held))
  end
  return text .. "."
end

local function head(p, t, style, options)
  local paint, width = style.paint, style.width
  local lines = {paint("bold", layout.cutend(layout.clean(p.path), width))}
  if p.command then
    lines[#lines + 1] = paint("dim",
      layout.cutend(layout.clean(p.command), width))
  end
  if options.focus then
    lines[#lines + 1] = paint("yellow", layout.cutend(
      "only samples with " .. layout.clean(options.focus.title) ..
      " on their stack", width))
  end
  lines[#lines + 1] = ""
  local sentences = {}
  if t.whole.samples > 0 or t.whole.timesamples == 0 then
    sentences[1] = amount(p, t)
    sentences[2] = not options.brief and t.whole.samples > 0
                   and meaning(p, t) or nil
    sentences[#sentences + 1] = survival(p, t)
  end
  sentences[#sentences + 1] = timing(p, t)
  sentences[#sentences + 1] = not options.focus and collected(p) or nil
  if p.undetailed > 0 then
    sentences[#sentences + 1] = ("%s came without size and fate: the file " ..
      "is cut."):format(units.plural(p.undetailed, "sample"))
  end
  for i, sentence in ipairs(sentences) do
    lines[#lines + 1] = paint(i == 1 and "bold" or "plain",
                              layout.wrap(sentence, "  ", width))
  end
  return lines
end

-- ==}

-- {== sections ==============================================================

local function leaksection(style, found)
  if not found then
    return {}
  end
  local low = ("The least in use went from %s in the second quarter of the " ..
               "session to %s in the last"):format(
    units.bytes(found.before), units.bytes(found.after))
  if #found.rows > 0 then
    local lines = tables.leaks(style, found)
    table.insert(lines, 3, layout.wrap(low .. ", and all through it these " ..
      "lines allocated what " .. (found.proved
      and "no major collection has found dead:" or "survived:"), "  ",
      style.width))
    return lines
  end
  local text = found.grew and not found.kept
    and ("None stands out: %s; %s survived their first collection in the " ..
         "second half, and most of that died later."):format(
      (low:gsub("^The", "the", 1)), units.bytes(found.late))
    or found.grew and low .. ", but no line stands out among what " ..
      (found.proved and "is alive." or "survived.")
    or "None: the heap does not grow. " .. low .. "."
  return {"", style.paint("bold", "Likely leaks"),
          layout.wrap(text, "  ", style.width)}
end

local function legend(p, t, show)
  local parts = {}
  if show.functions or show.lines then
    parts[1] = "own: of functions, by the function itself; of lines, by the " ..
      "line and the C functions it called. total: own and all that was " ..
      "called from there."
    if t.whole.timesamples > 0 and show.lines then
      parts[#parts + 1] = "Lua, C, GC: share of all time that passed at the " ..
        "line, in C functions it called, in collections then."
    end
  end
  if t.whole.samples > 0 then
    parts[#parts + 1] = "lived: share of own that survived its first " ..
      "collection." .. (totals.tellsdeaths(p) and
      " alive: share that no later collection has found dead." or "")
  end
  if t.unit == "bytes" then
    parts[#parts + 1] = "K, M, G: powers of 1024."
  end
  return table.concat(parts, " ")
end

--- The sections there are, in the order in which they are shown.
M.SECTIONS = {"functions", "lines", "callers", "types", "leaks", "lifetimes",
              "tree", "collections", "marks"}

--- The report. 'options': top (rows of each table), color, width, show (set
-- of sections), by (field to sort by and take shares of; nil: all that the
-- totals have), cumulative (sort by total instead of own), brief (no
-- explanations), leaks (asamp.leaks' rows), lifetimes (asamp.lifetimes' rows),
-- min and depth (asamp.calltree's),
-- focus ({title, entries}: the totals cover only a part).
function M.render(profile, t, options)
  local style = {
    profile = profile, totals = t, top = options.top,
    paint = layout.painter(options.color), focus = options.focus,
    key = options.cumulative and "total" or "own",
    width = math.max(options.width or layout.WIDTH, layout.NARROW),
  }
  local fields = options.by and {options.by} or t.measures
  style.choice = options.by ~= nil or #fields > 1
  local lines = head(profile, t, style, options)
  local show = options.show
  local function append(list)
    table.move(list, 1, #list, #lines + 1, lines)
  end
  local section = {}
  function section.functions()
    for _, field in ipairs(fields) do
      append(tables.functions(style, field))
    end
  end
  function section.lines()
    for _, field in ipairs(fields) do
      if #totals.sorted(t.lines, field) > 0 then
        append(tables.lines(style, field))
      end
    end
  end
  function section.callers()
    for _, field in ipairs(options.focus and fields or {}) do
      append(tables.callers(style, focus.callers(
        profile, options.focus.entries, t.sums, field), field))
    end
  end
  function section.types()
    if t.whole.samples > 0 then
      append(tables.types(style, options.by ~= "timesamples" and options.by
                                 or t.unit))
    end
  end
  function section.leaks()
    append(leaksection(style, options.leaks))
  end
  function section.lifetimes()
    if options.lifetimes and #options.lifetimes > 0 then
      append(tables.lifetimes(style, options.lifetimes))
      if not options.brief then
        lines[#lines + 1] = style.paint("dim", layout.wrap(
          "lived for: bytes that were allocated between birth and death, " ..
          "which a major collection tells; alive: at the end.", "  ",
          style.width))
      end
    end
  end
  function section.tree()
    for _, field in ipairs(fields) do
      append(trees.lines(style, calltree.rows(profile, t, field, options),
        field, "Call tree" ..
        (style.choice and ", by " .. totals.NAMES[field] or "")))
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
    local text = not options.brief and legend(profile, t, show) or ""
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
