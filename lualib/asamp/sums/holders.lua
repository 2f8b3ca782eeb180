-- SPDX-License-Identifier: MIT
-- Who holds what, as text: the steps of a path joined as a person would say them.
-- Pure.
--
-- A step is {text, function (what it leads to, when that is one)}; paths begin with
-- what the state itself holds.

local order = require "asamp.sums.order"

local M = {}

M.ARROW = " → "

-- Roots that say more than the registry in which they are.
local WITHOUT = {["_G"] = true, ["package.loaded"] = true, ["main thread"] = true,
                 ["reference of luaL_ref"] = true}

-- Does step 'a' lead to a function by its own name, which 'b' tells too?
local function told(a, b)
  local name = a.text:match '^%["(.*)"%]$'
  local of = b and b.text:match '^upvalue .- of (.*)$'
  return name and of and a["function"] and
         (of == a["function"]) and of:sub(1, #name + 2) == name .. " ("
end

--- The texts of a path's steps, without those that others imply.
function M.steps(path)
  local list = {}
  for i, step in ipairs(path) do
    local following = path[i + 1]
    if following and following.text == "" then  -- an upvalue: what it holds comes next
      following = path[i + 2]
    end
    local thread = following and (following.text:find "^local " or
                                  following.text:find "^stack of " or
                                  following.text == "running function")
    if list[#list] == "package.loaded" and step.text:find '^%["' then
      list[#list] = "package.loaded" .. step.text
    elseif step.text ~= "" and not told(step, following)
           and not (step.text == "registry" and following and WITHOUT[following.text])
           and not (step.text == "main thread" and thread) then
      list[#list + 1] = step.text
    end
  end
  return list
end

--- The path in one line.
function M.text(path)
  return table.concat(M.steps(path), M.ARROW)
end

--- Paths and their shares, of the rows of a merged tree (profiler.heap): one for each
-- row below which nothing holds more than the row itself. A list of {text, count,
-- value}, largest first.
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

--- The rows of such a tree that have at least so many bytes; what is below a row has no more.
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
local MANY = {["[1..n]"] = "list", ["[*]"] = "keys", key = "keys", ["[*] by weak key"] = "keys"}

--- The table in a path of holders that has many elements: its path, "list" or "keys", and the
-- steps after the element; of a path without one all of it and nil.
function M.container(text)
  local steps = {}
  for step in (text .. M.ARROW):gmatch("(.-)" .. M.ARROW) do
    steps[#steps + 1] = step
  end
  for i = 2, #steps do
    if MANY[steps[i]] then
      return table.concat(steps, M.ARROW, 1, i - 1), MANY[steps[i]],
             table.concat(steps, M.ARROW, i + 1)
    end
  end
  return text, nil, ""
end

-- {== in a profile ==========================================================

-- A path is told as long as one step has MOST of it, and parts where steps have SOME of the
-- whole; at most PATHS paths are told.
local MOST, SOME, PATHS = 0.8, 0.2, 3

--- The text of a path of profile.holders.
function M.pathtext(h, path)
  local steps = {}
  while path > 0 do
    table.insert(steps, 1, h.step[path])
    path = h.parent[path]
  end
  return table.concat(steps, M.ARROW)
end

-- What each path holds with all that go on from it, and which paths go on from it. 'own':
-- path -> samples.
local function sums(h, own)
  local all, children = {}, {}
  for path, n in pairs(own) do
    while path > 0 do
      if not all[path] then
        all[path] = 0
        local parent = h.parent[path]
        children[parent] = children[parent] or {}
        table.insert(children[parent], path)
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

-- Goes on from 'path' as long as one step has most of it.
local function deepest(path, all, children)
  local child = children[path] and children[path][1]
  while child and all[child] >= MOST * all[path] do
    path = child
    child = children[path] and children[path][1]
  end
  return path
end

-- The paths below 'path' that have a good part of 'total' each.
local function parts(h, path, total, all, children, list)
  for _, child in ipairs(children[path] or {}) do
    if all[child] >= SOME * total and #list < PATHS then
      local at = deepest(child, all, children)
      local before = #list
      parts(h, at, total, all, children, list)
      if #list < before + 2 then  -- it does not part: the path itself is told
        for i = #list, before + 1, -1 do
          list[i] = nil
        end
        list[#list + 1] = {text = M.pathtext(h, at), samples = all[at],
                           share = all[at] / total}
      end
    end
  end
end

--- Who holds samples: own is path -> samples (path 0: nobody, they are dead or not told).
-- Returns a list of {text, samples, share}, the largest first, without what is little (empty:
-- not told), and how many samples these are shares of.
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

--- path -> samples, for each of what 'key' gives for a node (nil: it is left out).
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

--- All paths with what goes on from each, as rows of a tree: {text, depth, samples,
-- bytes}, those of less than 'share' of all left out. Of a profile with holders.
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
