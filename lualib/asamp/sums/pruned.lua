-- SPDX-License-Identifier: MIT
-- Reduces the call tree to its largest nodes. Removed nodes are merged into one below their nearest remaining
-- caller, so that totals stay the same.

local order = require "asamp.sums.order"

local M = {}

-- Returns the weights of the call tree nodes. The weight of samples is their share of all allocation samples,
-- or of all time samples. Returns two lists by node: weights with the samples of the node's callees, and
-- without them.
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

-- Returns the set of the 'limit' nodes with the largest weights, or nil if the tree has at most 'limit'
-- nodes. The set contains all callers of its nodes: a caller has at least the weight of its callee, and
-- precedes it if both weights are equal, because its index is lower.
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

-- Returns the reduced call tree as columns {parent, fn, line}, a map from old to new nodes, and the number of
-- removed nodes.
--
-- keep: set of the nodes to keep; nil: all
-- cutfn: number of the function that represents removed nodes
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

--- Returns the call tree reduced to its largest nodes:
--
--   - nodes: the reduced tree, as columns:
--     - parent: number of the caller; 0: the root
--     - line: current line of the frame; 0: unknown
--     - fn: index of the function, from 0; of merged nodes: the index after the last function
--   - map: map from the profile's nodes to nodes of the reduced tree
--   - cut: number of removed nodes
--   - share: share of the samples that are in removed nodes, the mean of allocation and time samples
--
-- limit: largest number of nodes to keep
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
