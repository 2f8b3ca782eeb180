-- SPDX-License-Identifier: MIT
-- How long what was sampled has lived: in bytes allocated between its birth and
-- its death. Pure: a profile in, rows out. Of each row the line that most of it
-- comes from: what lives neither shortly nor for good is what a generational
-- collector pays for.

local totals = require "asamp.sums.totals"

local M = {}

-- Lengths of life, in binary digits of bytes: the first row has those of less than
-- 1 MiB, each further one those of less than four times as much.
local FIRST, STEP = 20, 2

-- The row of a life, 0, 1, ...
local function rowof(digits)
  return math.max(0, (digits - FIRST + STEP - 1) // STEP)
end

-- Adds to a row what a node has; notes lines.
local function add(row, line, samples, bytes)
  row.samples = row.samples + samples
  row.bytes = row.bytes + bytes
  if line and samples > 0 then
    row.lines[line] = (row.lines[line] or 0) + samples
  end
end

local function newrow(kind, below)
  return {kind = kind, below = below, samples = 0, bytes = 0, lines = {}}
end

-- The line with the most samples of the row, and its part of them.
local function lead(row)
  local best, most
  for line, n in pairs(row.lines) do
    if not best or n > most or n == most and
       (line.file < best.file or line.file == best.file and
        line.line < best.line) then
      best, most = line, n
    end
  end
  row.lines = nil
  if best then
    row.file, row.line, row.name = best.file, best.line, best.name
    row.share = most / row.samples
  end
  return row
end

--- {{kind ("young": dead before the first collection; "later"; "alive": not
-- known to have died), below (of "later": bytes allocated in their lives were
-- fewer), samples, bytes, file, line, name (of the line with the largest part of
-- it, nil: there is none), share (its part)}}, the shortest lives first, only
-- rows that have samples. nil when the file does not tell deaths.
function M.of(profile)
  if (profile.followed or 0) == 0 or not profile.fates then
    return nil
  end
  local _, _, nearest = totals.linerows(profile)
  local young, alive, later = newrow "young", newrow "alive", {}
  local sites, lives = profile.sites, profile.lifetimes
  for i, node in ipairs(sites.node) do
    if not profile.kinds[sites.kind[i]].time then
      local line = nearest[node]
      add(young, line, sites.samples[i] - sites.survived[i] -
        sites.undecided[i], sites.bytes[i] - sites.survivedbytes[i] -
        sites.undecidedbytes[i])
      add(alive, line, sites.survived[i] - sites.later[i],
          sites.survivedbytes[i] - sites.laterbytes[i])
    end
  end
  local last = -1
  for i, node in ipairs(lives.node) do
    local k = rowof(lives.digits[i])
    for j = last + 1, k do
      later[j] = newrow("later", 1 << (FIRST + STEP * j))
    end
    last = math.max(last, k)
    add(later[k], nearest[node], lives.samples[i], lives.bytes[i])
  end
  local rows = {}
  for i = -1, last + 1 do
    local row = i < 0 and young or i > last and alive or later[i]
    if row.samples > 0 then
      rows[#rows + 1] = lead(row)
    end
  end
  return rows
end

return M
