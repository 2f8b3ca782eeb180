-- SPDX-License-Identifier: MIT
--
-- The environment variable LUA_GC (lua/gc/pace/tuning.c), which has settings of the collector for an
-- operator who cannot change the program. They apply in the interpreter lua and in every state of a host.
-- The program's calls of collectgarbage return the same results as without LUA_GC.

local process = require "spec.support.process"

-- Runs the code with this value of LUA_GC. Returns its output, and the text on stderr.
local function run(variable, code, ...)
  local status, out, err = process.run{code = code, env = {LUA_GC = variable}, ...}
  assert.equal(0, status, err)
  return out, err
end

-- Runs the code in a state of a host that has not chosen a collector mode.
local function embedded(variable, code)
  return run(variable, ([[
    package.path = "./?.lua;" .. package.path
    print((require "spec.lua.gc.within"(function(state) %s end)))]]):format(code))
end

local LOOP = [[
  local live, peak = {}, 0
  for i = 1, 20000 do live[i] = {i} end
  collectgarbage()
  local full = collectgarbage("count")
  for i = 1, 600000 do
    live[i * 7919 % 20000 + 1] = {i}
    if i % 100 == 0 then peak = math.max(peak, collectgarbage("count")) end
  end
  local grown = peak / full * 100 // 1
]]

describe("LUA_GC", function()
  it("sets the mode and its parameters for programs that say nothing", function()
    local tight = tonumber((embedded("incremental,pause=110", LOOP .. "return grown")))
    local wide = tonumber((embedded("incremental,pause=300", LOOP .. "return grown")))
    assert.is_true(tight < 220 and wide > 320, tight .. " " .. wide)
    local nursery = run("nursery=256K", LOOP .. "print(collectgarbage('statistics').nursery)")
    assert.equal("262144\n", nursery)
    assert.equal("1048576\n", (embedded("generational,nursery=1M",
      LOOP .. "return collectgarbage('statistics').nursery")))
    local sizes = run("nursery=64K-256K", [[
      local seen, n, least, most = {}, 0, math.huge, 0
      for i = 1, 200000 do
        local size = collectgarbage("statistics").nursery
        if not seen[size] then seen[size], n = true, n + 1 end
        least, most = math.min(least, size), math.max(most, size)
      end
      print(n > 20, least >= 64 << 10, least < 80 << 10, most > 240 << 10, most <= 256 << 10)]])
    assert.equal("true\ttrue\ttrue\ttrue\ttrue\n", sizes)
  end)

  it("overrides the settings of programs, and answers them as if they were obeyed", function()
    local SET = [[
      assert(collectgarbage("generational") == MODE)
      assert(collectgarbage("generational") == "generational")
      assert(collectgarbage("incremental", 1000, 100) == "generational")
      assert(collectgarbage("setpause", 800) == 1000)
      assert(collectgarbage("setstepmul", 100) == 100)
      assert(collectgarbage("setpause", 800) == 800)
      assert(collectgarbage("nursery", 65536) == 0)
      assert(collectgarbage("nursery") == 65536)
    ]] .. LOOP
    local inside = SET:gsub("MODE", '"incremental"') .. "return grown"
    local tight = tonumber((embedded("incremental,pause=110,nursery=128K", inside)))
    local wide = tonumber((embedded("", inside)))
    assert.is_true(tight < 150 and wide > 300, tight .. " " .. wide)
    -- the interpreter lua itself chooses the generational mode, which LUA_GC overrides
    local out = run("incremental,pause=110,nursery=128K",
                    SET:gsub("MODE", '"generational"') .. "print(grown)")
    assert.is_true(tonumber(out) < 150, out)
  end)

  it("leaves the program its hand steps: a cycle that it waits for ends", function()
    for _, variable in ipairs {"generational", "incremental,pause=1000", "generational,stepmul=1"} do
      local out = run(variable, [[
        local called = 0
        local live = {}
        for i = 1, 20000 do live[i] = {i} end
        for _, mode in ipairs {"incremental", "generational"} do
          collectgarbage(mode)
          collectgarbage("stop")
          setmetatable({}, {__gc = function() called = called + 1 end})
          local steps = 0
          repeat steps = steps + 1
          until collectgarbage("step", mode == "incremental" and 200 or 0) or
                mode == "generational" and steps == 3 or steps == 100000
          assert(steps < 100000, mode)
          collectgarbage("restart")
        end
        collectgarbage()
        print(called, #live)]])
      assert.equal("2\t20000\n", out, variable)
    end
  end)

  it("that says something else has no effect, and one line names the word and the remedy", function()
    local known = "known: generational, incremental, pause=PERCENT, stepmul=PERCENT, " ..
                  "major=PERCENT, nursery=BYTES, huge-pages, no-madvise"
    local sizes = "have a size from 4K to 1024M, or a range of sizes such as 1M-64M"
    for variable, why in pairs {
      ["pause=x"] = '"pause=x" must have a percentage from 0 to 10000',
      ["stepmul="] = '"stepmul=" must have a percentage from 0 to 10000',
      ["major=10001"] = '"major=10001" must have a percentage from 0 to 10000',
      ["major=-1"] = '"major=-1" must have a percentage from 0 to 10000',
      ["nursery=1K"] = '"nursery=1K" must ' .. sizes,
      ["nursery=99999999999999999999M"] =
        '"nursery=99999999999999999999M" must ' .. sizes,
      ["nursery=K"] = '"nursery=K" must ' .. sizes,
      ["nursery=2M-1M"] = '"nursery=2M-1M" must ' .. sizes,
      ["nursery=1M-"] = '"nursery=1M-" must ' .. sizes,
      ["incremental,generational"] = '"generational" is a second mode: give only one',
      ["pause=150,Incremental"] = '"Incremental" is not known (' .. known .. ")",
      ["a\27[31m"] = '"a?[31m" is not known (' .. known .. ")",
      [("x"):rep(100)] = '"' .. ("x"):rep(60) .. '..." is not known (' .. known .. ")",
    } do
      -- the process prints one message, however many states it has
      local out, err = run(variable, [[
        local states = require "states"
        for i = 1, 3 do states.open():close() end
        for i = 1, 1e5 do local t = {i} assert(t) end
        print(collectgarbage("statistics").nursery < 1 << 20, collectgarbage("incremental"))]])
      assert.equal("true\tgenerational\n", out)
      assert.equal("lua: LUA_GC: " .. why .. "; the variable has no effect\n", err)
    end
  end)

  it("may be empty, and words may be", function()
    for _, variable in ipairs {"", ",", "incremental,", ",,pause=200"} do
      local out, err = run(variable, "print(1)")
      assert.equal("1\n", out)
      assert.equal("", err)
    end
  end)
end)
