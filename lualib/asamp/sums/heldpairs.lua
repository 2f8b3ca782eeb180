-- SPDX-License-Identifier: MIT
-- Compares the holders (references that keep objects alive) of two profiles: merges the paths of both into
-- one tree, and returns paths that together contain every sample once.
--
-- A step is one reference of a path, such as ["listeners"]. To merge the trees, the steps that follow the
-- same path in the two profiles are paired. Two steps are a pair if their texts are equal. Other steps are a
-- pair if their texts are equal after line numbers, or the files and lines of functions, are removed. But
-- then no third step may have the same shortened text.

local holders = require "asamp.sums.holders"

local M = {}

-- Limits for the paths that have a row of their own:
--
--   - MOST: a path is extended by one step as long as a single next step has at least 80% of its samples.
--   - SOME: after that, each next step with at least 5% of all samples starts a row of its own. There must be
--     at least two such steps; at the root of the tree, one is enough.
local MOST, SOME = 0.8, 0.05

-- Converts the paths of a profile to a tree and returns its root. 'h': profile.holders. Fields of a node:
--
--   - step: text of the last step of the path; nil: the root
--   - samples, bytes: sums of all paths that start with this path
--   - list: list of the child nodes
local function tree(h)
  local nodes = {[0] = {samples = 0, bytes = 0, list = {}}}
  for path, step in ipairs(h.step) do
    nodes[path] = {step = step, samples = 0, bytes = 0, list = {}}
  end
  for i, path in ipairs(h.path) do
    if path > 0 then
      local node = nodes[path]
      node.samples, node.bytes = node.samples + h.samples[i], node.bytes + h.bytes[i]
    end
  end
  -- Visits children before parents: a path has a higher number than the path that it extends.
  for path = #h.step, 1, -1 do
    local node, above = nodes[path], nodes[h.parent[path]]
    if node.samples > 0 then
      above.samples, above.bytes = above.samples + node.samples, above.bytes + node.bytes
    end
  end
  for path, parent in ipairs(h.parent) do
    local list = nodes[parent].list
    list[#list + 1] = nodes[path].samples > 0 and nodes[path] or nil
  end
  return nodes[0]
end

-- Functions that shorten the text of a step. Two steps are a pair if one of the functions returns the same
-- text for both. The functions are tried in this order: the first one returns the text itself, the second one
-- removes line numbers, the third one removes files and lines of functions.
local KEYS = {
  function(step) return step end,
  function(step) return (step:gsub(":%d+", "")) end,
  function(step) return (step:gsub(" %([^()]*%)", ""):gsub("[^ ]*:%d+", "")) end,
}

-- Returns a map from text to node. The text is that of the node's step, shortened by the rule 'key'. The
-- value is false if several nodes have the same text.
--
-- list: nodes (tree)
-- key: the rule, one of KEYS
local function by(list, key)
  local map = {}
  for _, node in ipairs(list) do
    local k = key(node.step)
    map[k] = map[k] == nil and node or false
  end
  return map
end

-- Pairs the next steps of a path in two profiles by the rules KEYS. Returns a list of {a, b}; a step without
-- a partner is alone in its pair. 'a', 'b': lists of nodes (tree) in the two profiles.
local function pair(a, b)
  local list, taken = {}, {}
  for _, key in ipairs(KEYS) do
    local resta, restb = {}, {}
    for _, node in ipairs(a) do
      resta[#resta + 1] = not taken[node] and node or nil
    end
    for _, node in ipairs(b) do
      restb[#restb + 1] = not taken[node] and node or nil
    end
    local ina, inb = by(resta, key), by(restb, key)
    for _, node in ipairs(resta) do
      local k = key(node.step)
      if ina[k] and inb[k] then
        list[#list + 1] = {a = node, b = inb[k]}
        taken[node], taken[inb[k]] = true, true
      end
    end
  end
  for _, node in ipairs(a) do
    list[#list + 1] = not taken[node] and {a = node} or nil
  end
  for _, node in ipairs(b) do
    list[#list + 1] = not taken[node] and {b = node} or nil
  end
  return list
end

local NOTHING = {samples = 0, list = {}}

local function size(p)
  return (p.a or NOTHING).samples + (p.b or NOTHING).samples
end

-- Returns the steps after a pair of steps, as pairs of both profiles, the one with most samples first.
--
-- p: {a, b}: nodes (tree) of the step in both profiles; a or b may be nil
local function below(p)
  local list = pair((p.a or NOTHING).list, (p.b or NOTHING).list)
  table.sort(list, function(x, y)
    if size(x) ~= size(y) then
      return size(x) > size(y)
    end
    return (x.b or x.a).step < (y.b or y.a).step
  end)
  return list
end

-- Returns the samples and bytes of a step that are in no row of its next steps, as {samples, bytes}. Returns
-- nil if no samples remain.
--
-- node: node of the step in one profile; nil: the profile does not have the step
-- parts: pairs of the next steps that have rows
-- side: "a" or "b": the profile
local function rest(node, parts, side)
  if not node then
    return nil
  end
  local samples, bytes = node.samples, node.bytes
  for _, part in ipairs(parts) do
    local other = part[side]
    if other then
      samples, bytes = samples - other.samples, bytes - other.bytes
    end
  end
  return samples > 0 and {samples = samples, bytes = bytes} or nil
end

-- Returns the texts of a path in both profiles, {a, b}, extended by one step. A profile without the step has
-- the text of the other one.
--
-- path: texts of the path
-- p: pair of the nodes of the step in both profiles
local function extended(path, p)
  local function text(before, node)
    return (before ~= "" and before .. holders.ARROW or "") .. node.step
  end
  return {a = text(path.a, p.a or p.b), b = text(path.b, p.b or p.a)}
end

-- Appends rows of M.of to 'list', for a path and all longer paths that start with it:
--
--   1. Extends the path as long as one next step has most of its samples (MOST).
--   2. Appends rows for each large next step (SOME).
--   3. Appends one row for the path, with the samples that are in none of these steps.
--
-- p: {a, b}: nodes of the last step of the path in both profiles (pair)
-- path: {a, b}: texts of the path in both profiles (extended)
-- whole: number of all samples of both profiles
-- list: receives the rows
local function rows(p, path, whole, list)
  local children = below(p)
  while children[1] and size(children[1]) >= MOST * size(p) do
    p = children[1]
    path = extended(path, p)
    children = below(p)
  end
  local parts = {}
  for _, child in ipairs(children) do
    if size(child) >= SOME * whole then
      parts[#parts + 1] = child
    end
  end
  if #parts < 2 and path.b ~= "" then
    parts = {}
  end
  for _, part in ipairs(parts) do
    rows(part, extended(path, part), whole, list)
  end
  local a, b = rest(p.a, parts, "a"), rest(p.b, parts, "b")
  if a or b then
    local text = b and path.b or path.a
    list[#list + 1] = {name = text ~= "" and text or "(small holders)", a = a, b = b,
                       parted = #parts > 0 and text ~= ""}
  end
end

--- Returns a list of paths that together contain every live sample of two profiles once. Fields of an
-- element:
--
--   - name: text of the path
--   - a, b: {samples, bytes} in each profile; nil: none
--   - parted: true: some longer paths have elements of their own; their samples do not count here
--
-- a, b: fields 'holders' of the profiles
function M.of(a, b)
  local list, root = {}, {a = tree(a), b = tree(b)}
  rows(root, {a = "", b = ""}, size(root), list)
  return list
end

return M
