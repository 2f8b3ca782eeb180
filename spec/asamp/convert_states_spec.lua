-- SPDX-License-Identifier: MIT
-- Conversion of profiles of processes with many Lua states. In the converted file each state is separate.
-- If there are too many states, those that run the same script are merged. The sums must be those of all
-- states.

local asamp = require "asamp.commands.convert"
local cjson = require "cjson"
local profilegen = require "profilegen"
local protobuf = require "spec.support.protobuf"
local reader = require "profiler.reader"
local shell = require "spec.support.shell"
local vmprof = require "spec.support.vmprof"

-- Writes a profile of n states that run 'scripts' different scripts. Each state allocates 200 bytes in one
-- line, of which 100 survive, runs for a millisecond, sets a mark and runs two collections.
local function write(path, n, scripts)
  local p = assert(profilegen.open{path = path, states = true, period = 100,
                                   timeperiod = 1000000, followed = 1000})
  for id = 0, n - 1 do
    p:start(id)
    p:called("script" .. id % scripts)
    p:name(8, "f", 1, "@a.lua")
    p:sample{8, 1}
    p:sample{8, 2}
    p:time{8, 3}
    p:mark("m" .. id, "1")
    p:collection{fates = "10", time = 0}
    p:collection{major = true}
    p:leave(200)
  end
  p:close()
end

local path, out, err

local function convert(...)
  err = ""
  local world = {
    out = function() end, err = function(text) err = err .. text end,
    progress = function() return function() end, function() end end,
  }
  assert.equal(0, asamp.run({"--plain", "-o", out, path, "--to", ...}, world), err)
  return (vmprof.load(out))
end

-- Returns the bytes in a collapsed file, by the outermost frame, which is the name of a state.
local function collapsed(...)
  local t = {}
  for outer, bytes in convert("collapsed", ...):gmatch "([^;\n]+);[^\n]* (%d+)\n" do
    t[outer] = (t[outer] or 0) + tonumber(bytes)
  end
  return t
end

local function pprof(...)
  local t = {}
  for _, s in ipairs(protobuf.profile(convert("pprof", ...)).samples) do
    local state = s.labels.state or ""
    t[state] = (t[state] or 0) + s.values[2]
  end
  return t
end

