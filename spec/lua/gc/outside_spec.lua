-- SPDX-License-Identifier: MIT
--
-- External bytes (lua/gc/sweep/outside.c, files.h): C code reports to the collector the memory and
-- resources outside of the heap that a userdata owns, and the io library reports those of files.

-- luacheck: ignore 241 331 311 (variables that only keep objects alive)

local process = require "spec.support.process"
local shell = require "spec.support.shell"
local within = require "spec.lua.gc.within"

describe("external bytes of userdata", function()
  it("are summed up, returned, and subtracted by a collection when their owners die", function()
    within(function(state)
      local function outside() return collectgarbage("statistics").outside end
      local before = outside()
      local kept = {}
      for i = 1, 100 do
        kept[i] = state.userdata(16)
        state.outside(kept[i], 1000)
      end
      assert(outside() == before + 100 * 1000)
      state.outside(kept[1], 5000)
      state.outside(kept[2], 0)
      assert(outside() == before + 98 * 1000 + 5000)
      collectgarbage()
      collectgarbage("step")
      assert(outside() == before + 98 * 1000 + 5000)
      state.outside(kept[2], 1000)
      for i = 51, 100 do kept[i] = nil end
      collectgarbage()
      assert(outside() == before + 49 * 1000 + 5000)
      kept = nil  -- luacheck: ignore 311
      collectgarbage()
      assert(outside() == before)
      state.check()
    end)
  end)

  -- A former bug: a large userdata, which is allocated by lua_Alloc, was freed before its number of
  -- external bytes was read and subtracted.
  it("is taken back from userdata of any size", function()
    within(function(state)
      local before = collectgarbage("statistics").outside
      local kept = {}
      for i = 1, 60 do
        for _, size in ipairs {16, 9000, 40000} do
          kept[size * (i % 3)] = state.userdata(size)
          state.outside(kept[size * (i % 3)], 1000 + size)
        end
        if i % 4 == 0 then collectgarbage("step") end
        if i % 20 == 0 then collectgarbage() end
        state.check()
      end
      kept = nil
      collectgarbage()
      assert(collectgarbage("statistics").outside == before)
    end)
  end)

  it("bring collections: a GiB owned by small userdata does not wait for the end of a nursery", function()
    for _, mode in ipairs {"generational", "incremental"} do
      local peak, majors = within(function(state, m)
        collectgarbage(m)
        collectgarbage()
        local peak, kept = 0, {}
        local _, _, _, before = state.memory()
        for i = 1, 1000 do
          local u = state.userdata(16)
          state.outside(u, 1 << 20)
          -- keeps the userdata for so long that it is old when it dies
          kept[i % 10] = u
          peak = math.max(peak, collectgarbage("statistics").outside)
        end
        local _, _, _, majors = state.memory()
        return peak, majors - before
      end, mode)
      assert.is_true(peak < 128 << 20, mode .. ": " .. peak)
      assert.is_true(majors > 10, mode .. ": " .. majors)
    end
  end)

  it("is taken back when the finalizer has been called, which brings the userdata back", function()
    within(function(state)
      local before = collectgarbage("statistics").outside
      local called = 0
      local u = state.userdata(16)
      state.outside(u, 12345)
      debug.setmetatable(u, {__gc = function() called = called + 1 end})
      u = nil  -- luacheck: ignore 311
      collectgarbage()
      assert(called == 1 and collectgarbage("statistics").outside == before + 12345)
      collectgarbage()
      assert(called == 1 and collectgarbage("statistics").outside == before)
    end)
  end)
end)

-- A former bug: files without references were closed only when the heap had grown. A server that left one
-- file open for each request had no descriptor left at request 1,020.
describe("open files", function()
  local function run(code, ...)
    local script = process.file(code)
    local _, got = shell.run(("ulimit -n 128; exec '%s' %s %s 2>&1"):format(
      process.interpreter(), script, table.concat({...}, " ")))
    return got
  end
  local DROPS = [[
    collectgarbage(...)
    local open, kept = io.open, {}
    for request = 1, 3000 do
      local file, message = open("/dev/null")
      if not file then print(request, message) os.exit(1) end
      kept[request % 20] = file
      local t = {}
      for i = 1, 60 do t[i] = {i, tostring(i)} end
    end
    print("ok")]]

  it("that are dropped are closed in time, whatever the mode", function()
    for _, mode in ipairs {"generational", "incremental"} do
      assert.equal("ok\n", run(DROPS, mode), mode)
    end
  end)

  it("that are dropped faster than anything is allocated are closed when descriptors run out", function()
    assert.equal("ok\n", run [[
      for i = 1, 1000 do
        assert(io.open("/dev/null"))
        if i % 5 == 0 then assert(io.tmpfile()) end
        if i % 7 == 0 then for _ in io.lines("/dev/null") do break end end
      end
      for i = 1, 150 do assert(io.popen("exit")) end
      print("ok")]])
  end)

  it("stay open where the collector was stopped: the error is upstream's", function()
    local got = run [[
      collectgarbage("stop")
      for i = 1, 1000 do
        local file, message = io.open("/dev/null")
        if not file then print(message) break end
      end]]
    assert.equal("/dev/null: Too many open files\n", got)
  end)

  it("that run out in a finalizer have the errors of plain Lua, and so has collectgarbage", function()
    local code = [[
      local function show(...) print(select("#", ...), ...) end
      setmetatable({}, {__gc = function()
        for _, what in ipairs{"stop", "restart", "collect", "count", "step", "setpause", "setstepmul",
                              "isrunning", "generational", "incremental"} do
          show(what, pcall(collectgarbage, what))
        end
        local held, file, message = {}
        repeat
          file, message = io.open("/dev/null")
          held[#held + 1] = file
        until not file
        show(#held, message)
        show(io.popen "exit")
        show(io.tmpfile())
        show(pcall(io.lines, "/dev/null"))
        for _, file in ipairs(held) do file:close() end
        io.open("/dev/null"):close()
      end})
      collectgarbage()
      show(collectgarbage "isrunning")]]
    local _, plain = shell.run(("ulimit -n 128; exec build/plain/bin/lua %s 2>&1"):format(process.file(code)))
    assert.equal(plain, run(code))
    assert.is_truthy(plain:find("Too many open files", 1, true), plain)
  end)

  it("count from opening to closing", function()
    assert.equal("0 10 9 0\n", run [[
      local function files() return (collectgarbage("statistics").outside - BASE) // 32768 end
      BASE = collectgarbage("statistics").outside
      local first, kept = files(), {}
      for i = 1, 10 do kept[i] = io.open("/dev/null") end
      local ten = files()
      kept[1]:close()
      assert(not io.open("/there/is/none"))
      local nine = files()
      kept = nil
      collectgarbage() collectgarbage()
      print(table.concat({first, ten, nine, files()}, " "))]])
  end)
end)
