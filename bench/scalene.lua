-- SPDX-License-Identifier: MIT
-- The program of bench/scalene. The costs of its lines are known exactly, and it prints them.
--   lua bench/scalene.lua [ROUNDS]    runs loops (100 rounds); prints "KIND LINE AMOUNT" for each line.
--                                     AMOUNT by KIND:
--                                       time    number of equal loops
--                                       native  seconds in a C function
--                                       memory  allocated bytes, as counted by the core
--                                       copies  copied bytes, as computed
--   lua bench/scalene.lua touched     allocates native memory at two lines, but writes only to that of
--                                     the first line; prints "NAME LINE BYTES RSS" for each line. RSS
--                                     is the number of bytes that became resident

local function touched()
  package.cpath = "build/spec/?.so;" .. package.cpath
  local c, kept = require "cmemory", {}
  local function resident()
    for line in io.lines "/proc/self/status" do
      local kib = line:match "^VmRSS:%s+(%d+)"
      if kib then return tonumber(kib) * 1024 end
    end
  end
  for _, what in ipairs{"touched", "untouched"} do
    local before, line = resident(), nil
    for _ = 1, 1000 do
      line = debug.getinfo(1, "l").currentline + 1
      if what == "touched" then kept[#kept + 1] = c.leak(100000, true) end
      if what == "untouched" then kept[#kept + 1] = c.leak(100000) end
    end
    line = what == "touched" and line or line + 1
    print(("%s %d %d %d"):format(what, line, 100000000, resident() - before))
  end
  return kept
end

if arg[1] == "touched" then return touched() end
local rounds = tonumber(arg[1] or 100)

local function here() return debug.getinfo(2, "l").currentline + 1 end

local function spin(n) return here(), (function() local x = 0
  for i = 1, n do x = x ~ i end return x end)() end

local function more(n) return here(), (function() local x = 0
  for i = 1, n do x = x ~ i end return x end)() end

local counts = {}
local function add(kind, line, amount)
  local key = kind .. " " .. line
  counts[key] = (counts[key] or 0) + amount
end

local text = ("x"):rep(1 << 20)
local kept
for _ = 1, rounds do
  add("time", (spin(100000)), 1)
  add("time", (more(300000)), 3)
  local t, line = os.clock(), here()
  for _ = 1, 50 do text:find("y", 1, true) end
  add("native", line, os.clock() - t)

  collectgarbage "stop"
  local before = collectgarbage "count"
  line = here()
  for i = 1, 2000 do kept = {i, i} end
  local between = collectgarbage "count"
  add("memory", line, (between - before) * 1024)
  line = here()
  for i = 1, 2000 do kept = {x = i, y = {i}} end
  add("memory", line, (collectgarbage "count" - between) * 1024)
  collectgarbage "restart"

  local s = ""
  line = here()
  for _ = 1, 1000 do s = s .. "0123456789" end
  add("copies", line, 10 * 1000 * 1001 / 2)
end

for key, amount in pairs(counts) do print(("%s %.9g"):format(key, amount)) end
return kept
