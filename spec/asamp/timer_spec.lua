-- SPDX-License-Identifier: MIT
-- Time sampling must not disturb the program: its hooks, signals from other sources, system calls, other
-- states, OS threads and processes, and its end.

local core = require "profiler.core"
local fewer = require "spec.support.fewer"
local peers = require "peers"
local process = require "spec.support.process"
local profiler = require "profiler"
local samples = require "spec.support.samples"
local signals = require "signals"
local times = require "spec.support.times"

local FAST = {rate = 10000}

-- Runs code in a separate process with 'rate' time samples per second, by default 5,000. Returns its exit
-- status, stdout, stderr and samples.
local function run(code, rate)
  local path = os.tmpname()
  local env = {LUA_PROFILER = ("alloc=0,time=%d,quiet,out=%s"):format(rate or 5000, path)}
  local status, out, err = process.run{load = "profiler", code = code, env = env}
  local list = status < 128 and samples.read(path)
  return status, out, err, list
end

describe("a program's hooks", function()
  -- Returns all events that a debug hook receives during work with calls, loops, coroutines and errors.
  local function events(mask, count)
    local list = {}
    local function fib(n)
      if n < 2 then return n end
      return fib(n - 1) + fib(n - 2)
    end
    local function work()
      local co = coroutine.wrap(function(...)
        for i = 1, 50 do coroutine.yield(i, ...) end
      end)
      for _ = 1, 50 do co(1) end
      for _ = 1, 10 do pcall(error, {}) end
      ;(("x"):rep(50)):gsub("x", function(x) return x .. x end)
      return select("#", table.unpack({1, 2, 3})), fib(14)
    end
    debug.sethook(function(event, line)
      list[#list + 1] = event .. (line or "")
    end, mask, count)
    work()
    debug.sethook()
    return table.concat(list, " ", 1, #list - 1)
  end

  for _, case in ipairs{{"l"}, {"", 3}, {"cr"}, {"crl", 100}} do
    it("have the same events: " .. case[1] .. (case[2] or ""), function()
      local expected = events(table.unpack(case))
      assert.is_true(#expected > 1000)
      local list = times.of(function()
        for _ = 1, 5 do assert.is_true(events(table.unpack(case)) == expected) end
      end, FAST)
      assert.is_true(#list.times > 0)
    end)
  end

  -- The hook is set for one coroutine by code outside of it.
  it("of a coroutine have the same events", function()
    local function ofcoroutine()
      local list = {}
      local co = coroutine.create(function(n)
        for i = 1, n do
          local t = {i}
          if i % 7 == 0 then coroutine.yield(t) end
          if i % 11 == 0 then pcall(error, t) end
        end
      end)
      debug.sethook(co, function(event, line)
        list[#list + 1] = event .. (line or "")
      end, "crl", 10)
      repeat until not coroutine.resume(co, 2000) or coroutine.status(co) == "dead"
      return table.concat(list, " ")
    end
    local expected = ofcoroutine()
    assert.is_true(#expected > 10000)
    local list = times.of(function()
      for _ = 1, fewer(4, 2) do assert.is_true(ofcoroutine() == expected) end
    end, FAST)
    assert.is_true(#list.times > 0)
  end)

  it("are all that lua_gethookmask shows, while a sample waits for its point", function()
    times.of(function()
      local mine, new = signals.hookmasks(0.05)
      assert.equal(0, mine)
      assert.equal(0, new)
      debug.sethook(function() end, "", 1 << 20)
      mine, new = signals.hookmasks(0.05)
      debug.sethook()
      assert.equal(8, mine)
      assert.equal(8, new)
    end, FAST)
  end)

  it("are all that debug.gethook shows, in coroutines too", function()
    local function hook() end
    local list = times.of(function()
      times.busy(0.1, function()
        for _ = 1, 100 do
          assert(debug.gethook() == nil)
          local co = coroutine.create(function() for _ = 1, 10 do coroutine.yield() end end)
          assert(debug.gethook(co) == nil)
          coroutine.resume(co)
          assert(debug.gethook(co) == nil)
        end
        debug.sethook(hook, "c", 1000)
        for _ = 1, 100 do
          local f, mask, count = debug.gethook()
          assert(f == hook and mask == "c" and count == 1000)
        end
        debug.sethook()
      end)
    end, FAST)
    assert.is_true(#list.times > 5, #list.times)
  end)
end)

describe("a signal", function()
  it("of another profiler's timer reaches its handler, and only that", function()
    signals.count(100)
    local before = os.clock()
    local list = times.of(function() signals.burn(0.3) end, {rate = 2000})
    local n = signals.count()
    signals.nocount()
    -- The program's own timer, which measures the CPU time of the whole process, sends about 30 signals,
    -- fewer on a busy machine. The 600 signals of the profiler must not be counted.
    assert.is_true(n > 3 and n <= 100 * (os.clock() - before) + 50, n)
    local _, all = times.count(list, function() end)
    assert.is_true(all > 300, all)
  end)

  it("of the profiler's kind, sent by another process, has its usual effect", function()
    times.of(signals.send)  -- the program, without a handler, ignores the signal
    finally(signals.nocount)
    signals.count(0)
    times.of(function()
      for _ = 1, 100 do signals.send() end
      local n = signals.count()
      -- fewer than 100, because a signal that arrives while another is pending is merged with it
      assert.is_true(n >= 95 and n <= 100, n)
      signals.burn(0.05)
      assert.equal(n, signals.count())
    end, {rate = 1000})
  end)

  it("of the profiler that comes too late does no harm", function()
    assert.equal("default", signals.disposition())
    local path = os.tmpname()
    assert(core.open{out = path, period = 1 << 20, timeperiod = 1000000})
    assert(core.timeon(1000000, false))
    signals.blocked(function()
      signals.burn(0.05)
      core.timeoff()
    end)
    assert.equal("other", signals.disposition())
    assert(core.timeon(1000000, false))
    core.timeoff()
    assert.equal("default", signals.disposition())
    core.close()
  end)

  -- A former bug: the program's handler and the profiler's handler each had the other as its previous
  -- handler.
  it("goes once to a program's handler that passes on to the profiler's", function()
    local path = os.tmpname()
    finally(function()
      core.close()
      signals.nocount()
      signals.unchain()
      os.remove(path)
    end)
    signals.count(0)
    assert(core.open{out = path, period = 1 << 20})
    assert(core.timeon(1000000000, false))
    signals.chain()
    core.timeoff()
    assert.equal("chain", signals.disposition())
    assert(core.timeon(1000000000, false))
    assert.equal("other", signals.disposition())
    local function both()
      local over, below = signals.chained(), signals.count()
      signals.send()
      assert.same({over + 1, below + 1}, {signals.chained(), signals.count()})
    end
    both()
    for _ = 1, 3 do
      core.timeoff()
      assert.equal("chain", signals.disposition())
      both()
      assert(core.timeon(1000000000, false))
      both()
    end
  end)

  -- While the profiler does not receive its signal, the periods must be counted as lost. A former bug: they
  -- were not counted.
  for what, whole in pairs{
    ["is blocked"] = function(f) signals.blocked(f) end,
    ["is taken by the program, which keeps it"] = function(f) signals.count(0) f() end,
  } do
    it("that " .. what .. " while time is sampled: the time meanwhile is lost, and counted", function()
      local path = os.tmpname()
      finally(function()
        core.close()
        signals.unchain()
        os.remove(path)
      end)
      for _, wall in ipairs{false, true} do
        assert(core.open{out = path, period = 1 << 20, timeperiod = 1000000})
        assert(core.timeon(1000000, wall))
        signals.burn(0.05)
        local seen = core.stats()
        assert.equal(0, seen.lost)
        local disposition
        whole(function()
          disposition = signals.disposition()
          signals.burn(0.3)
          core.timeoff()
        end)
        local t = core.stats()
        -- 300 periods have passed; a signal may be late
        assert.is_true(t.lost >= 240, t.lost)
        assert.is_true(t.timesamples <= seen.timesamples + 60, t.timesamples)
        assert.equal(disposition, signals.disposition())
        core.close()
        signals.unchain()
        samples.read(path)
      end
    end)
  end

  it("that is blocked refuses time samples, with the reason", function()
    local path = os.tmpname()
    local message = "cannot sample time: SIGURG is blocked in this thread, and SIGWINCH is blocked or " ..
                    "has a handler; unblock SIGURG (pthread_sigmask)"
    signals.bothblocked(function()
      assert.same({nil, message, 22}, {profiler.time_start(1000, {out = path})})
      assert.same({nil, message, 22}, {profiler.enable{time = 1000, alloc = 0, out = path}})
      assert.is_false(profiler.disable())
      -- the time samples were refused, but allocation samples are still taken
      assert.same({true, message, 22}, {profiler.enable{time = 1000, alloc = 1024, out = path,
                                                        overwrite = true}})
      for i = 1, 10000 do local _ = {i} end
      assert.is_true(profiler.stats().samples > 10)
      assert.is_true(profiler.disable())
    end)
    local p = assert(require "profiler.reader".read(path))
    assert.is_true(p.samples > 10)
    assert.equal("time is not sampled", p.marknames[1].name)
    assert.matches("^thread %d+: cannot sample time: SIGURG is blocked in this thread, and",
                   p.marknames[1].value)
    local _, text = process.run{program = "build/bin/asamp", "report", path}
    text = text:gsub("%s+", " ")
    assert.matches("Time is not sampled on 1 thread%. The reason for the last thread: thread %d+: cannot",
                   text)
    local data = require "asamp.show.page.data".of(p, {nodes = 100})
    assert.matches("Time is not sampled on 1 thread%. The reason for the last thread",
                   table.concat(data.notes, "\n"))
    os.remove(path)
    assert.equal("default", signals.disposition())
  end)

  it("that may have no handler refuses time samples, with the reason", function()
    local path = os.tmpname()
    local status, out = process.run{process.file [[
      local profiler, path = require "profiler", ...
      if not require "filtered".filter("errno", "sigaction") then os.exit(77) end
      print(select(2, profiler.enable{time = 1000, alloc = 1024, out = path, overwrite = true}))
      for i = 1, 10000 do local _ = {i} end
      print(profiler.stats().samples > 10)]], path}
    os.remove(path)
    if status == 77 then return end
    assert.same({0, "cannot sample time: sigaction: Operation not permitted; permit this system call, or " ..
      "set 'time' to 0\t1\ntrue\n"}, {status, out})
  end)

  it("that is blocked is reported by asamp stats of a process, which samples allocations", function()
    local path = os.tmpname()
    os.remove(path)
    assert(os.execute("mkdir -m 700 " .. path))
    path = path .. "/x"
    local code = [[
      for i = 1, 100000 do local _ = {i} end
      while not os.rename((...) .. ".sock", (...) .. ".sock") do end
      for _, command in ipairs{"stats", "top --count 1"} do
        local p = io.popen("env -u ASAMP build/bin/asamp " .. command .. " " .. (...) .. ".sock 2>&1")
        io.write(p:read "a")
      end]]
    local env = {ASAMP = ("alloc=1K,time=100,quiet,out=%s.p,listen=%s.sock"):format(path, path)}
    local status, out, err
    -- the child process inherits the blocked signals
    signals.bothblocked(function()
      status, out, err = process.run{code = code, path, env = env}
    end)
    assert.equal(0, status)
    assert.matches("cannot sample time: SIGURG is blocked in this thread, and", err)
    assert.matches("\ntime is not sampled on 1 thread: cannot sample time: SIGURG is blocked", out)
    -- printed by `asamp top`
    assert.matches("\ntime is not sampled on 1 thread\n", out)
    local p = assert(require "profiler.reader".read(path .. ".p"))
    os.execute("rm -r " .. path:match "^(.*)/")
    assert.is_true(p.samples > 1000)
    assert.equal("time is not sampled", p.marknames[1].name)
  end)

  -- A program that blocks SIGURG may read it by signalfd, as PostgreSQL does. The profiler must leave it
  -- blocked and use another signal.
  it("that is blocked stays so: SIGWINCH is used", function()
    local list
    signals.count(0)
    finally(signals.nocount)
    signals.blocked(function()
      list = times.of(function()
        signals.burn(0.1)
        assert.equal("count", signals.disposition())
      end, {rate = 1000})
      signals.send()
      assert.equal(0, signals.count())
    end)
    assert.equal(1, signals.count())
    assert.is_true(times.within(list, "signals_burn") > 0.5)
    local _, n = times.count(list, function() end)
    assert.is_true(n >= 80, n)
    assert.equal(0, list.stats.lost)
  end)

  -- A former bug: on a thread with clocks for both of the profiler's signals, the handler of one signal
  -- interrupted the handler of the other, which damaged the buffer of ticks.
  it("does not interrupt the handler of the other one", function()
    times.of(function() assert.is_true(signals.masked()) end)
  end)

  it("is the program's again when sampling is off", function()
    signals.count(0)
    times.of(function() assert.equal("other", signals.disposition()) end)
    assert.equal("count", signals.disposition())
    signals.nocount()
    times.of(function() assert.equal("other", signals.disposition()) end)
    assert.equal("default", signals.disposition())
  end)
end)

describe("system calls", function()
  it("that are interrupted go on", function()
    for _, wall in ipairs{false, true} do
      local list = times.of(function()
        local p = io.popen "for i in 1 2 3 4 5; do sleep 0.04; echo line $i; done"
        local lines = {}
        for line in p:lines() do lines[#lines + 1] = line end
        assert.same({"line 1", "line 2", "line 3", "line 4", "line 5"}, lines)
        assert.is_true(p:close())
        assert.is_true(os.execute "sleep 0.05")
      end, {rate = 5000, wall = wall})
      -- a late signal of the wall clock represents several periods
      if wall then
        local _, periods = times.count(list, function() end)
        assert.is_true(periods > 300, periods)
      end
    end
  end)

  it("do not see that errno was used", function()
    times.of(function()
      times.busy(0.1, function()
        for _ = 1, 100 do
          local f, _, errno = io.open "/nonexistent/file"
          assert(f == nil and errno == 2)
        end
      end)
    end, FAST)
  end)
end)

describe("an event of CPU time", function()
  -- A former bug: with a period of 20 us on a busy machine, the interrupts of the clock took up to 460 ms
  -- of the thread's time before one signal was delivered. A single sample then represented all of that
  -- time. The spec preloads a library. It is left out with ASan, whose own library must be preloaded first.
  if times.exact and os.getenv "ASAMP_VARIANT" ~= "asan" then
    it("never repeats so fast that its interrupts leave the thread no time", function()
      local env = {LUA_PROFILER = "", LD_PRELOAD = package.searchpath("periods", package.cpath)}
      local status, out, err = process.run{env = env, code = [[
        local times = require "spec.support.times"
        local least = require "periods"
        times.of(function()
          repeat until least() > 200
        end, {rate = 20000, native = false})
        print(select(2, least()))
      ]]}
      assert.equal(0, status, err)
      assert.is_true(tonumber(out) >= 100000, out)
    end)
  end
end)

describe("states", function()
  local WORK = [[
    local path, seconds = ...
    local times = require "spec.support.times"
    local function lua%d(n) for _ = 1, n do end end
    local function work() times.busy(seconds, function() local _ = lua%d(10000) end) end
    local list = times.of(work, {rate = 2000})
    local n, all = times.count(list, function(s)
      for _, f in ipairs(s.stack) do if f.name == "lua%d" then return true end end
    end)
    return n, all, list.cpu]]

  it("of OS threads have timers of their own", function()
    local threads = {}
    for i = 1, 3 do threads[i] = peers.thread(WORK:gsub("%%d", i), "", 0.8) end
    for i = 1, 3 do
      local ok, n, all, cpu = threads[i]:join()
      assert(ok, n)
      -- the remaining samples are of the start and end of the session, or of reading the clock: 12% if that
      -- is a system call
      assert.is_true(n > 0.75 * all, n .. " of " .. all)
      assert.is_true(all > 0.4 * 2000 * cpu and all <= 1.02 * 2000 * cpu + 0.01 * 2000 + 2,
                     all .. " in " .. cpu)
    end
  end)

  it("of one thread are both sampled, each with its own stack", function()
    local function outer9(n) for _ = 1, n do end end
    local list = times.of(function()
      local s = peers.new()
      local ok, n, all, cpu = s:run((WORK:gsub("%%d", 9)), "", 0.2)
      assert(ok, n)
      assert.is_true(n > 0.75 * all, n .. " of " .. all)
      assert.is_true(all > 0.4 * 2000 * cpu, all)
      s:close()
      -- 0.6 s of work, because the start and end of the session take a part of the time
      times.busy(0.6, function() local _ = outer9(10000) end)
    end)
    local function share(name)
      return times.share(list, function(s)
        for _, f in ipairs(s.stack) do if f.name == name then return true end end
      end)
    end
    assert.equal(0, share "lua9")
    assert.is_true(share "outer9" > 0.75, share "outer9")
  end)

  it("of one thread may stop in any order: the others are sampled on", function()
    local states = {}
    for i = 1, 6 do
      states[i] = peers.new()
      assert(states[i]:run([[
        profiler = require "profiler"
        assert(profiler.time_start(1000, {out = ..., quiet = true}))]], os.tmpname()))
    end
    -- closes a state in the middle of the list of states, one at each end, and one next to an end
    for _, i in ipairs{3, 1, 6, 2} do
      states[i]:close()
      states[i] = nil
      for _, s in pairs(states) do
        assert(s:run([[
          local n, to = profiler.stats().timesamples, os.clock() + 1
          repeat local now = profiler.stats().timesamples until now > n or os.clock() > to
          assert(profiler.stats().timesamples > n)]], ""))
      end
    end
    for _, s in pairs(states) do s:close() end
    assert.equal("default", signals.disposition())
  end)

  it("that are closed while they are sampled leave no resources", function()
    for _ = 1, 20 do
      local s = peers.new()
      local path = os.tmpname()
      assert(s:run([[
        local core = require "profiler.core"
        assert(core.open{out = ..., period = 1 << 20, timeperiod = 100000})
        assert(core.timeon(100000, false))
        for i = 1, 100000 do end]], path))
      s:close()
      samples.read(path)
      os.remove(path)
    end
    assert.equal("default", signals.disposition())
  end)
end)

describe("a process that samples time", function()
  it("may fork: the child has no timer, the parent goes on", function()
    local status, out, err, list = run[[
      local peers, signals = require "peers", require "signals"
      signals.burn(0.05)
      local pid = peers.fork()
      if pid == 0 then
        assert(signals.disposition() == "default")
        signals.burn(0.05)
        assert(not require "profiler".stats().timing)
        require "profiler".enable{time = 1000, alloc = 0, out = os.tmpname()}
        signals.burn(0.05)
        assert(require "profiler".stats().timesamples > 10)
        os.remove(require "profiler".stats().file)
        peers._exit(7)
      end
      print(peers.wait(pid))
      signals.burn(0.1)]]
    assert.same({0, ""}, {status, err})
    assert.equal("7\n", out)
    local _, n = times.count(list, function() end)
    assert.is_true(n > 0.4 * 0.15 * 5000, n)
  end)

  -- A former bug: if another thread was in the signal handler at the fork, the child waited for the end of
  -- that handler for ever, because the thread does not exist in the child.
  it("may fork while another thread is in the signal handler", function()
    local status, out, err = process.run{fewer(100, 10), code = [[
      local peers, signals = require "peers", require "signals"
      local START = "core = require 'profiler.core' signals = require 'signals' " ..
        "local seconds, path = ... " ..
        "assert(core.open{out = path, period = 1 << 20, timeperiod = 34000}) " ..
        "assert(core.timeon(34000, true)) signals.burn(seconds)"
      local mine, later = peers.new(), peers.new()
      assert(mine:run(START, 0.001, os.tmpname()))
      assert(mine:run "core.timeoff()")
      local _ = peers.thread(START, 600, os.tmpname())
      signals.burn(0.1)
      for i = 1, tonumber((...)) do
        local path = os.tmpname()
        local pid = peers.fork()
        if pid == 0 then
          signals.ending(100000000, "_exit", 9)
          assert(later:elsewhere(START, 0.001, path))
          later:run "core.timeoff()"
          peers._exit(0)
        end
        local status = peers.wait(pid)
        os.remove(path)
        if status ~= 0 then
          print(i, status)
          break
        end
      end
      peers._exit(0)]]}
    assert.same({0, "", ""}, {status, out, err})
  end)

  -- A signal that is pending when exec starts is delivered to the new program. A former bug: the profiler's
  -- SIGPROF ended the new program with "Profiling timer expired", 20 times of 20 at this rate.
  for _, clock in ipairs{"", ",wall", times.exact and ",exact" or nil} do
    it("may become another program, or start one" .. clock, function()
      local script = process.file[[
        local peers, signals = require "peers", require "signals"
        local program = {"/bin/sh", "-c", "i=0; while [ $i -lt 300 ]; do i=$((i+1)); done; exit 5"}
        signals.burn(0.01)
        for _ = 1, 5 do
          assert(select(3, os.execute(program[3])) == 5)
          assert(io.popen("echo x"):read "l" == "x")
          assert(peers.wait(peers.spawn(table.unpack(program))) == 5)
          local pid = peers.fork()
          if pid == 0 then peers.exec(table.unpack(program)) end
          assert(peers.wait(pid) == 5)
        end
        print "children are well"
        io.stdout:flush()
        peers.exec(table.unpack(program))]]
      local path = os.tmpname()
      for _ = 1, 5 do
        local env = {LUA_PROFILER = "alloc=0,quiet,time=30000" .. clock .. ",out=" .. path}
        -- the previous run has created the profile, which this run would not replace
        os.remove(path)
        local status, out, err = process.run{"-l", "profiler", script, env = env}
        assert.same({5, "children are well\n", ""}, {status, out, err})
      end
    end)
  end

  for _, ending in ipairs{"os.exit(3)", "os.exit(3, true)", "error('x')",
                          "coroutine.wrap(function() os.exit(3) end)()",
                          "setmetatable({}, {__gc = function() os.exit(3) end}) collectgarbage()",
                          "require 'peers'.thread('while true do end') os.exit(3)"} do
    it("may end in every way: " .. ending, function()
      local status, _, _, list = run("require 'signals'.burn(0.2) for i = 1, 1e6 do end " .. ending)
      assert.equal(ending:find "error" and 1 or 3, status)
      assert.is_true(#list.times > 5)
    end)
  end

  it("may start in a coroutine that is dead soon after", function()
    for _, call in ipairs{"profiler.enable{alloc = 64, time = 5000, out = ...}",
                          "profiler.time_start(5000, {out = ...})"} do
      local path = os.tmpname()
      assert.same({0, "", ""}, {process.run{code = ([[
        local profiler, signals = require "profiler", require "signals"
        local co = coroutine.create(function(...) assert(%s) error "gone" end)
        assert(not coroutine.resume(co, ...))
        co = nil
        collectgarbage() collectgarbage()
        local kept = {}
        for i = 1, 1000 do kept[i] = {i} end
        for _ = 1, 20 do signals.burn(0.01) end
        collectgarbage()
        assert(profiler.stats().timesamples > 100)
        assert(profiler.stats().lost == 0)
        assert(profiler.disable())]]):format(call), path}})
      assert.is_true(#samples.read(path).times > 5)
      os.remove(path)
    end
  end)

  it("survives errors, deep stacks and coroutines at a high rate", function()
    local status, out, err, list = run([[
      local function deep(n) if n > 0 then return 1 + deep(n - 1) end return 0 end
      local function over() return 1 + over() end
      local n = 0
      local stop = os.clock() + 0.5
      repeat
        assert(not pcall(over))
        assert(deep(1000) == 1000)
        assert(not xpcall(over, function(m) n = n + 1 return m end))
        local co = coroutine.wrap(function(...)
          local t <close> = setmetatable({}, {__close = function() n = n + 1 end})
          for i = 1, 100 do coroutine.yield(i) end
          error("x")
        end)
        for i = 1, 100 do assert(co() == i) end
        assert(not pcall(co))
        local s = ("a"):rep(100):gsub("a", function(c) return c .. deep(10) end)
        assert(#s == 300)
        assert(load("return " .. ("("):rep(100) .. "1" .. (")"):rep(100))() == 1)
        setmetatable({}, {__gc = function() deep(100) end})
      until os.clock() > stop
      print(n > 0)]], fewer(5000, 500))
    assert.equal("", err)
    assert.equal("true\n", out)
    assert.equal(0, status)
    assert.is_true(#list.times > 10)
  end)
end)
