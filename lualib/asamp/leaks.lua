-- SPDX-License-Identifier: MIT
-- Lines that are likely to leak. Pure: a profile with bins in, rows out.
--
-- The session is cut into parts of equal time (the reader's bins). There is a
-- leak to look for only when the heap grew: the least in use in the last
-- quarter is more than in the second, where start-up is over, by a tenth.
--
-- What a line keeps is what is alive at the end, if the file tells that: it
-- survived, and no major collection has found it dead. This is known of the
-- parts before the last major collection, which must be half of them at least;
-- then only these count. A line is likely to leak when
--   - it keeps something of at least three quarters of the parts, and of the
--     last quarter: old and new;
--   - of the second half it keeps at least two fifths of all that it keeps, and
--     that is at least a twentieth of what the heap grew by.
-- With fewer than LEAST samples that it keeps nothing can be said.
--
-- Without that proof what survived its first collection is taken for it, and
-- more is asked for: the heap's growth is at least a third of what survived in
-- the second half (else most of it died later, and nothing tells what did not);
-- at least half of what the line allocated survived, and what survived of it in
-- the second half is at most one and a half times the growth.

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

-- How many parts are over when the last major collection comes, which knows what
-- of them is alive; nil: too few, or the file does not tell.
local function judged(profile)
  local bins, last = profile.bins, nil
  if (profile.followed or 0) > 0 then
    for _, c in ipairs(profile.collections) do
      last = c.major and c.time or last
    end
  end
  local n = last and math.min((last - bins.start) // bins.width, bins.n) or 0
  return n >= bins.n // 2 and n or nil
end

-- What every line keeps of the first n parts, by part; and the bytes of all that
-- is kept of their second half.
local function keepers(profile, n, proved)
  local bins = profile.bins
  local _, _, nearest = totals.linerows(profile)
  local rows, byrow, late = {}, {}, 0
  for i, node in ipairs(bins.node) do
    local part, line = bins.bin[i], nearest[node]
    local kept, bytes = bins.survived[i], bins.survivedbytes[i]
    if proved then
      kept, bytes = kept - bins.later[i], bytes - bins.laterbytes[i]
    end
    if part >= n then
      kept, bytes = 0, 0
    end
    late = late + (part >= n // 2 and bytes or 0)
    if line and not profile.kinds[bins.kind[i]].time then
      local row = byrow[line]
      if not row then
        row = {file = line.file, line = line.line, name = line.name,
               samples = 0, survived = 0, survivedbytes = 0, kept = 0,
               keptbytes = 0, late = 0, inpart = {}}
        byrow[line] = row
        rows[#rows + 1] = row
      end
      row.samples = row.samples + bins.samples[i]
      row.survived = row.survived + bins.survived[i]
      row.survivedbytes = row.survivedbytes + bins.survivedbytes[i]
      row.kept, row.keptbytes = row.kept + kept, row.keptbytes + bytes
      row.late = row.late + (part >= n // 2 and bytes or 0)
      row.inpart[part] = (row.inpart[part] or 0) + kept
    end
  end
  return rows, late
end

local function likely(row, n, growth, proved)
  local parts, late, last = 0, 0, 0
  for part, kept in pairs(row.inpart) do
    if kept > 0 then
      parts = parts + 1
      late = late + (part >= n // 2 and kept or 0)
      last = last + (part >= n * 3 // 4 and kept or 0)
    end
  end
  row.parts = parts
  return row.kept >= LEAST and parts >= PARTS * n and last > 0
         and late >= LATE * row.kept and row.late >= WORTH * growth
         and (proved or row.kept >= SURVIVED * row.samples
                        and row.late <= ROOM * growth)
end

--- {parts (that were looked at), proved (is it known what is alive at the end?),
-- before, after (bytes least in use in the second and the last quarter), grew (is
-- after more?), late (bytes kept of the second half), kept (can lines be told
-- from each other?), rows = {{file, line, name, samples (of decided fate or
-- not), survived, survivedbytes, kept, keptbytes (of the parts looked at), late,
-- parts (of which it keeps something)}}}; rows sorted by bytes kept. nil when the
-- file does not tell enough.
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
  local known = judged(profile)
  local proved = known ~= nil
  n = known or n
  local rows, late = keepers(profile, n, proved)
  local found = {parts = n, proved = proved, before = before, after = after,
                 late = late, grew = after > GROWTH * before,
                 kept = proved or after - before >= KEPT * late, rows = {}}
  local growth = after - before
  if found.grew and found.kept then
    for _, row in ipairs(rows) do
      if likely(row, n, growth, proved) then
        row.inpart = nil
        found.rows[#found.rows + 1] = row
      end
    end
  end
  table.sort(found.rows, function(a, b)
    if a.keptbytes ~= b.keptbytes then
      return a.keptbytes > b.keptbytes
    elseif a.file ~= b.file then
      return a.file < b.file
    end
    return a.line < b.line
  end)
  return found
end

return M
