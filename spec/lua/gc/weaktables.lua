-- SPDX-License-Identifier: MIT
--
-- weaktables.lua SEED ROUNDS: a random program over weak tables that change their mode, grow, and are
-- traversed, while their objects are allocated and freed. It checks the contents of every object.
-- ahead_spec.lua runs it under LUAN_STRESS.

local seed, rounds = tonumber(arg[1]), tonumber(arg[2])
local random = math.random
math.randomseed(seed, 0)

local SLOTS = 400
local MODES = { "k", "v", "kv" }
local strong, tables = {}, {}

local function keep(o) strong[random(SLOTS)] = o end

local function store(t, round, i)
  local what, object, other = random(5), { round, i }, strong[random(SLOTS)]
  if random(3) == 1 then keep(object) end
  if what == 1 then t[object] = { object }
  elseif what == 2 then t[random(500)] = other or object
  elseif what == 3 then t[other or object] = other or { i }
  elseif what == 4 then t["s" .. random(300)] = object
  else t[object] = other or "x" .. i end
end

local function look(t)
  for k, v in pairs(t) do
    assert(type(k) ~= "table" or k[1])
    assert(type(v) ~= "table" or v[1])
    if type(v) == "table" and random(20) == 1 then keep(v) end
    -- stores the object in another weak table; after that it may have no strong reference
    if type(v) == "table" and random(6) == 1 then
      local other = tables[random(#tables)]
      if other ~= t then other[random(2) == 1 and random(500) or v] = v end
    end
    if random(10) == 1 then t[k] = nil end
  end
end

local resurrected = { __gc = keep }

for round = 1, rounds do
  if #tables == 0 or random(12) == 1 then
    tables[#tables + 1] = setmetatable({}, { __mode = MODES[random(3)] })
    if #tables > 6 then table.remove(tables, random(#tables)) end
  end
  local t = tables[random(#tables)]
  for i = 1, random(300) do store(t, round, i) end
  if random(5) == 1 then look(t) end
  if random(6) == 1 then
    setmetatable(t, random(3) > 1 and { __mode = MODES[random(3)] } or nil)
  end
  for i = 1, random(4) == 1 and SLOTS or 0 do
    if random(4) == 1 then strong[i] = nil end
  end
  if random(20) == 1 then keep(setmetatable({ 1 }, resurrected)) end
  if random(40) == 1 then collectgarbage() end
  for i = 1, SLOTS do assert(not strong[i] or strong[i][1]) end
end
