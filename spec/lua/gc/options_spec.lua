-- SPDX-License-Identifier: MIT
--
-- The function collectgarbage (lua/gc/options.h, pause.c): upstream's options must return the same values
-- as in upstream's Lua, in both modes. "nursery" and "statistics" are options of the fork.

local process = require "spec.support.process"
local within = require "spec.lua.gc.within"

-- A script that prints the result of each option, and prints it again after each change of a setting.
local SCRIPT = [[
local function show(...)
  print(table.unpack(table.pack(...)))
end
local function options()
  show("count", math.type(collectgarbage("count")), collectgarbage("count") > 5)
  show("collect", collectgarbage(), collectgarbage("collect"), collectgarbage(nil))
  show("isrunning", collectgarbage("isrunning"))
  show("stop", collectgarbage("stop"), collectgarbage("isrunning"))
  show("stopped", collectgarbage("collect"), collectgarbage("isrunning"))
  show("restart", collectgarbage("restart"), collectgarbage("isrunning"))
  show("setpause", collectgarbage("setpause", 180), collectgarbage("setpause", 220),
       collectgarbage("setpause", 200), collectgarbage("setpause"), collectgarbage("setpause", 200))
  show("setstepmul", collectgarbage("setstepmul", 400), collectgarbage("setstepmul", 120),
       collectgarbage("setstepmul"), collectgarbage("setstepmul", 100))
  show("a large step", collectgarbage("step", 1000000))
  show("bad", pcall(collectgarbage, "nothing"))
  show("bad", pcall(collectgarbage, 1))
  show("bad", pcall(collectgarbage, {}))
  show("bad", pcall(collectgarbage, "step", "x"))
  show("bad", pcall(collectgarbage, "step", 1.5))
  show("bad", pcall(collectgarbage, "incremental", 100, {}))
  show("bad", pcall(collectgarbage, "generational", "many"))
  -- all of them are refused inside a finalizer
  local inside = {}
  setmetatable({}, {__gc = function()
    for i, o in ipairs {"count", "collect", "stop", "restart", "step", "isrunning", "setpause",
                        "setstepmul", "generational", "incremental"} do
      inside[i] = o .. " " .. tostring(collectgarbage(o))
    end
  end})
  collectgarbage()
  show("in a finalizer", table.unpack(inside))
end
show("default", collectgarbage("generational"))
collectgarbage("incremental")
options()
show("modes", collectgarbage("generational"), collectgarbage("generational", 40, 200),
     collectgarbage("incremental", 150, 200, 12), collectgarbage("incremental"),
     collectgarbage("setpause", 200), collectgarbage("setstepmul", 100))
show("modes", collectgarbage("generational"))
options()
show("gen step", collectgarbage("step"), collectgarbage("step", 0))
collectgarbage("stop")
show("gen step, stopped", collectgarbage("step"), collectgarbage("isrunning"))
collectgarbage("incremental")
local steps = 0
repeat steps = steps + 1 until collectgarbage("step", 1)
show("inc steps, stopped", steps > 1, collectgarbage("isrunning"))
collectgarbage("restart")
repeat until collectgarbage("step")
show("done")
]]

