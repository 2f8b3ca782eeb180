-- SPDX-License-Identifier: MIT
-- Several Lua states in one OS thread that call each other. In the samples of each state, its Lua frames
-- must be at their positions; the bytecode loops of other states are native frames.

local peers = require "peers"
local process = require "spec.support.process"
local reader = require "profiler.reader"
local samples = require "spec.support.samples"
local times = require "spec.support.times"

-- Returns the frames of a stack as text, from the leaf to the function "outermost": Lua frames by name, and
-- of the native frames only the bytecode loops of states.
local function text(s)
  local list = {}
  for _, f in ipairs(s.stack) do
    if not f.native and f.file:find "states_spec" then list[#list + 1] = f.name
    elseif f.native and (f.name == "luaV_execute" or f.name == "s_run" or f.name == "peers_back")
      -- coroutines of one state have bytecode loops of their own, which follow each other; only the first
      -- is listed
      and list[#list] ~= "<" .. f.name .. ">"
    then list[#list + 1] = "<" .. f.name .. ">" end
    if f.name == "outermost" then break end
  end
  return table.concat(list, " ")
end

local INNER = [[
  local n = ...
  local function other(k) for _ = 1, n do end if k > 0 then return 1 + other(k - 1) end return 0 end
  other(2)
  coroutine.wrap(function()
    other(2)
    if back then back() end
  end)()
  other(2)]]

-- Runs code in this state, which calls another state. If 'isback' is true, the other state calls this one
-- again.
local function scene(n, isback)
  local peer = peers.new()
  local keep = {}
  local function innermost()
    for i = 1, n do keep[i % 8] = {i} end
    return keep
  end
  local function middle() return innermost() or 0 end
  if isback then peer:back(function() local _ = middle() end) end
  local function between()
    local ok, e = peer:run(INNER, n)
    assert(ok, e)
    return ok
  end
  local function outermost()
    local ok = between()
    return ok
  end
  return function()
    local _ = outermost()
  end, peer
end

local CALLED = "<luaV_execute> <s_run> between outermost"
local CALLEDBACK = "innermost middle anonymous <peers_back> " .. CALLED

-- Returns true if the stack is an outer part of the stack 'whole'. A sample inside the functions of the
-- profiler itself (OWN) has no C stack; it counts as correct.
local OWN = {timing_point = true, stack_walk = true}

local function leads(s, whole)
  local t = text(s)
  if OWN[s.stack[1].name] then return true end
  return not t:find "outermost" or t == whole:sub(-#t)
end

describe("a state that runs another", function()
  it("has the other's bytecode loop as native code, its own functions outside of that", function()
    local f, peer = scene(20000)
    local list = times.of(function() times.busy(0.3, f) end, {rate = 5000})
    peer:close()
    for _, s in ipairs(list.times) do assert.is_true(leads(s, CALLED), text(s)) end
    local share = times.share(list, function(s) return text(s) == CALLED end)
    assert.is_true(share > 0.6, share)
  end)

  it("has all of its functions in their places when it is called back", function()
    local f, peer = scene(20000, true)
    local list = times.of(function() times.busy(0.3, f) end, {rate = 5000})
    peer:close()
    for _, s in ipairs(list.times) do assert.is_true(leads(s, CALLEDBACK), text(s)) end
    local share = times.share(list, function(s) return text(s) == CALLEDBACK end)
    assert.is_true(share > 0.05, share)
  end)

  it("has them in allocation samples too, walked whole or in part", function()
    local f, peer = scene(300, true)
    local list = samples.of(function() for _ = 1, 30 do f() end end, {period = 512, native = true})
    peer:close()
    local n = 0
    for _, s in ipairs(list) do
      assert.is_true(leads(s, CALLEDBACK), text(s))
      if text(s) == CALLEDBACK then n = n + 1 end
    end
    assert.is_true(n > 100, n)
  end)
end)

describe("a state whose time is sampled on one OS thread", function()
  local START = [[
    local core = require "profiler.core"
    path, WALL, EXACT = ...
    assert(core.open{out = path, period = 1 << 20, timeperiod = 100000})
    assert(core.timeon(100000, WALL, EXACT))
    core.on(1024, false)
    function work(n)
      local keep = {}
      for i = 1, n do
        local co = coroutine.wrap(function(...) keep[i % 16] = {coroutine.yield(...)} end)
        co(i) co(i)
        if i % 10 == 0 then pcall(error, {}) end
      end
    end
    work(100)]]
  local STOP = [[
    local core = require "profiler.core"
    core.off()
    core.timeoff()
    local s = core.stats()
    assert(core.close())
    return s.timesamples, s.lost]]

  for _, case in ipairs{{"CPU time"}, {"wall time", true}, {"exact", false, times.exact}} do
    it("may run on another, where it is not: " .. case[1], function()
      local path, all = os.tmpname(), 0
      for _ = 1, 2 do
        local s = peers.new()
        assert(s:run(START, path, case[2], case[3]))
        local i, some = 0
        -- repeats until a tick has arrived while the other state ran
        repeat
          i = i + 1
          assert(s:elsewhere("work(...)", 1000))
          assert(s:run("work(...)", 200))
          some = select(2, s:run "return require 'profiler.core'.stats().lost > 0")
        until i >= 3 and some or i == 100
        local ok, _, lost = s:run(STOP)
        assert(ok)
        all = all + lost
        s:close()
      end
      -- samples were lost for periods of this thread that ended while the state ran on the other thread
      assert.is_true(all > 0)
      samples.read(path)
    end)

    it("may be stopped, or closed, on another: " .. case[1], function()
      local path = os.tmpname()
      for _, how in ipairs{"close", "stop"} do
        for _ = 1, 5 do
          local s = peers.new()
          assert(s:run(START, path, case[2], case[3]))
          if how == "stop" then
            local ok, e = s:elsewhere(STOP)
            assert(ok, e)
            s:close()
          else
            s:closeelsewhere()
          end
        end
        samples.read(path)
      end
      assert.equal("default", require "signals".disposition())
    end)
  end

  it("may outlive that thread: a new one has none of its ticks", function()
    local path = os.tmpname()
    local s = peers.new()
    assert(s:elsewhere(START, path))
    -- threads start and end one after the other, so that their ids are reused
    for i = 1, 8 do
      local ok, e = peers.thread([[
        local times = require "spec.support.times"
        local list = times.of(function() for _ = 1, 100000 do end end, {rate = 10000})
        for _, t in ipairs(list.times) do assert(t.count < 1000000, t.count) end]]):join()
      assert(ok, i .. tostring(e))
    end
    local ok, n, lost = s:run(STOP)
    assert(ok, n)
    assert.is_true(n + lost < 1000000, n)
    s:close()
    samples.read(path)
  end)
end)

describe("states of several OS threads", function()
  -- A former bug: when a session opened, the pointer to it was set first, then its path, and then the
  -- previous path was freed. Another state that compared paths meanwhile read NULL or freed memory.
  it("open and end their sessions at once", function()
    local threads, paths = {}, {}
    for i = 0, 6 do paths[i] = os.tmpname() end
    local peer = peers.new()
    assert(peer:run("assert(require 'profiler.core'.open{out = ..., period = 1 << 20})", paths[0]))
    for i = 1, 6 do
      threads[i] = peers.thread([[
        local core, path, n = require "profiler.core", ...
        for _ = 1, n do
          assert(core.open{out = path, period = 1 << 20, replace = 1})
          assert((core.stats().file == path) == (n <= 200))
          core.close()
        end]], i > 2 and paths[i] or paths[0], i > 2 and 100 or 300)
    end
    for i = 1, 6 do assert.same({true}, {threads[i]:join()}) end
    peer:close()
    for i = 0, 6 do
      if i ~= 1 and i ~= 2 then samples.read(paths[i]) end
      os.remove(paths[i])
      os.remove(paths[i] .. ".2")
      os.remove(paths[i] .. ".3")
    end
  end)

  -- A former bug: exit() freed the sessions while other threads were still sampled.
  it("may be sampled when the process ends: their profiles are whole", function()
    local script = process.file[[
      local peers, path = require "peers", ...
      local threads = {}
      for i = 1, 4 do
        threads[i] = peers.thread([=[
          local core, natives = require "profiler.core", require "natives"
          local path, i = ...
          assert(core.open{out = path .. i, period = 64, timeperiod = 100000, native = i % 2 == 0})
          assert(core.timeon(100000, false))
          core.on(64, false)
          local f = assert(io.open(path .. i .. ".runs", "w"))
          f:close()
          local kept = {}
          for n = 1, math.huge do kept[n % 1000] = {natives.userdata(n % 500)} end]=], path, i)
      end
      for i = 1, 4 do
        local f
        repeat f = io.open(path .. i .. ".runs") until f
        f:close()
      end
      os.exit(3)]]
    local path = os.tmpname()
    -- leak detection is off, because threads still run at exit
    local env = {ASAN_OPTIONS = "detect_leaks=0"}
    for _ = 1, 5 do
      assert.same({3, "", ""}, {process.run{script, path, env = env}})
      for i = 1, 4 do
        assert.is_true(reader.read(path .. i).complete)
        os.remove(path .. i)
        os.remove(path .. i .. ".runs")
      end
    end
  end)

  it("share no file, whatever it is called", function()
    local path = os.tmpname()
    local peer = peers.new()
    local core = require "profiler.core"
    assert(peer:run([[assert(require "profiler.core".open{out = ..., period = 1 << 20})]], path))
    local other = path:gsub("([^/]+)/([^/]+)$", "%1/../%1/./%2")
    assert(core.open{out = other, period = 1 << 20, replace = 2})
    assert.equal(other .. ".2", core.stats().file)
    core.close()
    peer:close()
    assert.is_true(reader.read(path).complete)
  end)
end)
