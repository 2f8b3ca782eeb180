-- SPDX-License-Identifier: MIT
-- Converts the call tree of a profile to rows of functions in display order, without its small parts.
--
-- Frames of a function that differ only in their current line are merged. A row is indented deeper than its
-- parent only if the parent has several visible children, so that deep stacks stay readable. C functions at
-- the start of all stacks are left out.

local order = require "asamp.sums.order"

local M = {}

-- Merges frames of a function that differ only in their current line. Returns the new tree as columns
-- {parent, fn, self, total}; children have higher indices than parents.
--
-- itself, sums: values of each call tree node, without and with its callees (fields 'self' and 'sums' of the
-- result of totals.of)
-- field: the measure: a field of these values, such as "bytes"
local function merge(profile, itself, sums, field)
  local tree = {parent = {}, fn = {}, self = {}, total = {}}
  local merged, bykey = {[0] = 0}, {}
  local nodes = profile.nodes
  for i, up in ipairs(nodes.parent) do
    local fn = nodes.fn[i]
    local key = merged[up] << 32 | fn
    local at = bykey[key]
    if not at then
      at = #tree.fn + 1
      bykey[key] = at
      tree.parent[at], tree.fn[at] = merged[up], fn
      tree.self[at], tree.total[at] = 0, 0
    end
    merged[i] = at
    tree.self[at] = tree.self[at] + itself[field][i]
    tree.total[at] = tree.total[at] + sums[field][i]
  end
  return tree
end

local function childrenof(tree)
  local children = {}
  for i, up in ipairs(tree.parent) do
    local list = children[up]
    if not list then
      list = {}
      children[up] = list
    end
    list[#list + 1] = i
  end
  for _, list in pairs(children) do
    table.sort(list, order.values(tree.total))
  end
  return children
end

--- Returns the rows of a call tree in display order:
--
--   - fn: element of profile.functions; nil: the row sums the small children of its parent
--   - more: number of these small children
--   - self, total: values without and with callees
--   - depth: number of frames from the root of the tree
--   - level: indentation
--   - last: true: the row is the last one of its siblings
--   - chained: true: the row is the only visible part of its parent, and is not indented deeper
--   - bars: list by level: true if a bar is drawn there, because the ancestor at this level has further
--     children below
--
-- t: totals of the profile
-- field: the measure, such as "bytes"
-- options: {min (smallest visible share of the whole, percent), depth (largest depth of a visible node)}
function M.rows(profile, t, field, options)
  if not t.self[field] then
    return {}
  end
  local tree = merge(profile, t.self, t.sums, field)
  local children = childrenof(tree)
  local least = math.max(t.whole[field] * options.min / 100, 1)
  local rows = {}

  -- Returns three values: the list of a node's visible children; the total of its other children, or 0 if
  -- that is too small to be visible; and the number of these other children.
  local function shown(node, depth)
    local list, rest, more = {}, 0, 0
    for _, child in ipairs(children[node] or {}) do
      if tree.total[child] >= least and depth < options.depth then
        list[#list + 1] = child
      elseif tree.total[child] > 0 then
        rest, more = rest + tree.total[child], more + 1
      end
    end
    return list, rest >= least and rest or 0, more
  end

  -- Rows that are not in the result yet. The last element of the stack is the next row of the result.
  local stack = {}
  local function push(node, depth, level, bars)
    local list, rest, more = shown(node, depth)
    local n = #list + (rest > 0 and 1 or 0)
    local itself = node > 0 and tree.self[node] >= least
    local chained = n == 1 and not itself
    local deeper = chained and level or level + 1
    local function entry(last)
      return {level = deeper, chained = chained, last = last, bars = bars,
              depth = depth + 1}
    end
    if rest > 0 then
      local e = entry(true)
      e.more, e.total, e.self = more, rest, 0
      stack[#stack + 1] = e
    end
    for i = #list, 1, -1 do
      local e = entry(rest == 0 and i == #list)
      e.node = list[i]
      stack[#stack + 1] = e
    end
  end

  push(0, 0, 0, {})
  while #stack > 0 do
    local e = table.remove(stack)
    rows[#rows + 1] = e
    if e.node then
      e.fn = profile.functions[tree.fn[e.node]]
      e.self, e.total = tree.self[e.node], tree.total[e.node]
      local bars = e.bars
      if not e.chained then
        bars = table.move(bars, 1, #bars, 1, {})
        bars[e.level] = not e.last
      end
      push(e.node, e.depth, e.level, bars)
    end
  end
  -- Omits the interpreter's C functions before the script.
  local first = 1
  while rows[first + 1] and rows[first].level == 0 and rows[first].fn and
        rows[first].fn.native and rows[first].self < least do
    first = first + 1
  end
  return table.move(rows, first, #rows, 1, {})
end

--- Converts the rows of M.rows to a list of trees. The parameters are those of M.rows. Fields of a node:
--
--   - name, file, line, native: the node's function (native: true for a C function)
--   - self, total: values without and with callees
--   - children: list of nodes; nil: none
--   - more: number of small children, in a node that represents these; else nil
function M.nested(profile, t, field, options)
  local rows = M.rows(profile, t, field, options)
  local roots, at = {}, {}
  for _, row in ipairs(rows) do
    local fn, above = row.fn, at[row.depth - 1]
    local node = {total = row.total, more = row.more}
    if fn then
      node.name, node.file, node.line = fn.name, fn.file, fn.line
      node.native, node.self = fn.native, row.self
    end
    local list = roots
    if above then
      above.children = above.children or {}
      list = above.children
    end
    list[#list + 1] = node
    at[row.depth] = node
  end
  return roots
end

return M
