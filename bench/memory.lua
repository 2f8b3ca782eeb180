-- SPDX-License-Identifier: MIT
-- The programs of bench/memory. `lua memory.lua NAME` runs one of them. At its end it prints three numbers
-- of bytes: the resident memory according to the system, the memory in use according to Lua, and the native
-- memory that the program keeps and that is resident (-1: not compared).

local name = arg[1]

local function cmemory()
  package.cpath = "build/spec/?.so;" .. package.cpath
  return require "cmemory"
end

-- The programs by name. Each returns a value to keep alive, and the number of resident native bytes that it
-- keeps (nil: not compared).
local P = {}

function P.records()
  local t = {}
  for i = 1, 250000 do t[i] = {id = i, name = "record " .. i} end
  return t
end

function P.strings()
  local t = {}
  for i = 1, 2000 do t[i] = ("x"):rep(20000) .. i end
  return t
end

-- One object in eight stays alive, so that few blocks of the heap become empty.
function P.holes()
  local t = {}
  for i = 1, 600000 do t[i] = {i} end
  for i = 1, #t do if i % 8 ~= 0 then t[i] = false end end
  collectgarbage()
  return t
end

function P.shrunk()
  local t = {}
  for i = 1, 600000 do t[i] = {i, {}} end
  local sum = #t
  t = nil  -- luacheck: ignore 311
  for i = 1, 20000000 do sum = sum + #{i} end
  return sum
end

function P.native_leak()
  local c, t = cmemory(), {}
  for i = 1, 4000 do t[i] = c.leak(10000, true) end
  return t, c.kept()
end

function P.native_freed()
  local c = cmemory()
  for _ = 1, 20 do c.hold(20000, 1000) end
  return nil, 0
end

-- The memory is allocated but never written, so that it is not resident.
function P.untouched()
  local c, t = cmemory(), {}
  for i = 1, 100 do t[i] = c.leak(1000000) end
  return t
end

function P.arrays()
  local t = {}
  for i = 1, 6 do
    local a = {}
    for k = 1, 300000 do a[k] = k end
    t[i] = a
  end
  return t
end

function P.coroutines()
  local t = {}
  for i = 1, 15000 do
    t[i] = coroutine.create(function(x) local a, b = x, coroutine.yield() return a, b end)
    coroutine.resume(t[i], i)
  end
  return t
end

function P.ropes()
  local s, t = "", setmetatable({}, {__mode = "v"})
  for i = 1, 8000 do
    s = s .. ("%08d"):format(i)
    t[i] = {s}
  end
  return {s, t}
end

local keep, native = assert(P[name], "no program of that name")()
local rss
for line in io.lines "/proc/self/status" do
  rss = rss or line:match "^VmRSS:%s+(%d+) kB"
end
print(("%d %d %d"):format(tonumber(rss) * 1024, collectgarbage "count" * 1024, native or -1))
return keep