describe("collectgarbage", function()
  it("returns the values of pristine Lua, in both modes #plain", function()
    local script = process.file(SCRIPT)
    local function output(interpreter)
      local status, text, errors = process.run {script, program = interpreter}
      assert.equal(0, status, errors)
      return text:gsub("table: 0x%x+", "a table")
    end
    local plain = output "build/plain/bin/lua"
    assert.is_truthy(plain:find("done", 1, true))
    assert.equal(plain, output())
  end)

  it("returns the nursery that was set, and sets it", function()
    within(function(state)
      assert(collectgarbage("nursery") == 0, "as the collector sees fit")
      assert(collectgarbage("nursery", 100000) == 0)
      assert(collectgarbage("nursery") == 100000)
      assert(collectgarbage("nursery", 20000) == 100000)
      assert(collectgarbage("statistics").nursery == 20000)
      local _, _, minors = state.memory()
      -- allocates userdata whose blocks have 1,000 bytes
      for _ = 1, 1000 do state.userdata(968) end
      -- tolerance of 3: the object that does not fit into a nursery is counted with that nursery
      assert(math.abs(select(3, state.memory()) - minors - 50) <= 3)
      assert(collectgarbage("nursery", 0) == 20000)
      assert(collectgarbage("nursery", nil) == 0)
      local n = collectgarbage("statistics").nursery
      assert(16 << 10 <= n and n <= 512 << 10, n)
      assert(collectgarbage("nursery", math.maxinteger) == 0)
      assert(collectgarbage("nursery", 0) >= 1 << 40)
      assert(collectgarbage("nursery", 1) == 0)
      for i = 1, 100 do assert(#{i, {}} == 2) end
      assert(collectgarbage("nursery", 0) == 1)
    end)
  end)

  it("does nothing in a finalizer", function()
    within(function()
      local got
      setmetatable({}, {__gc = function() got = {collectgarbage("nursery", 8192), n = 1} end})
      collectgarbage()
      assert(got.n == 1 and got[1] == nil and collectgarbage("nursery") == 0)
    end)
  end)

  it("names the nursery that cannot be", function()
    for value, said in pairs {[-1] = "%-1", [math.mininteger] = "%-9223372036854775808",
                              [1.5] = "number has no integer representation",
                              much = "number expected, got string"} do
      local ok, message = pcall(collectgarbage, "nursery", value)
      assert.is_false(ok)
      assert.is_truthy(message:find(said), message)
      assert.is_nil(message:find "\n")
    end
    local _, message = pcall(collectgarbage, "nursery", -5)
    assert.is_truthy(message:find("0 bytes or more", 1, true), message)
    assert.equal(0, (within(function() return collectgarbage("nursery") end)))
  end)

  it("has statistics that agree with one another and with what happens", function()
    within(function(state)
      local s = collectgarbage("statistics")
      local names = {}
      for name, value in pairs(s) do
        names[#names + 1] = name
        local seconds = name:find "^pause" or name == "longest"
        assert(math.type(value) == (seconds and "float" or "integer"), name)
        assert(value >= 0, name)
      end
      table.sort(names)
      local want = "allocated held inuse longest majors minors mostwork nursery pause pauses tenured work"
      for name in want:gmatch "%a+" do assert(s[name], name) end
      local inuse, held, minors, majors = state.memory()
      -- read first, because the table of statistics may need a new block
      local bytes = state.bytes()
      s = collectgarbage("statistics")
      assert(math.abs(s.inuse - inuse) < 2000 and s.held == held)
      assert(s.minors == minors and s.majors == majors)
      assert(math.abs(collectgarbage("count") * 1024 - s.inuse) < 2000)
      assert(s.held >= bytes and s.allocated >= s.inuse - 4096)
      local kept = state.table(200, 0)
      for _ = 1, 20 do
        for i = 1, 2000 do kept[i % 200 + 1] = state.userdata(100) end
        collectgarbage("step")
        local now = collectgarbage("statistics")
        for _, name in ipairs {"allocated", "tenured", "minors", "majors", "mostwork", "longest",
            "pauses"} do
          assert(now[name] >= s[name], name)
        end
        assert(now.minors > s.minors and now.allocated - s.allocated >= 2000 * 136)
        assert(now.tenured - s.tenured <= now.allocated - s.allocated)
        assert(now.pause <= now.longest and now.longest <= now.pauses)
        s = now
      end
      collectgarbage()
      local now = collectgarbage("statistics")
      assert(now.majors == s.majors + 1 and now.inuse <= s.inuse)
    end)
  end)

  it("counts the bytes that a full collection tenures, too", function()
    within(function(state)
      collectgarbage("stop")
      collectgarbage()
      local before, kept = collectgarbage("statistics").tenured, {}
      -- allocates userdata whose blocks have 1,000 bytes
      for i = 1, 100 do kept[i] = state.userdata(968) end
      assert(collectgarbage("statistics").tenured == before and #kept == 100)
      collectgarbage()
      local after = collectgarbage("statistics").tenured
      assert(after - before >= 100000 and after - before < 110000, after - before)
      collectgarbage()
      assert(collectgarbage("statistics").tenured - after < 1000, "twice")
    end)
  end)
end)

describe("the settings of the incremental mode", function()
  it("bound the work of a step by its argument", function()
    within(function(state)
      local live = {}
      for i = 1, 5000 do live[i] = {i} end
      local function steps(n)
        collectgarbage("incremental")
        collectgarbage("stop")
        collectgarbage()
        local count = 0
        repeat count = count + 1 until collectgarbage("step", n)
        return count
      end
      local last = math.maxinteger
      for _, n in ipairs {1, 8, 64, 100000} do
        local count = steps(n)
        assert(count <= last, ("steps of %d KiB: %d, not fewer than %d"):format(n, count, last))
        last = count
      end
      assert(last == 1 and steps(1) > 3)
      assert(#live == 5000)
      state.check()
    end)
  end)

  it("pause it until as many bytes have been allocated, dead or not", function()
    within(function(state)
      local live = state.table(1000, 0)
      for i = 1, 1000 do live[i] = state.userdata(400) end
      for _, pause in ipairs {120, 200, 400} do
        collectgarbage("incremental", pause, 1000, 20)
        collectgarbage()
        local before, start = select(4, state.memory()), state.memory()
        local allocated = state.allocated()
        repeat state.closure(1) until select(4, state.memory()) > before
        local grown = 1 + (state.allocated() - allocated) / start
        assert(math.abs(grown - pause / 100) < 0.1, ("pause %d: %.2f"):format(pause, grown))
      end
    end)
  end)
end)
