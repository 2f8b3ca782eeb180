-- SPDX-License-Identifier: MIT
-- Breakdown of resident memory: converts a memory snapshot, of a profile or a running process, to rows for
-- reports. doc/profile-format.md lists the words in snapshots; an unknown word has its own row.

local order = require "asamp.sums.order"

local M = {}

-- Uses of resident memory in display order: {word in the file, group ("lua", "native" or "rest"),
-- description}.
local WORDS = {
  {"lua.old", "lua", "alive at the last major collection"},
  {"lua.new", "lua", "allocated since the last major collection"},
  {"lua.gaps", "lua", "block headers, dead objects next to live ones"},
  {"lua.free", "lua", "free memory in partly used blocks"},
  {"lua.reserve", "lua", "reserve: empty blocks"},
  {"lua.lists", "lua", "lists of the garbage collector"},
  {"lua.since", "lua", "reserved since the last measurement"},
  {"native", "native", "in use (malloc)"},
  {"profiler", "native", "memory of the profiler"},
  {"native.free", "native", "freed, but kept by malloc"},
  {"mapped", "rest", "other mappings, stacks of running threads"},
  {"stacks", "rest", "stacks"},
  {"file", "rest", "code and data of files"},
  {"system", "rest", "mappings of the kernel"},
}

-- In a snapshot, the rows with the words "free" and "alloc" are not uses of memory: they divide the bytes of
-- one use by source line. Maps each of these words to the word of the use.
local PARTS = {free = "lua.free", alloc = "native"}

local function newrow(what, group, text)
  return {what = what, group = group, text = text, bytes = 0, parts = {}}
end

local bybytes = order.by("-bytes", "where")

local function sumof(parts)
  local sum = 0
  for _, part in ipairs(parts) do
    sum = sum + part.bytes
  end
  return sum
end

-- Completes a row: sorts its parts, the one with most bytes first, and sets row.known to their sum. The parts
-- of free memory are only estimates from samples. If their sum exceeds the row, scales them down to it.
-- Returns the row.
local function settle(row)
  local sum = sumof(row.parts)
  if row.what == PARTS.free and sum > row.bytes then
    for _, part in ipairs(row.parts) do
      part.bytes = math.floor(part.bytes / sum * math.max(row.bytes, 0))
    end
  end
  table.sort(row.parts, bybytes)
  row.known = sumof(row.parts)
  return row
end

--- Returns the breakdown of a snapshot of resident memory:
--
--   - rss: resident bytes of the process
--   - sum: bytes of all rows
--   - outside: external bytes of userdata, as libraries reported them
--   - lua, native, rest: sums of the bytes of each group of rows (WORDS)
--   - rows: a row for each use of memory. Fields of a row:
--     - what: word of the use
--     - group: "lua", "native" or "rest"
--     - text: description
--     - bytes: its bytes; in old files, a negative number means reserved memory that was never touched
--     - parts: list of {where (a line or a file), bytes}
--     - known: sum of the bytes of all parts
--
-- picture: the rows of the snapshot (M.parse)
function M.of(picture)
  local rows, byword = {}, {}
  for _, word in ipairs(WORDS) do
    byword[word[1]] = newrow(word[1], word[2], word[3])
    rows[#rows + 1] = byword[word[1]]
  end
  local found = {rss = 0, sum = 0, outside = 0, lua = 0, native = 0, rest = 0, rows = {}}
  local parts = {}
  for _, r in ipairs(picture) do
    if r.what == "rss" or r.what == "outside" then
      found[r.what] = r.bytes
    elseif PARTS[r.what] then
      parts[#parts + 1] = r
    else
      local row = byword[r.what]
      if not row then
        row = newrow(r.what, "rest", r.what)
        byword[r.what], rows[#rows + 1] = row, row
      end
      row.bytes = row.bytes + r.bytes
      if r.text ~= "" then
        row.parts[#row.parts + 1] = {where = r.text, bytes = r.bytes}
      end
    end
  end
  for _, r in ipairs(parts) do
    local to = byword[PARTS[r.what]].parts
    to[#to + 1] = {where = r.text ~= "" and r.text or "(other lines)", bytes = r.bytes}
  end
  for _, row in ipairs(rows) do
    if row.bytes ~= 0 or #row.parts > 0 then
      found.rows[#found.rows + 1] = settle(row)
      found.sum = found.sum + row.bytes
      found[row.group] = found[row.group] + row.bytes
    end
  end
  return found
end

-- Returns the snapshots sorted by time: several threads may have written them out of order.
local function ordered(profile)
  local list = {}
  for i, picture in ipairs(profile.pictures) do
    list[i] = {time = picture.time, place = i, rows = picture.rows}
  end
  table.sort(list, order.by("time", "place"))
  return list
end

--- Returns the breakdown of a profile's resident memory, or nil if it has no snapshot.
--
--   - last: result of M.of for the last snapshot; its field 'time' is the time of the snapshot in seconds
--   - peak: the same for the snapshot with most resident memory
--   - duration: length of the run, seconds
--   - highest: largest resident memory after a collection, bytes; nil: unknown
--   - course: list with an element for each snapshot, sorted by time. Fields of an element:
--     - time: time of the snapshot, seconds since the start
--     - rss: resident memory of the process, bytes
--     - free: free memory in blocks in use, and empty blocks, bytes
--     - lua: Lua's memory without 'free', bytes
--     - native, rest: bytes of the other groups of rows (WORDS)
function M.ofprofile(profile)
  if not profile.pictures then
    return nil
  end
  local found = {course = {}, duration = profile.duration,
                 highest = profile.course and profile.course.peak.rss}
  for _, picture in ipairs(ordered(profile)) do
    local p = M.of(picture.rows)
    p.time = picture.time / 1e6
    local free = 0
    for _, row in ipairs(p.rows) do
      if row.what == "lua.free" or row.what == "lua.reserve" then
        free = free + row.bytes
      end
    end
    found.course[#found.course + 1] = {time = p.time, rss = p.rss, lua = p.lua - free,
      free = free, native = p.native, rest = p.rest}
    if not found.peak or p.rss > found.peak.rss then
      found.peak = p
    end
    found.last = p
  end
  return found
end

--- Parses the answer of a running process about its resident memory. Each line has a number of bytes, a word
-- for their use (WORDS) and, optionally, a text. Returns a list of rows {bytes, what (the word), text} for
-- M.of.
function M.parse(lines)
  local rows = {}
  for _, line in ipairs(lines or {}) do
    local bytes, what, text = line:match "^(%-?%d+) (%S+) ?(.*)$"
    rows[#rows + 1] = bytes and {bytes = math.tointeger(bytes), what = what, text = text} or nil
  end
  return rows
end

return M
