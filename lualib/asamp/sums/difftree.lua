-- SPDX-License-Identifier: MIT
-- The call trees of two profiles as one tree of functions, with the numbers of both profiles at each node.
--
-- The comparison is of shares of the whole, so that a longer run alone is no difference. Only live bytes at
-- the end are compared as amounts. C functions with which nearly all stacks of a profile start are left out.

local compare = require "asamp.sums.compare"
local measures = require "asamp.sums.measures"
local samecode = require "asamp.sums.samecode"
local significance = require "asamp.sums.significance"

local M = {}

local SIGMA = 3      -- a change of fewer standard errors counts as noise
-- If at least this share of the stacks starts with a C function, the function is left out.
local START = 0.9
-- Nodes and functions with smaller shares in both profiles are left out.
local SMALL = 1e-4

--- Returns the measures that both profiles have, in display order: {key, field (of sums)}.
--
-- pa, a: the old profile and its totals
-- pb, b: the new profile and its totals
function M.measures(pa, a, pb, b)
  local out = {}
  local function offer(key, field)
    if a.whole[field] > 0 and b.whole[field] > 0 then
      out[#out + 1] = {key = key, field = field}
    end
  end
  local unit = (a.unit == "samples" or b.unit == "samples") and "samples" or "bytes"
  offer(unit, unit)
  offer("blocks", "objects")
  local alive = measures.field("alive", unit)
  if measures.hasdeaths(pa) and measures.hasdeaths(pb) and a.whole[alive] + b.whole[alive] > 0 then
    out[#out + 1] = {key = "alive", field = alive}
  end
  if not compare.clocks(pa, pb) then
    offer("time", "timesamples")
  end
  return out
end

-- {== one profile ===========================================================

local function keyof(fn)
  return ("%s\0%s\0%d\0%s"):format(fn.name, fn.file, fn.line, fn.native and "C" or "")
end

-- Returns the variances of the estimated numbers of blocks in two forms:
--
--   1. a list by call tree node, including its callees
--   2. a map by function (keyof), without callees
--
-- Assumes that all blocks of an allocation site are equally large, because the sizes of single blocks are
-- unknown.
local function blocksvariance(profile)
  local parent, sites, list, own, byfn = profile.nodes.parent, profile.sites, {}, {}, {}
  for i = 0, #parent do
    list[i] = 0
  end
  for i, node in ipairs(sites.node) do
    local objects, n = sites.objects and sites.objects[i] or 0, sites.samples[i]
    if objects > 0 and n > 0 then
      local variance = objects * objects / n
      local f = profile.nodes.fn[node]
      list[node] = list[node] + variance
      if f then
        byfn[f] = (byfn[f] or 0) + variance
      end
    end
  end
  for f, variance in pairs(byfn) do
    local key = keyof(profile.functions[f])
    own[key] = (own[key] or 0) + variance
  end
  for i = #parent, 1, -1 do
    list[parent[i]] = list[parent[i]] + list[i]
  end
  return list, own
end

-- Returns a table that reads the values of one profile for one measure. The share of a value is the value
-- divided by 'whole'. Fields of the table:
--
--   - value(node): value of a call tree node with its callees
--   - variance(node): variance of the share of this value
--   - ofrow(row): variance of a function's share, without its callees; 'row': a row of the totals
--   - usual: mean share that one sample represents; significance.test uses it if a sum is 0
--   - whole: the parameter 'whole'
--
-- t: totals of the profile
-- field: field of sums, such as "bytes"
-- whole: total of the field, by which values are divided
local function side(profile, t, field, whole)
  local columns = t.sums
  local blocks, own
  if field == "objects" then
    blocks, own = blocksvariance(profile)
  end
  -- Reads the fields of the call tree node 'node' (the variable) as measures.variance reads those of a sum:
  -- sum.bytes is the node's bytes with its callees. One such table serves all nodes.
  local node
  local sum = setmetatable({}, {__index = function(_, key)
    local column = columns[key]
    return column and column[node] or 0
  end})
  local function variance(i)
    if blocks then
      return blocks[i] / whole ^ 2
    end
    node = i
    return measures.variance(profile, sum, field) / whole ^ 2
  end
  local function ofrow(row)
    if row.self[field] == 0 then
      return 0
    end
    return (own and own[keyof(row)] or measures.variance(profile, row.self, field)) / whole ^ 2
  end
  local column, total = columns[field] or {}, t.whole[field]
  local weight = total > 0 and (blocks and blocks[0] or measures.variance(profile, t.whole, field)) / total
                 or measures.isbytes(field) and math.max(profile.period or 1, 1) or 1
  return {whole = whole, value = function(i) return column[i] or 0 end, variance = variance, ofrow = ofrow,
          usual = weight / whole}
end

-- Returns the set of the C functions (call tree nodes) that only show how the interpreter calls the script.
-- At least the share START of all stacks starts with such a node, and the node itself has no samples.
local function start(profile, t)
  local set, parent = {}, profile.nodes.parent
  local limits = {samples = START * t.whole.samples, timesamples = START * t.whole.timesamples}
  local function most(i)
    for field, limit in pairs(limits) do
      local column = t.sums[field]
      if limit > 0 and column and column[i] >= limit then
        return true
      end
    end
  end
  for i, up in ipairs(parent) do
    local ended = false
    for field in pairs(limits) do
      ended = ended or t.self[field] and t.self[field][i] > 0
    end
    if (up == 0 or set[up]) and profile.functions[profile.nodes.fn[i]].native and not ended and most(i) then
      set[i] = true
    end
  end
  return set
end

-- ==}

-- {== the tree of the functions of both profiles ============================

-- Returns the functions of both profiles as one list, those of the new profile first:
--
--   1. the list: {name, file, line, native} each
--   2. map from the function numbers of the old profile to indexes in the list
--   3. map from the function numbers of the new profile to indexes in the list
--   4. map from the keys of functions (keyof) to indexes in the list
--
-- pa, pb: old and new profile
-- same: pairs of equal functions (samecode.functions)
local function functions(pa, pb, same)
  local list, at, old, partner = {}, {}, {}, {}
  local function number(fn)
    local key = keyof(fn)
    if not at[key] then
      list[#list + 1] = {name = fn.name, file = fn.file, line = fn.line, native = fn.native}
      at[key] = #list
    end
    return at[key]
  end
  local new = {}
  for i, fn in ipairs(pb.functions) do
    new[i] = number(fn)
  end
  for x, y in pairs(same) do
    partner[keyof(x)] = keyof(y)
  end
  for i, fn in ipairs(pa.functions) do
    local key = partner[keyof(fn)]
    old[i] = key and at[key] or number(fn)
  end
  return list, old, new, at
end

-- Adds a profile's call tree to the common tree. Returns a map from the profile's nodes to nodes of the
-- common tree (0: the root). A node that is left out maps to its parent's node.
--
-- tree: the common tree
-- bykey: map from a key of parent and function to the node of the common tree
-- numbers: map from function numbers of the profile to indexes in the common list of functions (functions)
-- folded: set of nodes that are left out (start)
local function add(tree, bykey, profile, numbers, folded)
  local map = {[0] = 0}
  for i, up in ipairs(profile.nodes.parent) do
    if folded[i] then
      map[i] = map[up]
    else
      local fn = numbers[profile.nodes.fn[i]]
      local key = map[up] << 32 | fn
      local node = bykey[key]
      if not node then
        node = #tree.parent + 1
        tree.parent[node], tree.fn[node], bykey[key] = map[up], fn, node
      end
      map[i] = node
    end
  end
  return map
end

-- Adds the values of one profile to the rows of a comparison. A row represents a node of the common tree.
--
-- one: reads the values of the profile (result of side)
-- map: map from the profile's nodes to those of the common tree (add)
-- folded: set of the profile's nodes that are left out
-- rows: list of the rows
-- numbers: map from nodes of the common tree to indexes in 'rows'; nil: the node has no row
-- value: name of the field of a row to which the value is added
-- variance: name of the field to which its variance is added
local function gather(one, map, folded, rows, numbers, value, variance)
  for i = 1, #map do
    local row = not folded[i] and rows[numbers[map[i]] or 0]
    if row then
      row[value] = row[value] + one.value(i)
      row[variance] = row[variance] + one.variance(i)
    end
  end
end

-- Sets the weight of each node of the common tree to the node's share in one profile, unless the weight is
-- larger already. After the calls for both profiles and all measures, a weight is the node's largest share.
--
-- weight: map from nodes of the common tree to their weights
-- one: reads the values of the profile (result of side)
-- map: map from the profile's nodes to those of the common tree (add)
-- folded: set of the profile's nodes that are left out
local function weigh(weight, one, map, folded)
  local sums = {}
  for i = 1, #map do
    if not folded[i] then
      sums[map[i]] = (sums[map[i]] or 0) + one.value(i)
    end
  end
  for node, n in pairs(sums) do
    weight[node] = math.max(weight[node] or 0, n / one.whole)
  end
end

-- ==}

-- Compares shares: the values a and b of each row, divided by the totals of the old and of the new profile.
-- Sets these fields of the row:
--
--   - change: share in the new profile minus share in the old one
--   - error: standard error of the change
--   - noise: true: the change may be chance
--
-- sa, sb: read the values of the old and of the new profile (results of side)
local function test(rows, sa, sb)
  local list = {}
  for i = 1, #rows do
    local row = rows[i]
    local x, y = row.a / sa.whole, row.b / sb.whole
    row.change = y - x
    row.error, row.p, row.least = significance.test(x, row.va, sa.usual, y, row.vb, sb.usual)
    list[i] = row
  end
  significance.mark(list, SIGMA)
end

local function newrows(n)
  local rows = {}
  for i = 1, n do
    rows[i] = {a = 0, b = 0, va = 0, vb = 0}
  end
  return rows
end

-- Returns a row for each function:
--
--   - fn: index in the common list of functions
--   - a, b: values in the old and the new profile, without callees
--   - va, vb: variances of the shares that these values have
--   - totala, totalb: values with callees
--
-- a, b: totals of the old and the new profile
-- sa, sb: read the values of the old and of the new profile (results of side)
-- field: field of sums
-- same: pairs of equal functions (samecode.functions)
-- at: map from keys of functions to their indexes in the common list (functions)
local function byfunction(a, sa, b, sb, field, same, at)
  local rows, byrow = {}, {}
  for _, fn in ipairs(b.functions) do
    local row = {fn = at[keyof(fn)], a = 0, b = fn.self[field], va = 0, totala = 0, totalb = fn.total[field],
                 vb = sb.ofrow(fn)}
    rows[#rows + 1], byrow[fn] = row, row
  end
  for _, fn in ipairs(a.functions) do
    local row = byrow[same[fn]]
    if not row then
      row = {fn = at[keyof(fn)], b = 0, vb = 0, totalb = 0}
      rows[#rows + 1] = row
    end
    row.a, row.totala, row.va = fn.self[field], fn.total[field], sa.ofrow(fn)
  end
  return rows
end

-- Removes small nodes from the common tree: those with a weight below SMALL, and the smallest ones beyond
-- 'limit'. Returns the new tree, a map from old to new nodes, and the number of removed nodes.
--
-- tree: the common tree
-- weight: map from each node to its largest share in either profile (weigh)
local function prune(tree, weight, limit)
  local order = {}
  for i = 1, #tree.parent do
    order[#order + 1] = (weight[i] or 0) >= SMALL and i or nil
  end
  table.sort(order, function(x, y)
    if weight[x] ~= weight[y] then
      return weight[x] > weight[y]
    end
    return x < y
  end)
  local keep = {}
  for k = 1, math.min(limit, #order) do
    keep[order[k]] = true
  end
  local out, map = {parent = {}, fn = {}}, {[0] = 0}
  for i, up in ipairs(tree.parent) do
    if keep[i] then
      map[i] = #out.parent + 1
      out.parent[map[i]], out.fn[map[i]] = map[up], tree.fn[i]
    end
  end
  return out, map, #tree.parent - #out.parent
end

--- Returns the comparison of two profiles. In names of fields, a is the old profile and b the new one.
--
--   - functions: list of {name, file, line, native}
--   - nodes: the common tree as two columns: 'parent' (number of the parent node, which is lower than the
--     node's own; 0: the root) and 'fn' (index in 'functions')
--   - left: number of nodes left out
--   - measures: list of the compared measures. Fields of a measure:
--     - key, field: name of the measure, and its field of sums
--     - wholea, wholeb: totals of the profiles
--     - ofa, ofb: totals by which amounts are divided to get shares
--     - nodes: list with a row for each node of the tree; amounts include callees
--     - functions: list with a row for each function; amounts exclude callees
--
-- Fields of a row:
--
--   - a, b: amounts
--   - change, error: change of the share, and its standard error
--   - noise: true: the change may be chance
--   - fn, totala, totalb: only for functions: index in 'functions', and amounts with callees
--
-- pa, a: old profile and its totals
-- pb, b: new profile and its totals
-- list: measures to compare (M.measures)
-- limit: largest number of nodes
function M.of(pa, a, pb, b, list, limit)
  local same = samecode.of(a, b).functions
  local fns, oldnumbers, newnumbers, at = functions(pa, pb, same)
  local tree, bykey = {parent = {}, fn = {}}, {}
  local foldedb, foldeda = start(pb, b), start(pa, a)
  local mapb = add(tree, bykey, pb, newnumbers, foldedb)
  local mapa = add(tree, bykey, pa, oldnumbers, foldeda)
  local sides, weight = {}, {}
  for i, measure in ipairs(list) do
    local wa, wb = a.whole[measure.field], b.whole[measure.field]
    if measure.key == "alive" then
      wa = math.max(wa, wb)
      wb = wa
    end
    sides[i] = {a = side(pa, a, measure.field, wa), b = side(pb, b, measure.field, wb)}
    weigh(weight, sides[i].a, mapa, foldeda)
    weigh(weight, sides[i].b, mapb, foldedb)
  end
  local kept, map, left = prune(tree, weight, limit)
  map[0] = nil
  local results = {}
  for i, measure in ipairs(list) do
    local sa, sb, rows = sides[i].a, sides[i].b, newrows(#kept.parent)
    gather(sa, mapa, foldeda, rows, map, "a", "va")
    gather(sb, mapb, foldedb, rows, map, "b", "vb")
    local fnrows = byfunction(a, sa, b, sb, measure.field, same, at)
    test(rows, sa, sb)
    test(fnrows, sa, sb)
    results[i] = {key = measure.key, field = measure.field, ofa = sa.whole, ofb = sb.whole,
                  wholea = a.whole[measure.field], wholeb = b.whole[measure.field],
                  nodes = rows, functions = fnrows}
  end
  return {functions = fns, nodes = kept, left = left, measures = results}
end

return M
