-- SPDX-License-Identifier: MIT
-- Random graphs of Lua objects, and a model of their references, for specs of heap snapshots. A node
-- retains all nodes that the first node reaches only through it; the model finds them by a search.

local M = {}

local function address(o)
  return math.tointeger(tonumber((("%p"):format(o))))
end

local MAKE = {}

function MAKE.table() return {} end
function MAKE.class() return setmetatable({}, {__name = "Knot"}) end
MAKE["function"] = function()
  local held
  -- each call of MAKE["function"] returns a new closure
  return function(x)
    if x == nil then return held end
    held = x
  end
end
function MAKE.coroutine()
  local co = coroutine.create(function()
    local kept = {}
    while true do
      kept[#kept + 1] = coroutine.yield(kept)
    end
  end)
  local _, kept = coroutine.resume(co)
  return co, kept
end
function MAKE.weakkeys() return setmetatable({}, {__mode = "k"}) end
function MAKE.weakvalues() return setmetatable({}, {__mode = "v"}) end

local KINDS = {"table", "table", "table", "class", "function", "coroutine",
               "weakkeys", "weakvalues"}

-- Adds a reference from node a to node b. Its kind depends on the type of a. Returns true if the reference
-- keeps b alive.
local function tie(a, b, random)
  if a.kind == "function" then
    if a.object() ~= nil then return false end
    a.object(b.object)
  elseif a.kind == "coroutine" then
    a.kept[#a.kept + 1] = b.object
  elseif a.kind == "weakvalues" then
    a.object[#a.object + 1] = b.object
    return false
  elseif a.kind == "weakkeys" then
    return false
  else
    local way = random(4)
    if way == 1 then a.object[#a.object + 1] = b.object
    elseif way == 2 then
      a.ties = (a.ties or 0) + 1
      a.object["f" .. a.ties] = b.object
    elseif way == 3 then a.object[b.object] = true
    else
      a.ties = (a.ties or 0) + 1
      a.object[0.5 + a.ties] = b.object
    end
  end
  return true
end

-- Returns a list of n nodes, of which the first one reaches all others. random(n) returns a number from 1
-- to n, and thus chooses the references. A node is {object, kind, edges = {[node] = true}, address}.
function M.make(n, random)
  local nodes = {}
  for i = 1, n do
    local kind = i == 1 and "table" or KINDS[random(#KINDS)]
    local object, kept = MAKE[kind]()
    nodes[i] = {object = object, kept = kept, kind = kind, edges = {}, address = address(object)}
  end
  for i = 2, n do  -- all nodes are reachable, some on several paths and in cycles
    local from = nodes[random(i - 1)]
    while from.kind:find "^weak" or from.kind == "function" do
      from = nodes[random(i - 1)]
    end
    if tie(from, nodes[i], random) then from.edges[nodes[i]] = true end
  end
  for _ = 1, n do
    local from, to = nodes[random(n)], nodes[random(n)]
    if tie(from, to, random) then from.edges[to] = true end
  end
  -- nodes[1] also refers to each table with weak keys. Each of these tables receives an entry. In the model
  -- only the table keeps the value of the entry alive.
  for _, node in ipairs(nodes) do
    if node.kind == "weakkeys" then
      nodes[1].object[#nodes[1].object + 1] = node.object
      nodes[1].edges[node] = true
      local key, value = nodes[random(n)], nodes[random(n)]
      if node.object[key.object] == nil then
        node.object[key.object] = value.object
        node.edges[value] = true
      end
    end
  end
  return nodes
end

-- Returns the set of nodes that the first node reaches on paths without the node 'gone'.
local function reached(nodes, gone)
  local set, list = {}, {}
  if nodes[1] ~= gone then
    set[nodes[1]], list[1] = true, nodes[1]
  end
  for i = 1, math.huge do
    local node = list[i]
    if not node then break end
    for to in pairs(node.edges) do
      if to ~= gone and not set[to] then
        set[to] = true
        list[#list + 1] = to
      end
    end
  end
  return set
end

-- Returns the list of nodes that a node retains according to the model, including itself.
function M.retained(nodes, node)
  local set, list = reached(nodes, node), {}
  for _, other in ipairs(nodes) do
    if not set[other] then list[#list + 1] = other end
  end
  return list
end

-- Adds to the set 'found' each object to which 'object' refers by one step of a path in a snapshot. 'text'
-- is the text of the step.
local function follow(object, text, found)
  local function add(o)
    if o ~= nil then found[o] = true end
  end
  if type(object) == "table" then
    local key = text:match '^%["(.*)"%]$'
    if key then add(rawget(object, key)) end
    local index = text:match "^%[(%d+)%]$"
    if index then add(rawget(object, math.tointeger(tonumber(index)))) end
    if text == "metatable" then add(debug.getmetatable(object)) end
    for k, v in next, object do
      if text == "key" then add(k) end
      if text == "[*]" or text:find("0x", 1, true) then add(v) end
    end
  elseif type(object) == "function" then
    for i = 1, 255 do
      local name, value = debug.getupvalue(object, i)
      if not name then break end
      if text:find(('upvalue "%s" of'):format(name), 1, true) then add(value) end
    end
  elseif type(object) == "thread" then
    for level = 0, 10 do
      for i = 1, 50 do
        local name, value = debug.getlocal(object, level, i)
        if not name then break end
        if text:find(('local "%s" of'):format(name), 1, true) or text:find "^stack of" then
          add(value)
        end
      end
      if not debug.getinfo(object, level + 1, "l") then break end
    end
  end
end

-- Returns true if a path in a snapshot, given as a list of steps, leads from the registry to the object.
function M.leads(path, object)
  local set = {[debug.getregistry()] = true}
  for i, step in ipairs(path) do
    local found = {}
    if i > 1 and step.text ~= "" then
      for o in pairs(set) do
        if step.text == "_G" then found[_G] = true
        elseif step.text == "package.loaded" then found[package.loaded] = true
        else follow(o, step.text, found)
        end
      end
      set = found
    end
  end
  return set[object] ~= nil
end

return M
