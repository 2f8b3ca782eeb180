-- SPDX-License-Identifier: MIT
--
-- hidden.lua SEED ROUNDS: a test program with objects in several weak tables. Slices of major collections
-- give slots of these tables tombstones (a slot with this tag seems empty), and later restore or clear the
-- slots. If one table has an entry for an object, all tables must have one. Every kind of access must find
-- the objects that the program holds, and none may find a freed object. hidden_spec.lua runs the program,
-- also under LUAN_STRESS.

local seed, rounds = tonumber(arg[1]), tonumber(arg[2])
local random = math.random
math.randomseed(seed, 0)

local N = 600
local newindices = 0

local function tables()
  return {
    named = setmetatable({}, { __mode = "v", __index = {}, __newindex = function(t, k, v)
      newindices = newindices + 1
      rawset(t, k, v)
    end }),
    listed = setmetatable({}, { __mode = "v" }),
    of = setmetatable({}, { __mode = "k" }),
    both = setmetatable({}, { __mode = "kv" }),
  }
end

local function enter(w, i, o)
  w.named["s" .. i], w.listed[i], w.of[o], w.both[o] = o, o, { o, i }, o
end

-- Checks that every way to read the slot t[k] gives the same value. Returns the value.
local function value(t, k)
  local a, b = t[k], rawget(t, k)
  local key, v = next(t, nil)
  assert(a == b and (key ~= k or v == a))
  return a
end

local function length(t)
  local n = random(2) == 1 and #t or rawlen(t)
  assert(n == 0 or t[n] ~= nil)
  assert(t[n + 1] == nil)
end

local function everything(w)
  for k, o in next, w.named do assert(k == "s" .. o[1] and w.listed[o[1]] == o) end
  for i, o in pairs(w.listed) do assert(i == o[1] and w.of[o] and w.of[o][1] == o) end
  for o, v in pairs(w.of) do assert(v[1] == o and v[2] == o[1]) end
  for o, v in pairs(w.both) do assert(o == v and w.of[o]) end
end

-- Checks that either all weak tables or none have an entry of object i. Returns the object, or nil.
local function look(w, i, gone, held)
  local o = value(w.named, "s" .. i)
  assert(o == value(w.listed, i))
  if o == nil then
    gone[i] = true
    assert(not held[i])
    return
  end
  assert(not gone[i] and o[1] == i and (held[i] or o) == o)
  assert(w.of[o][2] == i and w.both[o] == o)
  return o
end

-- Stores into slots that may have a tombstone, and so seem empty. A store over an existing value must not
-- call __newindex.
local function change(w, i, o)
  local before = newindices
  w.named["s" .. i] = o
  assert(newindices == before)
  w.listed[i] = false
  w.listed[i] = o
  w.named["s" .. i] = nil
  w.named["s" .. i] = o
  assert(newindices == before + 1)
end

-- The finalizer of the objects. Before it is called, weak tables must have removed entries whose value is
-- the object. Entries whose key is the object are removed later.
local function finalize(o)
  assert(rawget(o.world.named, "s" .. o[1]) == nil and rawget(o.world.listed, o[1]) == nil)
  assert(rawget(o.world.both, o) == nil and o.world.of[o][2] == o[1])
end
local finalized = { __gc = finalize }

for _ = 1, rounds do
  local w, held, gone, last = tables(), {}, {}, nil
  for i = 1, N do
    local o = { i }
    enter(w, i, o)
    if random(3) == 1 then held[i] = o end
    if random(30) == 1 then
      o.world = w
      setmetatable(o, finalized)
    end
  end
  for step = 1, 300 do
    local i = random(N)
    local o = look(w, i, gone, held)
    -- for some time, only this variable on the stack refers to the object
    if o and random(10) == 1 then last = o end
    if last then assert(look(w, last[1], gone, held) == last) end
    if o and random(20) == 1 then change(w, i, o) end
    if random(3) == 1 then held[i] = nil end
    if random(30) == 1 then length(w.listed) end
    if random(60) == 1 then everything(w) end
    -- adds and removes many keys, so that the table is resized
    if random(40) == 1 then
      for k = 1, random(200) do w.named["t" .. k] = { k } end
      for k = 1, 200 do w.named["t" .. k] = nil end
    end
    -- removes the metatable of a weak table for some time, so that the table is strong
    if random(20) == 1 then
      local t = random(2) == 1 and w.listed or w.both
      local m = getmetatable(t)
      setmetatable(t, nil)
      for k = 1, random(80) do local _ = { k, "junk" .. k * step } end
      setmetatable(t, m)
    end
    if random(200) == 1 then collectgarbage() end
    for k = 1, 20 do local _ = { k, "junk" .. k * step } end
  end
end
