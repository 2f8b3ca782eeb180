-- SPDX-License-Identifier: MIT
-- Data of the page of `asamp view` about the references that keep objects alive at the end: the paths of
-- references as a tree, and the lines that allocated the objects.
--
-- Two limits bound the size: PATHS is the largest number of paths, ROWS the largest number of pairs of a path
-- and a line. The paths with most objects are kept; a path also counts the objects of all longer paths that
-- start with it. If a path is removed, its objects count for the longest kept path with which it starts. If
-- there is no such path, its objects are omitted.

local order = require "asamp.sums.order"
local totals = require "asamp.sums.totals"

local M = {}

local PATHS, ROWS = 5000, 20000

-- Adds up values of paths of references. Returns a list: for each path, the sum of its own value and of the
-- values of all longer paths that start with it.
--
-- h: profile.holders. h.parent maps a path to the path without its last reference, which has a lower number.
-- So one pass from the last path to the first is enough
-- own: list of the values
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

-- Selects paths of references of h (profile.holders), up to 'limit': those with most live bytes. A path also
-- has the bytes of all longer paths that start with it. Returns four values:
--
--   1. the selected paths, as columns
--   2. a map from the number of each path to that of the longest selected path with which it starts (0: none)
--   3. the number of paths that are not selected, but start with a selected one
--   4. the number of the other paths that are not selected
local function paths(h, limit)
  local own = {}
  for path = 1, #h.parent do
    own[path] = 0
  end
  for i, path in ipairs(h.path) do
    if path > 0 then
      -- The paths are sorted by bytes. In files without bytes, the number of samples decides instead.
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
  local omitted = 0
  for _, path in ipairs(holding) do
    omitted = omitted + (map[path] == 0 and 1 or 0)
  end
  return out, map, #holding - n - omitted, omitted
end

-- Sums the live samples by path (of the references that keep them alive) and by allocating line. Keeps the
-- 'limit' largest sums. The other sums of each path are added to one sum with the place 0. Returns three
-- values:
--
--   1. the sums, as columns: path, place (index of the line; 0: unknown or omitted), samples, bytes
--   2. the list of lines
--   3. {samples, bytes} of the objects whose holder is known, but is in no selected path
--
-- h: profile.holders
-- map: map from paths to selected paths (second result of the function 'paths')
-- nearest: map from call tree node to the line of its innermost Lua frame
local function pairsof(h, map, nearest, limit)
  local places, at, list = {}, {}, {}
  local bykey, omitted = {}, {samples = 0, bytes = 0}
  for i, path in ipairs(h.path) do
    local kept, line = map[path], nearest[h.node[i]]
    if line and not at[line] then
      places[#places + 1] = {file = line.file, line = line.line, name = line.name}
      at[line] = #places
    end
    local place = at[line] or 0
    local key = kept << 32 | place
    local pair = path > 0 and kept == 0 and omitted or bykey[key]
    if not pair then
      pair = {path = kept, place = place, samples = 0, bytes = 0}
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
  return out, places, omitted
end

--- Returns data for the page about paths: the references that keep live samples alive. Returns nil if the
-- profile has none. 'limits': {paths, rows}: largest numbers, default PATHS and ROWS. Fields:
--
--   - paths: tree of the paths, as columns: parent (number of the path without its last reference, from 1; 0:
--     none) and step (text of the last reference)
--   - rows: live samples by path and line, as columns: path (0: unknown), place, samples, bytes
--   - places: list of lines {file, line, name}; 'place' is an index in it, or 0 for an unknown line and for
--     the sum of omitted ones
--   - left: number of omitted paths whose objects count for a shorter path
--   - omitted: {paths, samples, bytes} of the other omitted paths, whose objects are in no row
function M.of(profile, limits)
  local h = profile.holders
  if not h then
    return nil
  end
  local _, _, nearest = totals.linerows(profile, true)
  local kept, map, left, n = paths(h, limits and limits.paths or PATHS)
  local rows, places, omitted = pairsof(h, map, nearest, limits and limits.rows or ROWS)
  omitted.paths = n
  return {paths = kept, rows = rows, places = places, left = left, omitted = omitted}
end

return M
