-- SPDX-License-Identifier: MIT
-- Paths of holders, the references that keep objects alive, as text. Has no side effects.
--
-- A path starts at a root of the Lua state. A step is {text, function (the function that it reaches,
-- or nil)}.

local order = require "asamp.sums.order"

local M = {}

M.ARROW = " → "

-- Roots that are shown without the preceding step "registry".
local WITHOUT = {["_G"] = true, ["package.loaded"] = true, ["main thread"] = true,
                 ["reference of luaL_ref"] = true}

-- Returns true if step 'a' is a field with a function, and step 'b' an upvalue of it, whose text names the
-- function again.
local function implies(a, b)
  local name = a.text:match '^%["(.*)"%]$'
  local of = b and b.text:match '^upvalue .- of (.*)$'
  return name and of and a["function"] and
         (of == a["function"]) and of:sub(1, #name + 2) == name .. " ("
end

--- Returns the texts of a path's steps, without steps that are obvious from the next one.
function M.steps(path)
  local list = {}
  for i, step in ipairs(path) do
    local following = path[i + 1]
    if following and following.text == "" then  -- an upvalue without a name: its value follows
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

--- Returns the paths of a merged tree (rows of profiler.heap), one for each row with objects that are not in
-- the rows below it: {text, count, value (bytes; these objects alone), class} each, the largest first.
function M.leaves(rows)
  local below, theirs, list = {}, {}, {}
  for i, row in ipairs(rows) do
    below[i], theirs[i] = 0, 0
    if row.above then
      below[row.above] = below[row.above] + row.count
      theirs[row.above] = theirs[row.above] + row.value
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
  table.sort(list, order.by("-value", "text"))
  return list
end

--- Returns the rows of a merged tree with at least 'least' bytes. A row has at most as many bytes as
-- the row above it.
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

-- Steps that represent many elements of one table.
local MANY = {["[1..n]"] = "list", ["[*]"] = "keys", key = "keys", ["[*] (weak key)"] = "keys"}
-- The registry's table of the hooks that debug.sethook has set. It has one hook for each coroutine, so its
-- elements do not count as many.
local HOOKS = '["_HOOKKEY"]'

--- Tables of modules, globals and references: an object is held by one of their entries, not by the table.
M.NAMED = {["package.loaded"] = true, ["_G"] = true, registry = true}

--- Returns the text of the table of NAMED if a path (text) leads through one of its entries; else nil.
function M.ofentry(text)
  local table_ = text:match '^(package%.loaded)%["' or text:match("^([%w_]+)" .. M.ARROW .. '%["')
  return M.NAMED[table_] and table_
end

-- Returns "list" or "keys" if 'step' represents many elements of the table that the step 'before' reaches;
-- else nil.
local function many(step, before)
  return before ~= HOOKS and MANY[step] or nil
end

--- Finds the table with many elements in a path: returns the path to it, "list" or "keys", and the
-- steps after the element. Without such a table: the whole path, nil and "".
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

--- Returns the part of a path of profile.holders up to its first table with many elements (MANY); nil:
-- it has none.
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

--- Returns "keys" or "list" if profile.holders (h) has paths to elements of the table with the path
-- 'text'; else nil. Entries of package.loaded, _G and the registry are such elements, but have paths of
-- their own.
function M.elements(h, text)
  local kind = M.NAMED[text] and "keys"
  for path, step in ipairs(h.step) do
    local parent = h.parent[path]
    local own = parent > 0 and kind ~= "keys" and many(step, h.step[parent])
    if own and M.pathtext(h, parent) == text then
      kind = own
    end
  end
  return kind
end

--- Returns a function that cuts a path of profile.holders before the first step that occurs again in it or in
-- a path with the same root. All nodes of a tree or chain then have the same path. A path without such a
-- step is unchanged.
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

-- Rules for the paths to be shown. A path is replaced by a longer one with at least the share MOST of its
-- samples, or split into longer paths that each have at least the share SOME of all samples. PATHS: largest
-- number of paths.
local MOST, SOME, PATHS = 0.8, 0.2, 3

function M.pathtext(h, path)
  local steps = {}
  while path > 0 do
    table.insert(steps, 1, h.step[path])
    path = h.parent[path]
  end
  return table.concat(steps, M.ARROW)
end

-- Returns true if the last step of a path occurs before in it, as in a chain whose objects are several steps
-- apart. Steps to elements (MANY) do not count: different tables have the same.
local function repeats(h, path)
  local step, at = h.step[path], MANY[h.step[path]] and 0 or h.parent[path]
  while at > 0 and h.step[at] ~= step do
    at = h.parent[at]
  end
  return at > 0
end

-- Returns the samples of each path, including all paths that extend it, and the children of each path,
-- without those that repeat a step. 'own': path -> samples.
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

-- Extends a path while one child has at least MOST of its samples. Returns the extended path.
local function deepest(path, all, children)
  local child = children[path] and children[path][1]
  while child and all[child] >= MOST * all[path] do
    path = child
    child = children[path] and children[path][1]
  end
  return path
end

-- Appends rows {text, samples, share} for paths that extend 'path' and have at least the share SOME of
-- 'total' samples. At least two such extensions replace a path. 'all': samples by path, with those of its
-- extensions.
local function parts(h, path, total, all, children, list)
  for _, child in ipairs(children[path] or {}) do
    if all[child] >= SOME * total and #list < PATHS then
      local at = deepest(child, all, children)
      local before = #list
      parts(h, at, total, all, children, list)
      if #list < before + 2 then  -- fewer than two extensions are large: the path itself has a row
        for i = #list, before + 1, -1 do
          list[i] = nil
        end
        list[#list + 1] = {text = M.pathtext(h, at), samples = all[at],
                           share = all[at] / total}
      end
    end
  end
end

--- Returns the main holders of samples: a list of {text, samples, share}, the largest first; and the total of
-- which these are shares. 'own': samples by path; path 0 (no known holder) does not count.
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

--- Groups the samples of holders: returns key -> {path -> samples}. key(node) returns the key, or
-- nil to omit the node.
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

--- Returns all paths as rows of a tree, {text, depth, samples, bytes (with all longer paths)}; and the
-- total bytes. Omits rows below 'share' of the total. 'h': profile.holders.
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