local function speedscope(...)
  local t, p = {}, cjson.decode(convert("speedscope", ...))
  for _, one in ipairs(p.profiles) do
    assert.is_nil(t[one.name])
    assert.equal(#one.samples, #one.weights)
    t[one.name] = one.endValue
    for _, stack in ipairs(one.samples) do
      for _, frame in ipairs(stack) do assert(p.shared.frames[frame + 1]) end
    end
  end
  return t
end

local function firefox(...)
  local t, p = {}, cjson.decode(convert("firefox", ...))
  for i, thread in ipairs(p.threads) do
    local a, marks, bytes = thread.nativeAllocations, {}, 0
    assert.equal(i, thread.tid)
    for k, weight in ipairs(a and a.weight or {}) do
      bytes = bytes + math.max(weight, 0)
      assert.equal(thread.tid, a.threadId[k])
      assert.is_true(a.stack[k] < p.shared.stackTable.length)
    end
    for _, name in ipairs(thread.markers.name) do
      local text = p.shared.stringArray[name + 1]
      if text:find "^m%d" then marks[#marks + 1] = text end
    end
    t[thread.name] = {bytes, thread.samples.length, marks}
  end
  return t, p
end

describe("a process with several Lua states", function()
  setup(function()
    path, out = os.tmpname(), os.tmpname()
    write(path, 3, 2)
  end)

  it("has a label in pprof, an outermost frame in collapsed, for each", function()
    assert.same({["0 script0"] = 200, ["1 script1"] = 200, ["2 script0"] = 200}, pprof())
    assert.same({["[state 0 script0]"] = 200, ["[state 1 script1]"] = 200,
                 ["[state 2 script0]"] = 200}, collapsed())
    assert.same({["[state 0 script0]"] = 1000, ["[state 1 script1]"] = 1000,
                 ["[state 2 script0]"] = 1000}, collapsed("--weight", "time"))
    assert.equal("", err)
  end)

  it("has profiles in speedscope, a thread with its marks in Firefox, for each", function()
    local t = {}
    for _, state in ipairs{"0 script0", "1 script1", "2 script0"} do
      t["Allocated, state " .. state], t["Survived, state " .. state] = 200, 100
      t["CPU time, state " .. state] = 1000000
    end
    -- the objects of states 0 and 1 died before state 2 started, so that only state 2 has live objects at the
    -- end
    t["Alive at the end, state 2 script0"] = 100
    assert.same(t, speedscope())
    local threads, p = firefox()
    assert.same({["Lua state 0 script0"] = {200, 1, {"m0"}}, ["Lua state 1 script1"] = {200, 1, {"m1"}},
                 ["Lua state 2 script0"] = {200, 1, {"m2"}}}, threads)
    assert.same({0, 1, 2}, p.meta.initialVisibleThreads)
  end)

  it("is added up with --together", function()
    assert.same({[""] = 600}, pprof "--together")
    assert.same({["f (a.lua:1)"] = 600}, collapsed "--together")
    assert.same({["Allocated"] = 600, ["Survived"] = 300, ["Alive at the end"] = 100,
                 ["CPU time"] = 3000000}, speedscope "--together")
    assert.same({Lua = {600, 3, {"m0", "m1", "m2"}}}, (firefox "--together"))
  end)
end)

describe("a process with more states than files for other tools can have", function()
  before_each(function() path, out = os.tmpname(), os.tmpname() end)

  it("has those of one script together, and says so", function()
    write(path, 200, 2)
    assert.same({script0 = 20000, script1 = 20000}, pprof())
    assert.is_truthy(err:find(
      "the limit of 64 Lua states was reached, so 198 share a row", 1, true))
    assert.same({["[state script0]"] = 20000, ["[state script1]"] = 20000}, collapsed())
    local threads = firefox()
    assert.same({20000, 100, 20000, 100}, {threads["Lua state script0"][1], threads["Lua state script0"][2],
      threads["Lua state script1"][1], threads["Lua state script1"][2]})
    assert.same(20000, speedscope()["Allocated, state script1"])
  end)

  it("and those of further scripts, if these are too many: no byte is lost", function()
    write(path, 200, 100)
    local sum, n, t = 0, 0, pprof()
    for _, bytes in pairs(t) do sum, n = sum + bytes, n + 1 end
    assert.same({40000, 65, 72 * 200}, {sum, n, t["(72 others)"]})
    assert.is_truthy(err:find(
      "the limit of 64 scripts of Lua states was reached, so 72 states of other scripts share", 1, true))
    assert.equal(reader.read(path).bytes, sum)
    assert.equal(72 * 200, firefox()["Lua state (72 others)"][1])
    assert.equal(72 * 200, speedscope()["Allocated, state (72 others)"])
  end)

  -- The reader has 65,536 rows for states; the last row counts all further states. A former bug: the first
  -- state of the last row was not counted.
  it("and those beyond the rows of the reader", function()
    write(path, 65538, 2)
    local t = pprof()
    assert.same({600, 32768 * 200, 32767 * 200}, {t["(3 others)"], t.script0, t.script1})
    assert.is_truthy(err:find(
      "the limit of 64 Lua states was reached, so 65,533 share a row", 1, true))
    assert.is_truthy(err:find("3 states of other scripts share one row", 1, true))
  end)

  -- A former bug: the message reported that 18,446,744,073,709,551,615 states share a row. The first
  -- samples came before the states had names, and no state had the empty name of these samples.
  it("and receive their names after their first samples", function()
    local stacks, starts, names = {}, {}, {}
    for id = 0, 64 do
      stacks[#stacks + 1] = vmprof.stack(1, 1, {0, 1, 5, 100}, {id})
      starts[#starts + 1] = ("N 0 %d\nf 1\n"):format(id)
      names[#names + 1] = ("S %d\nY script%d\n"):format(id, id)
    end
    shell.write(path, vmprof.head() .. vmprof.header(6, 2, "lua") .. vmprof.meta("asamp.format", "4") ..
      vmprof.meta("sample_allocated_bytes", "100") .. table.concat(stacks) ..
      vmprof.meta("asamp.1", "n 65\n" .. table.concat(starts)) ..
      vmprof.meta("asamp.2", "n 0\n" .. table.concat(names)) .. vmprof.trailer(1))
    local sum = 0
    for _, bytes in pairs(pprof()) do sum = sum + bytes end
    assert.equal(6500, sum)
    assert.is_falsy(err:find("share a row with other states", 1, true), err)
    assert.is_truthy(err:find("2 states of other scripts share one row", 1, true), err)
  end)
end)
