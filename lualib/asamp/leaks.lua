-- SPDX-License-Identifier: MIT
-- Lines that are likely to leak. Pure: a profile with bins in, rows out.
--
-- The session is cut into parts of equal time (the reader's bins). There is a
-- leak to look for only when the heap grew: the least in use in the last
-- quarter is more than in the second, where start-up is over, by a tenth; and
-- only when this growth is at least a third of what survived its first
-- collection in the second half: else most of it died later, and nothing tells
-- what did not. A line is likely to leak then, when of what it allocated
--   - at least half survived its first collection,
--   - survivors come in at least three quarters of the parts and in the last
--     quarter: it goes on,
--   - the second half of the session has at least two fifths of them: it does
--     not fade; and these are from a twentieth to one and a half times of
--     what the heap grew by: worth a look, and no more than it can have kept.
-- With fewer than LEAST samples that survived nothing can be said.

local totals = require "asamp.totals"

local M = {}

--- Bins to ask the reader for; it makes half as many at least.
M.BINS = 16

local LEAST = 12
local GROWTH = 1.1
local KEPT, ROOM, WORTH = 1 / 3, 3 / 2, 1 / 20
local SURVIVED, PARTS, LATE = 1 / 2, 3 / 4, 2 / 5

-- The least in use during these parts, nil without a collection there.
local function floor(profile, from, to)
  local least
  local bins = profile.bins
  for _, c in ipairs(profile.collections) do
    local part = (c.time - bins.start) // bins.width
    if part >= from and part < to then
      least = math.min(least or c.inuse, c.inuse)
    end
  end
  return least
end

-- Survivors of every line, by part; and the bytes of all that survived in the
-- second half.
local function survivors(profile)
  local bins = profile.bins
  local _, _, nearest = totals.linerows(profile)
  local rows, byrow, late = {}, {}, 0
  for i, node in ipairs(bins.node) do
    local part, line = bins.bin[i], nearest[node]
    local bytes = part >= bins.n // 2 and bins.survivedbytes[i] or 0
    late = late + bytes
    if line and not profile.kinds[bins.kind[i]].time then
      local row = byrow[line]
      if not row then
        row = {file = line.file, line = line.line, name = line.name,
               samples = 0, survived = 0, survivedbytes = 0, late = 0,
               inpart = {}}
        byrow[line] = row
        rows[#rows + 1] = row
      end
      row.samples = row.samples + bins.samples[i]
      row.survived = row.survived + bins.survived[i]
      row.survivedbytes = row.survivedbytes + bins.survivedbytes[i]
      row.late = row.late + bytes
      row.inpart[part] = (row.inpart[part] or 0) + bins.survived[i]
    end
  end
  return rows, late
end

local function likely(row, n, growth)
  local parts, late, last = 0, 0, 0
  for part, survived in pairs(row.inpart) do
    if survived > 0 then
      parts = parts + 1
      late = late + (part >= n // 2 and survived or 0)
      last = last + (part >= n * 3 // 4 and survived or 0)
    end
  end
  row.parts = parts
  return row.survived >= LEAST and row.survived >= SURVIVED * row.samples
         and parts >= PARTS * n and last > 0 and late >= LATE * row.survived
         and row.late <= ROOM * growth and row.late >= WORTH * growth
end

--- {parts, before, after (bytes least in use in the second and the last
-- quarter), grew (is after more?), late (bytes that survived in the second
-- half), kept (is
-- the growth enough of it to tell?), rows = {{file, line, name, samples (of decided fate or not),
-- survived, survivedbytes, late, parts (with survivors)}}}; rows sorted by
-- survived bytes. nil when the file does not tell enough.
function M.of(profile)
  local bins = profile.bins
  if not bins or bins.n < M.BINS // 2 or not profile.fates or
     not profile.lines or profile.survived == 0 or
     not profile.collections then
    return nil
  end
  local n = bins.n
  local before = floor(profile, n // 4, n // 2)
  local after = floor(profile, n * 3 // 4, n)
  if not before or not after or before == 0 then
    return nil
  end
  local rows, late = survivors(profile)
  local found = {parts = n, before = before, after = after, late = late,
                 grew = after > GROWTH * before,
                 kept = after - before >= KEPT * late, rows = {}}
  local growth = after - before
  if found.grew and found.kept then
    for _, row in ipairs(rows) do
      if likely(row, n, growth) then
        row.inpart = nil
        found.rows[#found.rows + 1] = row
      end
    end
  end
  table.sort(found.rows, function(a, b)
    if a.survivedbytes ~= b.survivedbytes then
      return a.survivedbytes > b.survivedbytes
    elseif a.file ~= b.file then
      return a.file < b.file
    end
    return a.line < b.line
  end)
  return found
end

return M
