-- SPDX-License-Identifier: MIT
--
-- tablekeys.lua SEED ROUNDS: a random program that adds keys to tables, removes them and adds them again.
-- Meanwhile the tables become weak and strong, and many other stores are made. It checks the contents of
-- every object. refine_spec.lua runs it under LUAN_STRESS, and fuzz_spec.lua while memory requests are
-- refused (by the function 'try' of spec/fuzz/refusing.c).

local seed, rounds = tonumber(arg[1]), tonumber(arg[2])
local random = math.random
math.randomseed(seed, 0)

local MODES = { "k", "v", "kv", "" }
-- number of objects that the program always holds
local HELD = 6

local tables, held, vast = {}, {}, {}  -- luacheck: ignore 241
for i = 1, 300 do vast[i] = i end

local function fresh()
  local kind = random(4)
  if kind == 1 then return function() return held end
  elseif kind == 2 then return coroutine.create(print)
  elseif kind == 3 then return "key " .. random(100000) end
  return { random(100) }
end

-- Metatables. Each belongs to several tables, which it makes weak and strong again.
local metatables = {}
for i, mode in ipairs(MODES) do metatables[i] = { __mode = mode } end

local function make()
  local t = {}
  for k = 1, random(0, 80) do t["s" .. k] = k end
  return random(2) == 1 and t or setmetatable(t, metatables[random(#MODES)])
end

local function check(o)
  if type(o) == "table" then assert(o[1]) elseif type(o) == "string" then assert(#o > 1) end
end

local function look(t)
  for k, v in pairs(t) do
    check(k)
    check(v)
    if random(8) == 1 then held[random(HELD)] = k end
    if random(2) == 1 then t[k] = nil elseif random(3) == 1 then t[k] = random(9) end
  end
end

local function storemuch(round)
  for _ = 1, random(300) do vast[random(300)] = held[random(HELD)] or round end
end

-- Adds a key to t, removes it, and adds it again after many other stores.
local function comeback(t, round)
  local k = random(2) == 1 and fresh() or held[random(HELD)] or round
  t[k] = round
  if random(4) == 1 then storemuch(round) end
  t[k] = nil
  storemuch(round)
  t[k] = random(3) == 1 and fresh() or round
end

local function act(round)
  local i = random(12)
  if not tables[i] or random(200) == 1 then tables[i] = make() end
  local t, k, what = tables[i], held[random(HELD)], random(20)
  if what <= 4 and k ~= nil then
    local value = random(3)
    t[k] = value == 1 and fresh() or value == 2 and round or held[random(HELD)]
  elseif what <= 7 and k ~= nil then t[k] = nil
  elseif what <= 9 then held[random(HELD)] = fresh()
  elseif what == 10 then held[random(HELD)] = nil
  elseif what == 11 then storemuch(round)
  elseif what <= 13 then comeback(t, round)
  elseif what == 14 then look(t)
  elseif what == 15 then for n = 1, random(60) do t[n] = random(2) == 1 and fresh() or nil end
  -- moves keys from the hash part into the array part
  elseif what == 20 then
    for n = random(40), 1, -1 do t[n] = held[random(HELD)] or fresh() end
  elseif what == 16 and random(8) == 1 then collectgarbage("step", random(0, 20))
  elseif what == 17 and random(40) == 1 then collectgarbage()
  elseif what == 18 then setmetatable(t, random(3) == 1 and metatables[random(#MODES)] or nil)
  elseif what == 19 then metatables[random(#MODES)].__mode = MODES[random(#MODES)]
  end
end

for round = 1, rounds do
  if try then try(function() act(round) end) else act(round) end  -- luacheck: ignore 113
end
