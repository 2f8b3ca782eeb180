-- SPDX-License-Identifier: MIT
-- The report's sections of collections and markers: results of asamp.sums.events as lines of text.
-- 'style': settings of the report (tables.lua).

local events = require "asamp.sums.events"
local layout = require "asamp.show.layout"
local units = require "asamp.show.units"

local M = {}

local function time(us)
  return units.shorttime(us / 1e6)
end

local function bars(levels)
  local most, parts = 0, {}
  for _, level in ipairs(levels) do
    most = math.max(most, level)
  end
  for i, level in ipairs(levels) do
    parts[i] = layout.BARS[most > 0 and math.max(1, math.ceil(8 * level / most)) or 1]
  end
  return table.concat(parts)
end

-- Returns a clause about the pauses p (asamp.sums.events): their share of the session's time. If there are
-- several OS threads, returns the number of threads instead, because their pauses overlap.
local function share(profile, p)
  local threads = #(profile.threads or {})
  if threads > 1 then
    return (", in %d OS threads"):format(threads)
  end
  return profile.duration > 0
    and (", %s of the session"):format(units.percent(p.total / 1e6, profile.duration)) or ""
end

-- Returns a sentence about the pauses p (asamp.sums.events). If only some collections have their own record,
-- the sentence has their number.
local function pauses(profile, p)
  local all = profile.minors + profile.majors
  return ("Pauses, in wall time: %s together%s; half of %s took at most %s, 99%% at most %s, " ..
          "the longest took %s (%s after the start)."):format(
    time(p.total), share(profile, p),
    p.n < all and ("the %s pauses that were recorded one by one"):format(units.count(p.n)) or "them",
    time(p.median), time(p.p99), time(p.longest), time(p.at))
end

-- Returns a sentence about the heap walks that searched for the references to live samples.
local function walks(profile)
  return ("The profiler searched %s for the holders of live objects, which paused the program " ..
          "for %s%s."):format(
    profile.walks == 1 and "once" or units.plural(profile.walks, "time"),
    time(profile.walked), profile.walks > 1
    and (" in all (the longest pause: %s)"):format(time(profile.longestwalk)) or "")
end

function M.collections(style)
  local profile, paint = style.profile, style.paint
  local sum = events.collections(profile)
  if not sum then
    return {}
  end
  local text = ("%s minor, %s major%s."):format(
    units.count(sum.minors), units.count(sum.majors), sum.tenured > 0
    and ("; %s tenured"):format(units.bytes(sum.tenured)) or "")
  if sum.pauses then
    text = text .. " " .. pauses(profile, sum.pauses)
  end
  if (profile.walks or 0) > 0 then
    text = text .. " " .. walks(profile)
  end
  local lines = {"", paint("bold", "Collections"),
                 layout.wrap(text, "  ", style.width)}
  local columns = {}
  for _, c in ipairs{{"first", "start"}, {"highest", "peak"},
                     {"last", "stop"}} do
    columns[#columns + 1] = {title = c[1], cells = {
      units.short(sum.inuse[c[2]]), units.short(sum.held[c[2]]),
      units.resident(sum.rss[c[2]], units.short)}}
  end
  local names = {"in use after a collection", "reserved by the heap",
                 "resident set of the process"}
  local grid = layout.grid(columns, 3, "", function(i, n)
    return layout.cutend(names[i], n)
  end, style.width, paint)
  table.move(grid, 1, #grid, #lines + 1, lines)
  local last = profile.course.ended
  local note = "in use, in " .. time(last)
  local n = math.min(style.width - 3 - #note, 80)
  if #profile.collections > 1 then
    lines[#lines + 1] = "  " .. paint("cyan", bars(events.heap(profile, n)))
                        .. " " .. paint("dim", note)
  end
  return lines
end

local function number(n)
  return math.type(n) == "integer" and units.count(n) or ("%.6g"):format(n)
end

local function values(row, n)
  if row.mean then
    local text = row.least == row.most and number(row.least)
      or ("%s to %s, mean %.6g"):format(number(row.least), number(row.most),
                                         row.mean)
    return layout.cutend(text, n)
  end
  local text = layout.clean(row.value)
  return layout.cutend(row.count > 1 and text ~= "" and "last: " .. text
                       or text, n)
end

--- Returns the table of markers by name as lines of text, or {} if there are none.
function M.marks(style)
  local rows = events.marks(style.profile)
  if #rows == 0 then
    return {}
  end
  local paint, n = style.paint, math.min(style.top, #rows)
  local columns = {{title = "count", cells = {}}, {title = "first", cells = {}},
                   {title = "last", cells = {}}}
  for i = 1, n do
    columns[1].cells[i] = units.count(rows[i].count)
    columns[2].cells[i] = time(rows[i].first)
    columns[3].cells[i] = time(rows[i].last)
  end
  local grid, left = layout.grid(columns, n, "marker and values",
    function(i, room)
      local name = layout.cutmiddle(layout.clean(rows[i].name), room // 2)
      local counts = values(rows[i], room - 2 - layout.width(name))
      return counts == "" and name or name .. "  " .. paint("dim", counts)
    end, style.width, paint)
  local lines = {"", paint("bold", "Markers")}
  table.move(grid, 1, #grid, #lines + 1, lines)
  if #rows > n then
    lines[#lines + 1] = paint("dim", (" "):rep(left) .. "and " ..
                              units.count(#rows - n) .. " more")
  end
  return lines
end

return M
