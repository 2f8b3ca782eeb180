-- SPDX-License-Identifier: MIT
-- Numbers of samples for each time slice, call tree node and kind of block, as columns with a limited number
-- of rows. The input is a profile with time slices (profile.bins).

local measures = require "asamp.sums.measures"

local M = {}

-- The columns that are summed. The columns "alive" and "alivebytes" are survivors that did not die later;
-- they are 0 if the file does not record deaths. A time sample counts in "samples" as its number of sampling
-- periods (profile.timeperiod).
local COUNTS = {"samples", "bytes", "survived", "survivedbytes", "undecidedbytes",
                "alive", "alivebytes"}

-- Returns two values: the samples by time slice, as columns like those of profile.bins; and the slices:
-- {start, width (us), n (number)}. If the profile has no time slices, a single slice covers the whole time.
local function rowsof(profile)
  local us = math.max(1, math.ceil(profile.duration * 1e6))
  local from, bins = profile.sites, {start = 0, width = us, n = 1}
  if profile.bins and profile.bins.n > 1 then
    from, bins = profile.bins, profile.bins
  end
  local rows = {bin = from.bin or {}, samples = {}, alive = {}, alivebytes = {}}
  for _, key in ipairs{"node", "kind", "bytes", "survived", "survivedbytes",
                       "undecidedbytes"} do
    rows[key] = from[key]
  end
  local deaths = measures.hasdeaths(profile)
  for i = 1, #rows.node do
    rows.bin[i] = rows.bin[i] or 0
    rows.samples[i] = from.time and profile.kinds[from.kind[i]].time and from.time[i]
                      or from.samples[i]
    rows.alive[i] = deaths and from.survived[i] - from.later[i] or 0
    rows.alivebytes[i] = deaths and from.survivedbytes[i] - from.laterbytes[i] or 0
  end
  return rows, bins
end

-- Adds up the samples with equal time slice, node and kind. Returns the sums as columns, and the number of
-- their rows.
--
-- rows: samples, as columns (rowsof)
-- binof: function that maps a time slice to its new number
-- nodeof: function that maps a node to its new number
-- kinds, nodes: number of all kinds, and of all new nodes
local function sum(rows, binof, nodeof, kinds, nodes)
  local out, at = {bin = {}, node = {}, kind = {}}, {}
  for _, key in ipairs(COUNTS) do
    out[key] = {}
  end
  local n = 0
  for i = 1, #rows.node do
    local bin, node, kind = binof(rows.bin[i]), nodeof(rows.node[i]), rows.kind[i] - 1
    local key = (bin * (nodes + 1) + node) * kinds + kind
    local to = at[key]
    if not to then
      n = n + 1
      to, at[key] = n, n
      out.bin[n], out.node[n], out.kind[n] = bin, node, kind
      for _, count in ipairs(COUNTS) do
        out[count][n] = 0
      end
    end
    for _, count in ipairs(COUNTS) do
      out[count][to] = out[count][to] + rows[count][i]
    end
  end
  return out, n
end

-- Merges neighbouring time slices until there are at most 'limit' rows. Returns the columns (sum) and the
-- slices: {start, width (us), n (number)}.
--
-- rows, bins: samples as columns, and their time slices (rowsof)
-- nodeof: function from a node to its new number
-- kinds, nodes: number of all kinds, and of all new nodes
local function fit(rows, bins, nodeof, kinds, nodes, limit)
  local step = 1
  while true do
    local out, n = sum(rows, function(b) return b // step end, nodeof, kinds, nodes)
    if n <= limit or step >= bins.n then
      return out, {start = bins.start, width = bins.width * step,
                   n = (bins.n + step - 1) // step}
    end
    step = step * 2
  end
end

--- Returns the samples by time slice, call tree node and kind. Merges time slices until there are at most
-- 'limit' rows. The first result is a table of columns:
--
--   - bin, node, kind: number of the time slice, of the node in 'tree', and of the kind (from 0)
--   - samples: number of samples; for time samples: number of sampling periods
--   - bytes, survived, survivedbytes, undecidedbytes, alive, alivebytes: sums of these samples (COUNTS)
--
-- The second result is the slices: {start, width (us), n (number)}.
--
-- tree: the reduced call tree (asamp.sums.pruned)
function M.of(profile, tree, limit)
  local rows, bins = rowsof(profile)
  return fit(rows, bins, function(node) return tree.map[node] end, #profile.kinds,
             #tree.nodes.parent, limit)
end

--- Returns true if the time slices contain as many stacks as the totals. The reader keeps only a limited
-- number of stacks, for the slices and for the totals separately, and counts the samples of all other stacks
-- at node 0. So this is true if the slices have no more samples at node 0 than the totals.
function M.whole(profile)
  local n = 0
  for i, node in ipairs(profile.sites.node) do
    n = n + (node == 0 and profile.sites.samples[i] or 0)
  end
  for i, node in ipairs(profile.bins.node) do
    n = n - (node == 0 and profile.bins.samples[i] or 0)
  end
  return n >= 0
end

return M
