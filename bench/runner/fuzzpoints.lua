-- SPDX-License-Identifier: MIT
-- Chooses programs for bench/fuzz at random and writes them. Pure functions, except that points.draw seeds
-- math.random.
-- A point is the description of a program: { kind, size, live, key, death, order }. The program's name
-- consists of these words, separated by "-".
--   kind   the objects that the program creates (a name in KINDS), or the mode of the weak table with them
--   size   size of an object: elements, fields, upvalues, frames or bytes, depending on the kind
--   live   number of live objects at a time
--   key    type of the keys of the table that contains the objects
--   death  which object dies in an iteration: none, all (the new one), fifo, random, lifo
--   order  sequential or random: the order of the keys, and of the objects that are read

local points = {}

-- Returns a text: n items with commas between them. item(i) returns the text of item i.
local function list(n, item)
  local out = {}
  for i = 1, n do out[i] = item(i) end
  return table.concat(out, ", ")
end

local function numbers(n) return list(n, function(i) return i == 1 and "s" or tostring(i) end) end

local function fields(n)
  return list(n, function(i) return ("f%d = %s"):format(i, i == 1 and "s" or tostring(i)) end)
end

local function small() return "{s, k}" end

-- The kinds of objects. Each has
--   - its name
--   - its sizes
--   - a function of the size that returns a rough upper estimate of an object's bytes
--   - a function of the size that returns an expression; this creates object number s with the key k
--   - an expression that reads an integer from the object v
--   - a function of the size that returns definitions for these expressions, or nil
--   - the mode of the table that contains the objects, if it is weak
local KINDS = {
  { "array", { 1, 4, 16, 64, 512 }, function(n) return 56 + 16 * n end,
    function(n) return "{" .. numbers(n) .. "}" end, "v[1]" },
  { "hash", { 1, 3, 8, 32, 128 }, function(n) return 56 + 64 * n end,
    function(n) return "{" .. fields(n) .. "}" end, "v.f1" },
  { "grown", { 3, 9, 33 }, function(n) return 56 + 80 * n end,
    function(n) return ("grow(s, %d)"):format(n) end, "v.n",
    function() return "local function grow(s, n)\n  local v = {n = s}\n"
      .. "  for i = 1, n do v[i] = s end\n  return v\nend" end },
  { "short", { 8, 16, 32 }, function(n) return 24 + n end,
    function(n) return ("('%%0%dd'):format(s)"):format(n) end, "#v" },
  { "long", { 48, 512, 4096, 32768 }, function(n) return 24 + n end,
    function() return "('%09d'):format(s) .. tail" end, "#v",
    function(n) return ("local tail = ('x'):rep(%d)"):format(n - 9) end },
  { "userdata", { 8, 64, 512, 8192 }, function(n) return 56 + n end,
    function(n) return ("newdata(%d)"):format(n) end, "(v and 1)",
    function() return "local newdata = assert(package.loadlib(arg[3], 'luaopen_fuzzdata'))()" end },
  { "closure", { 0, 1, 4, 16 }, function(n) return 40 + 48 * n end,
    function(n) return ("enclose(%s)"):format(n > 0 and "s" or "") end, "v()",
    function(n)
      local names = list(n, function(i) return "a" .. i end)
      local sum = n > 0 and names:gsub(", ", " + ") or "1"
      local assigned = n > 1 and ("  local %s = %s\n"):format(names:sub(5), numbers(n):sub(4)) or ""
      return ("local function enclose(%s)\n%s  return function() return %s end\nend"):format(
        n > 0 and "a1" or "", assigned, sum)
    end },
  { "coroutine", { 1, 4, 32 }, function(n) return 1200 + 120 * n end,
    function(n) return ("suspend(%d)"):format(n) end, "v()",
    function() return "local yield = coroutine.yield\nlocal function deep(n)\n"
      .. "  if n > 1 then return 1 + deep(n - 1) end\n  while true do yield(1) end\nend\n"
      .. "local function suspend(n)\n  local v = coroutine.wrap(deep)\n  v(n)\n  return v\nend" end },
  { "method", { 1, 4, 16 }, function(n) return 56 + 64 * n end,
    function(n) return ("setmetatable({%s}, Class)"):format(fields(n)) end, "v:get()",
    function() return "local Class = {}\nClass.__index = Class\n"
      .. "function Class:get() return self.f1 end" end },
  { "finalizer", { 1, 4, 16 }, function(n) return 120 + 64 * n end,
    function(n) return ("setmetatable({%s}, Class)"):format(fields(n)) end, "v.f1",
    function() return "local closed = 0\nlocal Class = {__gc = function(v) closed = closed + v.f1 end}" end },
  { "weaktable", { 1, 8 }, function(n) return 120 + 64 * n end,
    function(n) return ("setmetatable({%s}, Weak)"):format(fields(n)) end, "v.f1",
    function() return "local Weak = {__mode = 'k'}" end },
  { "weakk", { 2 }, function() return 200 end, small, "v[1]", nil, "k" },
  { "weakv", { 2 }, function() return 200 end, small, "v[1]", nil, "v" },
  { "weakkv", { 2 }, function() return 200 end, small, "v[1]", nil, "kv" },
}

local BY_NAME = {}
for _, kind in ipairs(KINDS) do
  BY_NAME[kind[1]] = { sizes = kind[2], bytes = kind[3], make = kind[4], read = kind[5],
    define = kind[6], mode = kind[7] }
end

