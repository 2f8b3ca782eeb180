-- SPDX-License-Identifier: MIT
-- A profile (as profiler.reader returns it) in, totals per function, line and
-- type out. Pure: reads the profile, changes nothing, prints nothing.
--
-- own    what was allocated by the thing itself: of a function, samples whose
--        innermost frame it is; of a line, samples whose innermost frame
--        written in Lua is at that line
-- total  samples that have it anywhere on their stack, counted once however
--        often it is there (recursion)

local M = {}

-- {samples, bytes, survived, survivedbytes, undecided}, all 0
local function zero()
  return {samples = 0, bytes = 0, survived = 0, survivedbytes = 0,
          undecided = 0}
end

local function add(to, from)
  for k in pairs(to) do
    to[k] = to[k] + from[k]
  end
end

-- Sums of the sites per node, and per kind. Of a profile that has samples of
-- allocations, those of time are left out.
local function sumsites(profile)
  local own, kinds, whole = {}, {}, zero()
  local sites = profile.sites
  for i, node in ipairs(sites.node) do
    local kind = profile.kinds[sites.kind[i]]
    if profile.samples == 0 or not kind.time then
      local site = zero()
      for k in pairs(site) do
        site[k] = sites[k][i]
      end
      own[node] = own[node] or zero()
      kinds[kind] = kinds[kind] or zero()
      add(own[node], site)
      add(kinds[kind], site)
      add(whole, site)
    end
  end
  return own, kinds, whole
end

-- Sums of every node with all that was called from it. Children stand behind
-- their parents.
local function sumtrees(parent, own)
  local sums = {}
  for i = #parent, 1, -1 do
    local sum = sums[i] or zero()
    sums[i] = sum
    if own[i] then
      add(sum, own[i])
    end
    local up = parent[i]
    if up ~= 0 then
      sums[up] = sums[up] or zero()
      add(sums[up], sum)
    end
  end
  return sums
end

-- Calls enter(node) and leave(node) for every node, parents around their
-- children, without recursion.
local function walk(parent, enter, leave)
  local first, nextone = {}, {}
  for i = #parent, 1, -1 do
    nextone[i] = first[parent[i]]
    first[parent[i]] = i
  end
  local node = first[0]
  while node do
    enter(node)
    local child = first[node]
    while not child and node ~= 0 do
      leave(node)
      child = nextone[node]
      node = child and node or parent[node]
    end
    node = child
  end
end

-- Adds to every row's total the trees of its outermost nodes. rowof[node]
-- may be nil: the node belongs to no row.
local function addtotals(parent, sums, rowof)
  local depth = {}  -- how often the row is on the path from the root
  walk(parent, function(node)
    local row = rowof[node]
    if row then
      if not depth[row] or depth[row] == 0 then
        depth[row] = 0
        add(row.total, sums[node])
      end
      depth[row] = depth[row] + 1
    end
  end, function(node)
    local row = rowof[node]
    if row then
      depth[row] = depth[row] - 1
    end
  end)
end

local function functions(profile, own, sums)
  local rows, rowof = {}, {}
  local nodes = profile.nodes
  for f, fn in ipairs(profile.functions) do
    rows[f] = {name = fn.name, file = fn.file, line = fn.line,
               native = fn.native, own = zero(), total = zero()}
  end
  for i, f in ipairs(nodes.fn) do
    rowof[i] = rows[f]
    if own[i] then
      add(rows[f].own, own[i])
    end
  end
  addtotals(nodes.parent, sums, rowof)
  return rows
end

local function lines(profile, own, sums)
  local rows, rowof, bykey = {}, {}, {}
  local nearest = {}  -- row of the innermost Lua frame of a node's stack
  local nodes = profile.nodes
  if not profile.lines then
    return rows
  end
  for i, f in ipairs(nodes.fn) do
    local fn = profile.functions[f]
    if fn.native then
      nearest[i] = nearest[nodes.parent[i]]
    else
      local key = fn.file .. "\0" .. nodes.line[i]
      local row = bykey[key]
      if not row then
        row = {file = fn.file, line = nodes.line[i], name = fn.name,
               own = zero(), total = zero()}
        bykey[key] = row
        rows[#rows + 1] = row
      end
      rowof[i], nearest[i] = row, row
    end
    if own[i] and nearest[i] then
      add(nearest[i].own, own[i])
    end
  end
  addtotals(nodes.parent, sums, rowof)
  return rows
end

-- The rows that have samples: largest own first, then largest total, then by
-- name and place.
local function sorted(all, unit)
  local rows = {}
  for _, row in ipairs(all) do
    if row.total.samples > 0 then
      rows[#rows + 1] = row
    end
  end
  table.sort(rows, function(a, b)
    if a.own[unit] ~= b.own[unit] then
      return a.own[unit] > b.own[unit]
    elseif a.total[unit] ~= b.total[unit] then
      return a.total[unit] > b.total[unit]
    elseif a.name ~= b.name then
      return a.name < b.name
    elseif a.file ~= b.file then
      return a.file < b.file
    end
    return a.line < b.line
  end)
  return rows
end

local function types(kinds, unit)
  local rows = {}
  for kind, sum in pairs(kinds) do
    rows[#rows + 1] = {name = kind.name, own = sum, blocks = kind.blocks,
                       objects = kind.objects, outside = kind.outside}
  end
  table.sort(rows, function(a, b)
    if a.own[unit] ~= b.own[unit] then
      return a.own[unit] > b.own[unit]
    end
    return a.name < b.name
  end)
  return rows
end

--- Totals of a profile:
-- {unit = "bytes" or "samples" (when the file does not tell bytes), whole,
-- functions, lines, types}. 'whole' and every row's 'own' and 'total' are
-- {samples, bytes, survived, survivedbytes, undecided}. Rows of functions:
-- {name, file, line, native, own, total}; of lines: {file, line, name (of a
-- function there), own, total}; of types: {name, own, blocks (sampled), objects
-- (estimated, 0: unknown), outside (of the blocks)}. Sorted, the largest
-- first.
function M.of(profile)
  local own, kinds, whole = sumsites(profile)
  local sums = sumtrees(profile.nodes.parent, own)
  local unit = whole.bytes > 0 and "bytes" or "samples"
  return {
    unit = unit, whole = whole, types = types(kinds, unit),
    functions = sorted(functions(profile, own, sums), unit),
    lines = sorted(lines(profile, own, sums), unit),
  }
end

return M
