-- SPDX-License-Identifier: MIT
-- Removes duplicates from a list of profiles whose totals are to be added: the same file twice
-- (by another name, a link or a copy), an earlier copy of a file that has grown since, and dumps
-- of one flight recorder that overlap in time.

local convert = require "profiler.convert"
local host = require "asamp.host"

local M = {}

local SAME = "'%s' is the same profile as '%s', and is counted once"
local PART = "'%s' is of the same recording as '%s', which is larger; only that one is counted"
local DUMP = "'%s' has a time in common with '%s', which is a longer dump of the same flight recorder; " ..
             "only that one is counted"

local PIECE = 4096     -- bytes at the start and at the end of a file that are compared first
local BLOCK = 1 << 20  -- bytes that are compared at a time

-- Returns text that equal files have in common (size, start and end) and the size. nil: the path
-- is not a regular file, or the file is empty or cannot be read.
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

-- Returns the list without duplicates. f(item): the key of the group of items that are compared,
-- or nil. isone(a, b): true if two items of a group are duplicates. better(a, b): true if a is
-- kept instead of b. Adds a line to 'notes' for each removed item, with the format 'why'.
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
  local left = {}
  for _, item in ipairs(list) do
    left[#left + 1] = kept[item] and item or nil
  end
  return left
end

local function never() return false end
local function always() return true end
local function larger(a, b) return a.size > b.size end

--- Returns the paths without those that would be counted twice, and a list of messages about the
-- removed ones.
function M.of(paths)
  local list, notes = {}, {}
  for i, path in ipairs(paths) do
    local text, size = outline(path)
    list[i] = {path = path, outline = text, size = size}
  end
  list = unique(list, function(item) return item.outline end, never,
                function(a, b) return isequal(a.path, b.path) end, SAME, notes)
  for _, item in ipairs(list) do
    if item.outline then
      local version, pid, second, clock, recorder, last = convert.version(item.path)
      if version and recorder then
        item.recorder, item.from, item.to = recorder, clock, last
      elseif version and pid > 0 and second > 0 and clock > 0 then
        item.recording = ("%d %d %d"):format(pid, second, clock)
      end
    end
  end
  list = unique(list, function(item) return item.recording end, larger, always, PART, notes)
  -- Longer dumps first: a dump is then compared with those that are kept.
  local dumps = table.move(list, 1, #list, 1, {})
  local order = {}
  for i, item in ipairs(list) do
    order[item] = i
  end
  local function length(item) return item.recorder and item.to - item.from or 0 end
  table.sort(dumps, function(a, b)
    if length(a) ~= length(b) then
      return length(a) > length(b)
    end
    return order[a] < order[b]
  end)
  dumps = unique(dumps, function(item) return item.recorder end, never,
                 function(a, b) return a.from < b.to and b.from < a.to end, DUMP, notes)
  table.sort(dumps, function(a, b) return order[a] < order[b] end)
  local left = {}
  for i, item in ipairs(dumps) do
    left[i] = item.path
  end
  return left, notes
end

return M
