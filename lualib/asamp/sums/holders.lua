-- SPDX-License-Identifier: MIT
-- Paths of holders as text: the references that keep an object alive.
--
-- A path starts at a root of the Lua state. A step is one reference of a path: a table with the fields text,
-- such as '["listeners"]', and function (name of the function that the step reaches, or nil).

local order = require "asamp.sums.order"

local M = {}

M.ARROW = " → "

-- Roots that are shown without the preceding step "registry".
local WITHOUT = {["_G"] = true, ["package.loaded"] = true, ["main thread"] = true,
                 ["reference of luaL_ref"] = true}

-- Returns true if step b makes step a obvious: a is a field with a function, and b is an upvalue of this
-- function, so that the text of b names it.
local function implies(a, b)
  local name = a.text:match '^%["(.*)"%]$'
  local of = b and b.text:match '^upvalue .- of (.*)$'
  return name and of and a["function"] and
         (of == a["function"]) and of:sub(1, #name + 2) == name .. " ("
end

--- Returns the texts of a path's steps. Omits a step if the text of the step after it names the same object
-- (implies), and a registry or main thread before a more exact step. 'path': list of steps, the root first.
function M.steps(path)
  local list = {}
  for i, step in ipairs(path) do
    local following = path[i + 1]
    -- This step is an upvalue without a name: reads the step after it.
    if following and following.text == "" then
      following = path[i + 2]
    end
    local thread = following and (following.text:find "^local " or
                                  following.text:find "^stack of " or
                                  following.text == "running function")
    if list[#list] == "package.loaded" and step.text:find '^%["' then
      list[#list] = "package.loaded" .. step.text
    elseif step.text ~= "" and not implies(step, following)
           and not (step.text == "registry" and following and WITHOUT[following.text])
           and not (step.text == "main thread" and thread) then
      list[#list + 1] = step.text
    end
  end
  return list
end

function M.text(path)
  return table.concat(M.steps(path), M.ARROW)
end

--- Converts a tree of references to a list of whole paths: returns a row for each path that leads to objects,
-- first the path with the largest share of the bytes or of the objects. An object counts only for its own
-- path, not for shorter ones. Fields of a row:
--
--   - text: the path
--   - count: number of the objects
--   - value: bytes that they retain; 0: objects of other rows retain these bytes, such as the list that
--     contains the objects
--   - class: their class
--   - part: the larger one of its shares of all bytes and of all objects, 0 to 1
--
-- rows: the tree, a result of heap:heldby (profiler.heap)
function M.leaves(rows)
  local below, theirs, list, all, bytes = {}, {}, {}, 0, 0
  for i, row in ipairs(rows) do
    below[i], theirs[i] = 0, 0
    if row.above then
      below[row.above] = below[row.above] + row.count
      theirs[row.above] = theirs[row.above] + row.value
    else
      all, bytes = all + row.count, bytes + row.value
    end
  end
  for i, row in ipairs(rows) do
    if below[i] < row.count then
      local path, at = {}, i
      while at do
        table.insert(path, 1, rows[at])
        at = rows[at].above
      end
      list[#list + 1] = {text = M.text(path), count = row.count - below[i],
                         value = row.value - theirs[i], class = row.class}
    end
  end
  for _, leaf in ipairs(list) do
    leaf.part = math.max(leaf.value / math.max(bytes, 1), leaf.count / math.max(all, 1))
  end
  table.sort(list, order.by("-part", "-value", "text"))
  return list
end

--- Returns the rows of a tree of references (heap:heldby, profiler.heap) that have at least 'least' bytes.
-- They form a tree, too, because a parent has at least as many bytes as its child. Sets the field 'above' of
-- each row to the index of its parent in the result.
function M.atleast(rows, least)
  local kept, at = {}, {}
  for i, row in ipairs(rows) do
    if row.value >= least then
      kept[#kept + 1], at[i] = row, #kept + 1
      row.above = at[row.above]
    end
  end
  return kept
end

-- Texts of steps that represent all elements of a table, and the kind of the table: "list", or "keys" for a
-- table with keys.
local MANY = {["[1..n]"] = "list", ["[*]"] = "keys", key = "keys", ["[*] (weak key)"] = "keys"}
-- The registry's table of debug.sethook, which has a hook for each coroutine. It does not count as a table
-- with many elements.
local HOOKS = '["_HOOKKEY"]'

--- Tables with independent entries. If a path leads through such a table, the holder of the objects is one
-- entry, such as one module or one global variable. For other tables, the holder is the table.
M.NAMED = {["package.loaded"] = true, ["_G"] = true, registry = true}

--- Finds the table of NAMED through an entry of which a path leads. Returns its name: "package.loaded", "_G"
-- or "registry". Returns nil if there is none. 'text': text of the path.
function M.ofentry(text)
  local table_ = text:match '^(package%.loaded)%["' or text:match("^([%w_]+)" .. M.ARROW .. '%["')
  return M.NAMED[table_] and table_
end

-- Returns the kind of a table, "list" or "keys", if a step represents all elements of the table (MANY).
-- Returns nil for any other step, and for the table HOOKS.
--
-- step: text of the step from the table to its elements
-- before: text of the step before, which leads to the table
local function many(step, before)
  return before ~= HOOKS and MANY[step] or nil
end

--- Splits the text of a path at the first table with many elements. Returns three values:
--
--   1. the path to this table
--   2. the kind of the table: "list" or "keys"
--   3. the steps that follow the element of the table
--
-- If the path has no such table, returns the whole path, nil and "".
function M.container(text)
  local steps = {}
  for step in (text .. M.ARROW):gmatch("(.-)" .. M.ARROW) do
    steps[#steps + 1] = step
  end
  for i = 2, #steps do
    local kind = many(steps[i], steps[i - 1])
    if kind then
      return table.concat(steps, M.ARROW, 1, i - 1), kind,
             table.concat(steps, M.ARROW, i + 1)
    end
  end
  return text, nil, ""
end

--- Finds the first table with many elements that a path leads through. Returns the number of the path to that
-- table, or nil if there is none.
--
-- h: profile.holders, the tree of the paths of references
-- path: number of the path
function M.cut(h, path)
  local found
  while path > 0 do
    local parent = h.parent[path]
    if parent > 0 and many(h.step[path], h.step[parent]) then
      found = parent
    end
    path = parent
  end
  return found
end

--- Returns a function that compares a path with 'text', the text of another path. Its parameter is the index
-- of the path in h. It returns two values:
--
--   1. true if the text of the path starts with 'text'
--   2. true if 'text' also ends at the end of one of the path's steps, so that the path leads through the
--      object at the end of 'text'
--
-- The function does not build the texts of paths, because all of them together may need much memory.
--
-- h: profile.holders, the tree of the paths of references
function M.starting(h, text)
  -- By index of a path: number of bytes of its text, in whole steps, that equal the start of 'text'; -1: a
  -- step differs.
  local length = {[0] = 0}
  local function equal(path)
    local n = length[path]
    if not n then
      n = equal(h.parent[path])
      if n >= 0 and n < #text then
        local step = (n > 0 and M.ARROW or "") .. h.step[path]
        n = step:sub(1, #text - n) == text:sub(n + 1, n + #step) and n + #step or -1
      end
      length[path] = n
    end
    return n
  end
  return function(path)
    local n = equal(path)
    return n >= #text, n == #text
  end
end

--- Returns the kind of a table whose elements hold objects: "list", or "keys" for a table with keys. The kind
-- of package.loaded, _G and the registry is always "keys". Returns nil if the elements of the table hold no
-- objects.
--
-- h: profile.holders, the tree of the paths of references
-- text: text of the path to the table
function M.elements(h, text)
  local kind, starting = M.NAMED[text] and "keys", M.starting(h, text)
  local function through(path) return (select(2, starting(path))) end
  for path, step in ipairs(h.step) do
    local parent = h.parent[path]
    local own = parent > 0 and kind ~= "keys" and many(step, h.step[parent])
    if own and through(parent) and not through(h.parent[parent]) then
      kind = own
    end
  end
  return kind
end

--- Returns a function that finds the object at the start of a tree or chain. The function maps the number of
-- a path to the number of the path to this object. So it returns the same for all nodes of a tree.
--
-- To find the object, the function cuts a path before its first repeated step. A step is repeated if it
-- occurs twice in this path, or twice in another path from the same root. A path without such a step is not
-- cut.
--
-- h: profile.holders, the tree of the paths of references
function M.stems(h)
  local roots, again = {}, {}
  for path = 1, #h.step do
    local at = path
    repeat
      roots[path], at = at, h.parent[at]
      if at > 0 and h.step[at] == h.step[path] then
        again[path] = true
      end
    until at == 0
  end
  local steps = {}
  for path in pairs(again) do
    steps[roots[path] .. "\0" .. h.step[path]] = true
  end
  return function(path)
    local stem = path
    while path > 0 do
      local parent = h.parent[path]
      if parent > 0 and steps[roots[path] .. "\0" .. h.step[path]] then
        stem = parent
      end
      path = parent
    end
    return stem
  end
end

-- {== in a profile ==========================================================

-- M.of selects paths that represent many samples, by these rules:
--
--   - MOST: if one longer path has at least 80% of a path's samples, the longer path is selected instead.
--   - SOME: if at least two longer paths have 20% of all samples each, they are selected instead.
--   - PATHS: at most 3 paths are selected.
local MOST, SOME, PATHS = 0.8, 0.2, 3

function M.pathtext(h, path)
  local steps = {}
  while path > 0 do
    table.insert(steps, 1, h.step[path])
    path = h.parent[path]
  end
  return table.concat(steps, M.ARROW)
end

-- Returns true if the last step of a path occurs earlier in it, as in a chain. Steps to the elements of a
-- list or table, such as "[1..n]", are not compared: they have the same text for different tables.
--
-- h: profile.holders, the tree of the paths of references
-- path: number of the path
local function repeats(h, path)
  local step, at = h.step[path], MANY[h.step[path]] and 0 or h.parent[path]
  while at > 0 and h.step[at] ~= step do
    at = h.parent[at]
  end
  return at > 0
end

-- Returns two maps from the number of a path:
--
--   1. the number of its samples, including those of all longer paths
--   2. the list of the paths with one more step, most samples first. Paths that repeat a step are left out
--
-- h: profile.holders, the tree of the paths of references
-- own: samples by path
local function sums(h, own)
  local all, children = {}, {}
  for path, n in pairs(own) do
    while path > 0 do
      if not all[path] then
        all[path] = 0
        local parent = h.parent[path]
        local list = children[parent] or {}
        children[parent], list[#list + 1] = list, not repeats(h, path) and path or nil
      end
      all[path] = all[path] + n
      path = h.parent[path]
    end
  end
  for _, list in pairs(children) do
    table.sort(list, order.values(all))
  end
  return all, children
end

-- Extends a path by one step as long as one longer path has most of its samples (MOST). Returns the number of
-- the last path.
--
-- path: number of the path
-- all: map from the number of a path to its samples, including those of all longer paths
-- children: map from the number of a path to the list of the paths with one more step, most samples first
local function deepest(path, all, children)
  local child = children[path] and children[path][1]
  while child and all[child] >= MOST * all[path] do
    path = child
    child = children[path] and children[path][1]
  end
  return path
end

-- Appends rows {text, samples, share} to 'list' for the paths that extend 'path', until the list has PATHS
-- rows. A path has a row if it has at least the share SOME of all samples. But if at least two longer paths
-- that start with it have rows, it has none itself.
--
-- h: profile.holders, the tree of the paths of references
-- path: number of the path; 0: all paths
-- total: samples of all paths
-- all: map from the number of a path to its samples, including those of all longer paths
-- children: map from the number of a path to the list of the paths with one more step
-- list: receives the rows
local function parts(h, path, total, all, children, list)
  for _, child in ipairs(children[path] or {}) do
    if all[child] >= SOME * total and #list < PATHS then
      local at = deepest(child, all, children)
      local before = #list
      parts(h, at, total, all, children, list)
      -- At most one longer path has a row: replaces it by a row for this path.
      if #list < before + 2 then
        for i = #list, before + 1, -1 do
          list[i] = nil
        end
        list[#list + 1] = {text = M.pathtext(h, at), samples = all[at],
                           share = all[at] / total}
      end
    end
  end
end

--- Returns the main holders of samples, as a list of {text, samples, share}, the largest first. Shares are of
-- the samples with a known holder. The second result is the number of these samples.
--
-- h: profile.holders, the tree of the paths of references
-- own: map from the number of a path to its samples; path 0: the holder is unknown
function M.of(h, own)
  local total = 0
  for path, n in pairs(own) do
    total = total + (path > 0 and n or 0)
  end
  local list = {}
  if total > 0 then
    local all, children = sums(h, own)
    parts(h, 0, total, all, children, list)
    table.sort(list, order.by("-samples", "text"))
  end
  return list, total
end

--- Groups the samples with holders, for example by line. Returns {[key] = {[path] = samples}}.
--
-- h: profile.holders, the tree of the paths of references
-- key: function that maps a node of the call tree to a key; nil: the node's samples are omitted
function M.grouped(h, key)
  local groups = {}
  for i, node in ipairs(h.node) do
    local k = key(node)
    if k then
      groups[k] = groups[k] or {}
      groups[k][h.path[i]] = (groups[k][h.path[i]] or 0) + h.samples[i]
    end
  end
  return groups
end

--- Returns the references that keep live samples alive, as a list of rows. The rows form a tree in display
-- order: each is after its parent. Fields of a row:
--
--   - text: text of one reference, such as '["listeners"]'
--   - depth: number of references before it in its path
--   - samples, bytes: sums of all paths that start with the path to this reference
--
-- The second result is the number of all bytes.
--
-- h: profile.holders, the tree of the paths of references
-- share: rows with a smaller share of all bytes are omitted (0 to 1)
function M.tree(h, share)
  local samples, bytes = {}, {}
  for i, path in ipairs(h.path) do
    samples[path] = (samples[path] or 0) + h.samples[i]
    bytes[path] = (bytes[path] or 0) + h.bytes[i]
  end
  local allsamples, _ = sums(h, samples)
  local allbytes, children = sums(h, bytes)
  local total, rows = 0, {}
  for path, n in pairs(bytes) do
    total = total + (path > 0 and n or 0)
  end
  local function add(path, depth)
    for _, child in ipairs(children[path] or {}) do
      if allbytes[child] >= share * total then
        rows[#rows + 1] = {text = h.step[child], depth = depth,
                           samples = allsamples[child], bytes = allbytes[child]}
        add(child, depth + 1)
      end
    end
  end
  add(0, 0)
  return rows, total
end

-- ==}

return M
