-- SPDX-License-Identifier: MIT
-- The call tree with its largest nodes only. Pure: a profile in, columns out. What
-- was cut hangs below its nearest kept caller as one node, so that every total stays
-- what it was.

local order = require "asamp.sums.order"

local M = {}

-- For each node: its share of the allocation samples and of the time samples
-- together, with all that was called from it.
local function weights(profile)
  local parent, sites, kinds = profile.nodes.parent, profile.sites, profile.kinds
  local weight = {}
  for i = 1, #parent do
    weight[i] = 0.0
  end
  local allocs = 1 / math.max(1, profile.samples)
  local times = 1 / math.max(1, profile.timesamples)
  for i, node in ipairs(sites.node) do
    if node > 0 then
      weight[node] = weight[node] + sites.samples[i] *
                     (kinds[sites.kind[i]].time and times or allocs)
    end
  end
  local itself = table.move(weight, 1, #weight, 1, {})
  for i = #parent, 1, -1 do
    if parent[i] > 0 then
      weight[parent[i]] = weight[parent[i]] + weight[i]
    end
  end
  return weight, itself
end

-- The set of nodes that stay, or nil when all do. A caller's total is
-- not smaller than a callee's and its number is lower, so that callers stay
-- where callees do.
local function largest(weight, limit)
  local n = #weight
  if n <= limit then
    return nil
  end
  local nodes, keep = {}, {}
  for i = 1, n do
    nodes[i] = i
  end
  table.sort(nodes, order.values(weight))
  for i = 1, limit do
    keep[nodes[i]] = true
  end
  return keep
end

-- Columns of the nodes that stay, the map from old numbers to new, and how
-- many were cut.
local function tree(profile, keep, cutfn)
  local from, to = profile.nodes, {parent = {}, fn = {}, line = {}}
  local map, cutof, n, cut = {[0] = 0}, {}, 0, 0
  local function add(parent, fn, line)
    n = n + 1
    to.parent[n], to.fn[n], to.line[n] = parent, fn, line
    return n
  end
  for i = 1, #from.parent do
    local parent = map[from.parent[i]]
    if not keep or keep[i] then
      map[i] = add(parent, from.fn[i] - 1, from.line[i])
    else
      cut = cut + 1
      local below = keep[from.parent[i]] or from.parent[i] == 0
      if below and not cutof[parent] then
        cutof[parent] = add(parent, cutfn, 0)
      end
      map[i] = below and cutof[parent] or parent
    end
  end
  return to, map, cut
end

--- {nodes = {parent, fn, line} (functions count from 0; what represents others has one
-- more than there are), map (from the profile's nodes to these, 0 to 0), cut (how many
-- were), share (of all samples, that these have themselves)}. At most 'limit' nodes of
-- the profile, those with the largest totals.
function M.of(profile, limit)
  local weight, itself = weights(profile)
  local keep = largest(weight, limit)
  local nodes, map, cut = tree(profile, keep, #profile.functions)
  local left = 0
  for i = 1, keep and #itself or 0 do
    left = left + (keep[i] and 0 or itself[i])
  end
  local sorts = (profile.samples > 0 and 1 or 0) + (profile.timesamples > 0 and 1 or 0)
  return {nodes = nodes, map = map, cut = cut, share = left / math.max(1, sorts)}
end

return M
