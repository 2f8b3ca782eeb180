-- SPDX-License-Identifier: MIT
-- Data of the page of `asamp view` about the references that keep objects alive at the end: the paths as a
-- tree, and the lines that allocated the objects. Keeps the PATHS paths that hold most (together with the
-- longer paths that start with them), and ROWS pairs of path and line. The objects that an omitted path holds
-- count for the longest kept path with which it starts.

local order = require "asamp.sums.order"
local totals = require "asamp.sums.totals"

local M = {}

local PATHS, ROWS = 5000, 20000

-- Returns for each path its own value ('own') plus the values of all paths that start with it. One pass from
-- the last path is enough: a path has a lower number than the paths that start with it.
local function sums(h, own)
  local all = table.move(own, 1, #own, 1, {})
  for path = #all, 1, -1 do
    local parent = h.parent[path]
    if parent > 0 then
      all[parent] = all[parent] + all[path]
    end
  end
  return all
end

-- Selects the 'limit' paths of references that hold the most live bytes. Returns the columns of these paths;
-- a map from each path to the number of the longest selected path that it starts with (0: none); and the
-- number of omitted paths.
local function paths(h, limit)
  local own = {}
  for path = 1, #h.parent do
    own[path] = 0
  end
  for i, path in ipairs(h.path) do
    if path > 0 then
      -- samples count, too, because some files have no bytes
      own[path] = own[path] + h.bytes[i] + h.samples[i]
    end
  end
  local all, holding, keep = sums(h, own), {}, {}
  for path = 1, #all do
    holding[#holding + 1] = all[path] > 0 and path or nil
  end
  table.sort(holding, order.values(all))
  for i = 1, math.min(limit, #holding) do
    keep[holding[i]] = true
  end
  local out, map, n = {parent = {}, step = {}}, {[0] = 0}, 0
  for path = 1, #all do
    local parent = map[h.parent[path]]
    map[path] = parent
    if keep[path] then
      n = n + 1
      out.parent[n], out.step[n], map[path] = parent, h.step[path], n
    end
  end
  return out, map, #holding - n
end

-- Sums the live samples by path of references and allocating line, and keeps the 'limit' largest sums; adds
-- up the others of each path. Returns the sums as columns {path, place (index in the list of lines; 0:
-- unknown or omitted), samples, bytes}; the list of lines; and the number of omitted sums.
local function pairsof(h, map, nearest, limit)
  local places, at, list = {}, {}, {}
  local bykey = {}
  for i, path in ipairs(h.path) do
    local line = nearest[h.node[i]]
    if line and not at[line] then
      places[#places + 1] = {file = line.file, line = line.line, name = line.name}
      at[line] = #places
    end
    local place = at[line] or 0
    local key = map[path] << 32 | place
    local pair = bykey[key]
    if not pair then
      pair = {path = map[path], place = place, samples = 0, bytes = 0}
      bykey[key] = pair
      list[#list + 1] = pair
    end
    pair.samples = pair.samples + h.samples[i]
    pair.bytes = pair.bytes + h.bytes[i]
  end
  table.sort(list, order.by("-bytes", "-samples", "path", "place"))
  local out, rest = {path = {}, place = {}, samples = {}, bytes = {}}, {}
  local function put(pair)
    local n = #out.path + 1
    for key, column in pairs(out) do
      column[n] = pair[key]
    end
  end
  for i, pair in ipairs(list) do
    if i <= limit then
      put(pair)
    else
      local other = rest[pair.path] or {path = pair.path, place = 0, samples = 0, bytes = 0}
      other.samples, other.bytes = other.samples + pair.samples, other.bytes + pair.bytes
      rest[pair.path] = other
    end
  end
  for path = 0, #map do
    if rest[path] then
      put(rest[path])
      rest[path] = nil
    end
  end
  return out, places, math.max(0, #list - limit)
end

--- Returns the data of the page of `asamp view` about paths of references; nil if the profile has none.
-- 'limits': {paths, rows}, default PATHS and ROWS. Fields:
--
--   - paths: columns parent (0: none), step (text of the last reference); paths count from 1
--   - rows: {path (0: unknown), place, samples, bytes}
--   - places: list of {file, line, name}; place 0: the line is unknown, or one of many omitted ones
--   - left, leftrows: number of omitted paths and rows
function M.of(profile, limits)
  local h = profile.holders
  if not h then
    return nil
  end
  local _, _, nearest = totals.linerows(profile, true)
  local kept, map, left = paths(h, limits and limits.paths or PATHS)
  local rows, places, leftrows = pairsof(h, map, nearest, limits and limits.rows or ROWS)
  return {paths = kept, rows = rows, places = places, left = left, leftrows = leftrows}
end

return M