-- LIVE: possible numbers of live objects. MOST: largest estimate of the bytes of all objects; larger points
-- are not chosen. LEAST: smallest number of live objects that a name may have.
local LIVE = { 10, 30, 100, 300, 1000, 3000, 10000, 30000, 100000, 300000 }
local MOST = 48 << 20
local LEAST = 4

-- For each type of key, the expression of the key of object number n.
local KEYS = {
  integer = "n", string = "'key' .. n", float = "n + 0.5", object = "{n}",
}
local KEY_NAMES = { "integer", "string", "float", "object" }

-- For each way in which objects die, the code of an iteration. Variables of the code: 'slot' is the number
-- of the object that is replaced, 'turn' is the number of the iteration.
local DEATHS = {
  none = [[
    local a, b = keys[pick(turn)], keys[random(LIVE)]
    box[a], box[b] = box[b], box[a]
]],
  all = [[
    put(LIVE + 1)
    drop(LIVE + 1)
]],
  fifo = [[
    local slot = turn % LIVE + 1
    drop(slot)
    put(slot)
]],
  random = [[
    local slot = random(LIVE)
    drop(slot)
    put(slot)
]],
  lifo = [[
    if up then
      top = top + 1
      put(top)
      up = top < LIVE
    else
      drop(top)
      top = top - 1
      up = top <= LOW
    end
]],
}
local DEATH_NAMES = { "none", "all", "fifo", "random", "lifo" }
local ORDERS = { "sequential", "random" }

function points.name(point)
  return table.concat({ point.kind, point.size, point.live, point.key, point.death, point.order }, "-")
end

local function among(value, values)
  for _, each in ipairs(values) do
    if each == value then return true end
  end
  return false
end

-- Returns the point with this name, or nil and a message if there is no such point.
function points.parse(name)
  local kind, size, live, key, death, order =
    name:match "^(%a+)%-(%d+)%-(%d+)%-(%a+)%-(%a+)%-(%a+)$"
  local found = BY_NAME[kind]
  local point = { kind = kind, size = math.tointeger(tonumber(size)), key = key, death = death,
    live = math.tointeger(tonumber(live)), order = order }
  if not found or not KEYS[key] or not DEATHS[death] or not among(order, ORDERS)
     or not among(point.size, found.sizes) or point.live < LEAST then
    return nil, ("--only has no point %q; see --list for names"):format(name)
  end
  return point
end

-- Returns a list of n different points that depends only on the seed.
function points.draw(seed, n)
  math.randomseed(seed)
  local function one(values) return values[math.random(#values)] end
  local drawn, seen = {}, {}
  while #drawn < n do
    local kind = KINDS[math.random(#KINDS)]
    local point = { kind = kind[1], size = one(kind[2]), live = one(LIVE), key = one(KEY_NAMES),
      death = one(DEATH_NAMES), order = one(ORDERS) }
    local name = points.name(point)
    if point.live * (kind[3](point.size) + 150) <= MOST and not seen[name] then
      seen[name] = true
      drawn[#drawn + 1] = point
    end
  end
  return drawn
end

local PROGRAM = [[
local TURNS, SECONDS = tonumber(arg[1]), tonumber(arg[2])
local LIVE, LOW = ${live}, ${low}
math.randomseed(1)
local random = math.random
${define}
-- 'box' has the objects by their keys, 'keys' the live keys by slot.
local box, keys, serial, sum = ${box}, {}, 0, 0
${strong}
local function put(slot)
  serial = serial + 1
  local s = ${number}
  local k
  do local n = s; k = ${key} end
  local v = ${make}
  box[k] = v
  keys[slot] = k
  ${keep}
end
local function drop(slot)
  ${forget}
  keys[slot] = nil
end
local function pick(turn) return ${pick} end
for slot = 1, LIVE do put(slot) end
local top, up = LIVE, false
local function turns(from, to)
  for turn = from, to do
${turn}
    local v = box[keys[${reads}] ]
    sum = sum + ${read}
  end
end
local done = 0
if TURNS then
  turns(1, TURNS)
  done = TURNS
else
  repeat
    turns(done + 1, done + 50)
    done = done + 50
  until os.clock() >= SECONDS
end
print(done, sum)
]]

-- Returns the source of a point's program. The program has three arguments: the number of iterations, or
-- "-"; CPU seconds, after which it stops in the case "-"; and the path of fuzzdata.so. It prints the number
-- of iterations, and the sum of the integers that it has read.
function points.program(point)
  local kind = BY_NAME[point.kind]
  local mode = kind.mode
  -- A weak table drops an entry by itself if nothing else refers to its key or value; then drop() need not.
  local weakvalue = mode and mode:find "v"
  local weak = weakvalue or (mode and point.key == "object")
  local random = point.order == "random"
  local parts = {
    live = point.live, low = point.live // 4,
    define = kind.define and kind.define(point.size) or "",
    box = mode and ("setmetatable({}, {__mode = '%s'})"):format(mode) or "{}",
    strong = weakvalue and "local items = {}" or "",
    keep = weakvalue and "items[slot] = v" or "",
    forget = weakvalue and "items[slot] = nil" or not weak and "box[keys[slot] ] = nil" or "",
    number = random and "serial * 40503 % 2147483648" or "serial",
    key = KEYS[point.key], make = kind.make(point.size), read = kind.read,
    pick = random and "random(LIVE)" or "turn % LIVE + 1",
    turn = DEATHS[point.death]:gsub("\n$", ""),
    reads = point.death == "lifo" and (random and "random(top)" or "turn % top + 1") or "pick(turn)",
  }
  return (PROGRAM:gsub("%${(%a+)}", parts):gsub("\n%s*\n", "\n"))
end

return points
