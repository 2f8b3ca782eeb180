-- SPDX-License-Identifier: MIT
-- Renders the breakdown of resident memory (asamp.sums.resident) as text.

local layout = require "asamp.show.layout"
local tables = require "asamp.show.tables"
local units = require "asamp.show.units"

local M = {}

local function size(n)
  return (n < 0 and "-" or "") .. units.short(math.abs(n))
end

local GROUPS = {lua = "Lua", native = "native", rest = "rest"}

--- Returns the rows of a table about resident memory. Each use of memory (such as free memory of the heap)
-- has a row. Below it are rows for its largest parts (lines or files), at most 'top', and a row with the
-- number of the other parts. The last row of the table is the sum. Fields of a row:
--
--   - bytes: size; nil in a row with the number of other parts
--   - label: text about the use or part; nil in a row with the number of other parts
--   - part: true: a part of the use above it
--   - more: number of the other parts
function M.rows(found, top)
  local list = {}
  for _, row in ipairs(found.rows) do
    list[#list + 1] = {bytes = row.bytes, label = GROUPS[row.group] .. ": " .. row.text}
    local shown = math.min(#row.parts, top)
    for i = 1, shown do
      list[#list + 1] = {part = true, bytes = row.parts[i].bytes, label = row.parts[i].where}
    end
    if #row.parts > shown then
      list[#list + 1] = {part = true, more = #row.parts - shown}
    end
  end
  list[#list + 1] = {bytes = found.sum, label = "together"}
  return list
end

local function listing(style, found)
  local list = M.rows(found, style.top)
  local columns = tables.columns(list, {
    {"bytes", function(row) return row.bytes and not row.part and size(row.bytes) or "" end},
    {"", gap = 1, spare = 1, function(row)
      return row.bytes and not row.part and units.percent(row.bytes, found.rss) or ""
    end},
    {"of it", function(row) return row.part and row.bytes and size(row.bytes) or "" end},
  })
  return layout.grid(columns, #list, "what", function(i, n)
    local row = list[i]
    if row.more then
      return style.paint("dim", "and " .. units.count(row.more) .. " more")
    end
    local text = layout.clean(row.label)
    return row.part and "  " .. layout.cutstart(text, n - 2) or layout.cutend(text, n)
  end, style.width, style.paint, 30)
end

local function course(style, list)
  local from = math.max(1, #list - style.top + 1)
  local shown = table.move(list, from, #list, 1, {})
  local function column(title, key, spare, ofsystem)
    return {title, spare = spare, function(row)
      return ofsystem and row.rss == 0 and "unknown" or size(row[key])
    end}
  end
  local lines = layout.grid(tables.columns(shown, {column("resident", "rss", nil, true),
    column("Lua", "lua"), column("free in Lua", "free", 3), column("native", "native", 1, true),
    column("rest", "rest", 2, true)}),
    #shown, "at", function(i) return units.seconds(shown[i].time) end, style.width,
    style.paint, 8)
  local last = from > 1 and (" (the last %s of %s memory snapshots)")
    :format(units.count(#shown), units.count(#list))
  table.insert(lines, 1, style.paint("bold", "Over time" .. (last or "")))
  table.insert(lines, 1, "")
  return lines
end

local NOTE = "Free memory in partly used blocks counts for the lines whose objects keep them in use. " ..
  "Native memory counts for the source lines that requested it, if it was sampled (--malloc). " ..
  "Both are estimates."
local UNTOUCHED = " A row is negative if memory was requested but not written to, and so is not resident."

-- Returns true if a (bytes or seconds; nil: 0) exceeds b by more than an eighth.
local function ismore(a, b)
  return (a or 0) > b * 9 / 8
end

local function ofpicture(picture)
  return units.bytes(picture.rss) .. ", after " .. units.seconds(picture.time)
end

-- Returns a clause about the largest resident size of the run, or "" if it is not larger than in the last
-- snapshot. 'found': as for M.summary.
local function most(found)
  local now, peak = found.last, found.peak or found.last
  if ismore(found.highest, peak.rss) then
    return ("; the largest resident size was %s, at a time without a snapshot%s"):format(
      units.bytes(found.highest), peak.rss > now.rss and
      (" (the largest in a snapshot: %s)"):format(ofpicture(peak)) or "")
  end
  return peak.rss > now.rss and "; at most " .. ofpicture(peak) or ""
end

--- Returns a sentence about the resident size in the last snapshot. 'found': result of
-- asamp.sums.resident.ofprofile; or only {last} for a running process.
function M.summary(found)
  local now = found.last
  return ("%s%s%s%s"):format(now.rss > 0 and "Resident memory: " .. units.bytes(now.rss) or
    "The resident size is unknown (the process could not read /proc/self/pagemap)",
    now.time and " after " .. units.seconds(now.time) or "",
    found.peak and ismore(found.duration, now.time) and
      (", in the last snapshot; the run lasted until %s"):format(units.seconds(found.duration)) or "",
    most(found))
end

function M.note(picture)
  for _, row in ipairs(picture.rows) do
    if row.bytes < 0 then return NOTE .. UNTOUCHED end
  end
  return NOTE
end

--- Returns a sentence about the external bytes of userdata in a snapshot of resident memory
-- (asamp.sums.resident.of), or nil if there are none.
function M.outside(picture)
  return picture.outside > 0 and
         ("Userdata own %s of external memory"):format(units.bytes(picture.outside)) or nil
end

--- Returns the breakdown of resident memory as text. 'found': result of asamp.sums.resident.ofprofile;
-- 'style': {paint, width, top (largest number of rows of a list)}.
function M.render(found, style)
  local now = found.last
  local lines = {layout.wrap(M.summary(found), "", style.width)}
  local outside = M.outside(now)
  lines[#lines + 1] = outside and layout.wrap(outside, "", style.width)
  lines[#lines + 1] = ""
  local rows = listing(style, now)
  table.move(rows, 1, #rows, #lines + 1, lines)
  lines[#lines + 1] = style.paint("dim", layout.wrap(M.note(now), "  ", style.width))
  if found.course and #found.course > 1 then
    rows = course(style, found.course)
    table.move(rows, 1, #rows, #lines + 1, lines)
  end
  return table.concat(lines, "\n") .. "\n"
end

return M
