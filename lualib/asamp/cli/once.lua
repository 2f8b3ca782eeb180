-- SPDX-License-Identifier: MIT
-- Removes duplicates from a list of profiles whose totals will be added:
--
--   - a file that is listed twice
--   - an earlier copy of a file that has grown since; the file with more samples stays
--   - dumps of one flight recorder that overlap in time
--   - files that were merged into another file of the list

local convert = require "profiler.convert"
local host = require "asamp.host"

local M = {}

local SAME = "'%s' is not counted, because '%s' is the same profile"
local PART = "'%s' is not counted, because '%s' contains the same recording with more samples"
local DUMP = "'%s' is not counted, because it overlaps in time with '%s': " ..
             "both are dumps of one flight recorder, and only the dump with more samples counts"
local MERGED = "'%s' is not counted separately, because the merged profile '%s' contains its samples"
local COMMON = "the merged profiles '%s' and '%s' contain some of the same recordings, " ..
               "which would count twice; give the files from which both were merged"

local PIECE = 4096     -- number of bytes at the start and at the end of a file that 'outline' returns
local BLOCK = 1 << 20  -- bytes that are compared at a time

-- Returns a text that only equal files are likely to share: the size, the first and the last PIECE bytes of a
-- file. Different texts prove that two files differ; equal texts do not prove that they are equal. Second
-- result: the size. Returns nil if the file is not a regular file, or is empty or unreadable.
local function outline(path)
  local file <close> = path ~= "-" and host.isfile(path) and io.open(path, "rb") or nil
  local size = file and file:seek "end"
  if not size or size == 0 then
    return nil
  end
  file:seek("set", 0)
  local first = file:read(PIECE)
  file:seek("set", math.max(0, size - PIECE))
  return ("%d:%s%s"):format(size, first or "", file:read(PIECE) or ""), size
end

local function isequal(a, b)
  local x <close> = io.open(a, "rb")
  local y <close> = io.open(b, "rb")
  while x and y do
    local one, other = x:read(BLOCK), y:read(BLOCK)
    if one ~= other then
      return false
    elseif not one then
      return true
    end
  end
  return false
end

-- Returns the files of the list that are keys of the table 'kept', in the same order.
local function keptof(list, kept)
  local left = {}
  for _, item in ipairs(list) do
    left[#left + 1] = kept[item] and item or nil
  end
  return left
end

-- Removes duplicates from a list of files (items, tables with the field 'path'). Returns the other items.
--
--   - f(item): returns a key; items with different keys are not duplicates. nil: the item is no duplicate
--   - isone(a, b): returns true if a and b, which have equal keys, are duplicates
--   - better(a, b): decides which of two duplicates stays: returns true to remove b, which is earlier in the
--     list, or false to remove a
--   - why: format of the message about a removed item; its arguments are the paths of the removed and of the
--     remaining item
--   - notes: list to which these messages are added
local function unique(list, f, better, isone, why, notes)
  local groups, kept = {}, {}
  for _, item in ipairs(list) do
    local key = f(item)
    local group = key and groups[key] or {}
    if key then
      groups[key] = group
    end
    local found
    for i, other in ipairs(group) do
      found = not found and isone(item, other) and i or found
    end
    if not found then
      group[#group + 1], kept[item] = item, true
    else
      local stays, goes = group[found], item
      if better(goes, stays) then
        stays, goes = goes, stays
        group[found], kept[stays], kept[goes] = stays, true, nil
      end
      notes[#notes + 1] = why:format(goes.path, stays.path)
    end
  end
  return keptof(list, kept)
end

local function never() return false end
local function always() return true end

-- Returns the number of readable samples in the file item.path. read(path): returns a profile, or nil.
local function samples(item, read)
  if not item.samples then
    local profile = read(item.path)
    item.samples = profile and profile.samples + profile.timesamples or 0
  end
  return item.samples
end

local function overlaps(a, b) return a.from < b.to and b.from < a.to end

-- Sets item.recordings to the list of the recordings whose samples a profile contains. A recording is a
-- session or a dump. A dump is a file that a flight recorder wrote during its session. A merged profile has
-- several recordings. Fields of a recording:
--
--   - text: identifies the recording; from profiler.convert.version
--   - recorder: id of the flight recorder that wrote the dump; nil for a session
--   - from, to: range of time of a dump; nil for a session
--
-- If there is only one recording, also sets these fields:
--
--   - item.recording: the text of the recording, if it is a session
--   - item.recorder, item.from, item.to: the fields of the recording, if it is a dump
local function identify(item)
  local version, _, _, _, sources = convert.version(item.path)
  item.recordings = {}
  for text in (version and sources or ""):gmatch "%S+" do
    local recorder, from, to = text:match "^r(%d+):(%d+):(%d+)$"
    item.recordings[#item.recordings + 1] =
      {text = text, recorder = recorder, from = tonumber(from), to = tonumber(to)}
  end
  local only = #item.recordings == 1 and item.recordings[1] or {}
  item.recording = not only.recorder and only.text or nil
  item.recorder, item.from, item.to = only.recorder, only.from, only.to
end

-- Adds the recordings (identify) of an item to the map 'owners'. The map has two kinds of elements:
--
--   - For a session, the key is its text, and the value is the item that contains it.
--   - For a flight recorder, the key is its id, and the value is the list of its dumps, sorted by start. A
--     dump is {item, from, to, latest}. 'latest' is one of this dump and those before it in the list: the
--     one that ends last.
local function own(owners, item)
  local changed = {}
  for _, recording in ipairs(item.recordings) do
    local key = recording.recorder or recording.text
    if recording.recorder then
      owners[key] = owners[key] or {}
      table.insert(owners[key], {item = item, from = recording.from, to = recording.to})
      changed[key] = true
    else
      owners[key] = item
    end
  end
  for key in pairs(changed) do
    local latest
    table.sort(owners[key], function(a, b) return a.from < b.from end)
    for _, dump in ipairs(owners[key]) do
      latest = latest and latest.to >= dump.to and latest or dump
      dump.latest = latest
    end
  end
end

-- Returns the item (file) that contains a recording, or nil if there is none. A dump of a flight recorder
-- counts as contained in an item if the item has a dump of the same recorder that overlaps it in time.
--
--   - owner: element of the map of own() for the recording's session or flight recorder; nil: none
--   - recording: {text, recorder, from, to} (identify)
local function ownerof(owner, recording)
  if not owner or not recording.recorder then
    return owner
  end
  local low, high = 0, #owner  -- finds the last dump that starts before the recording's end
  while low < high do
    local middle = (low + high + 1) // 2
    if owner[middle].from < recording.to then
      low = middle
    else
      high = middle - 1
    end
  end
  return low > 0 and owner[low].latest.to > recording.from and owner[low].latest.item or nil
end

-- Removes each file whose recordings (identify) are all in other files of the list, usually in one merged
-- file. Appends a message about each removed file to 'notes'. Returns the other files.
--
-- If only some recordings of a file are in other files, returns nil and a message: neither file can be
-- removed, and the common samples would count twice.
local function parts(list, notes)
  local order, sorted, owners, kept = {}, table.move(list, 1, #list, 1, {}), {}, {}
  for i, item in ipairs(list) do
    order[item] = i
  end
  table.sort(sorted, function(a, b)
    if #a.recordings ~= #b.recordings then
      return #a.recordings > #b.recordings
    end
    return order[a] < order[b]
  end)
  for _, item in ipairs(sorted) do
    local n, owner = 0, nil
    for _, recording in ipairs(item.recordings) do
      local found = ownerof(owners[recording.recorder or recording.text], recording)
      n, owner = n + (found and 1 or 0), owner or found
    end
    if n > 0 and n == #item.recordings then
      notes[#notes + 1] = MERGED:format(item.path, owner.path)
    elseif n > 0 then
      return nil, COMMON:format(item.path, owner.path)
    else
      kept[item] = true
      own(owners, item)
    end
  end
  return keptof(list, kept)
end

--- Returns the paths without duplicates, and a list of messages about the removed ones. Returns nil and a
-- message if two files have only some of their recordings (identify) in common.
--
--   - paths: list of profiles
--   - read(path): returns a profile (profiler.reader.read), or nil
function M.of(paths, read)
  local list, notes = {}, {}
  local function larger(a, b)
    local x, y = samples(a, read), samples(b, read)
    return x > y or x == y and a.size > b.size
  end
  for i, path in ipairs(paths) do
    local text, size = outline(path)
    list[i] = {path = path, outline = text, size = size, recordings = {}}
  end
  list = unique(list, function(item) return item.outline end, never,
                function(a, b) return isequal(a.path, b.path) end, SAME, notes)
  for _, item in ipairs(list) do
    if item.outline then
      identify(item)
    end
  end
  list = unique(list, function(item) return item.recording end, larger, always, PART, notes)
  -- If dumps of one flight recorder overlap in time, only the largest dump must stay. unique() keeps the
  -- first one of the list, so the list is sorted by size.
  local dumps, several = table.move(list, 1, #list, 1, {}), {}
  local order = {}
  for i, item in ipairs(list) do
    order[item] = i
    if item.recorder then
      several[item.recorder] = (several[item.recorder] or 0) + 1
    end
  end
  local function length(item) return (several[item.recorder] or 0) > 1 and samples(item, read) or 0 end
  table.sort(dumps, function(a, b)
    if length(a) ~= length(b) then
      return length(a) > length(b)
    end
    return order[a] < order[b]
  end)
  dumps = unique(dumps, function(item) return item.recorder end, never, overlaps, DUMP, notes)
  table.sort(dumps, function(a, b) return order[a] < order[b] end)
  local rest, message = parts(dumps, notes)
  if not rest then
    return nil, message
  end
  local left = {}
  for i, item in ipairs(rest) do
    left[i] = item.path
  end
  return left, notes
end

return M
