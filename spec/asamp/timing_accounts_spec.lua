-- SPDX-License-Identifier: MIT
-- Accounts of time samples: the number of sampled and lost periods must be the CPU time of the thread times
-- the rate. The CPU time is read from the thread's own clock, so that other load of the machine does not
-- matter. The limits follow from the rate.

local core = require "profiler.core"
local peers = require "peers"
local process = require "spec.support.process"
local samples = require "spec.support.samples"
local signals = require "signals"
local times = require "spec.support.times"

-- CPU time of each measurement in seconds
local SECONDS = 0.15
local LATE = 0.05  -- largest delay of a signal in seconds (TI5)
local SPARE = 0.08
-- in seconds: the longest time span of a sample, and the time between two ticks of the kernel
local TICK = 0.01

local function counted()
  local t = core.stats()
  return t.timesamples + t.lost
end

-- Uses CPU time until a tick is counted. Directly after a tick, all time is counted.
local function ticked()
  local n = counted()
  repeat for _ = 1, 1000 do end until counted() > n
end

-- Checks that n is the number of periods in 'least' to 'most' seconds. A tick counts for its whole span. A
-- tick between the one that was awaited and the reading of the clock is not counted yet. The host of a
-- virtual machine may take time that the thread's clock counts, up to the part SPARE on loaded machines.
local function account(n, least, most, rate, what)
  assert.is_true(n >= (least * (1 - SPARE) - TICK) * rate - 2,
    ("%s: %d periods of at least %.1f"):format(what, n, least * rate))
  assert.is_true(n <= (most * (1 + SPARE) + TICK) * rate + 2,
    ("%s: %d periods of at most %.1f"):format(what, n, most * rate))
end

-- Samples the time of f, which may unblock the signal. Checks the number of periods just after a tick, and
-- the number in the file at the end. If 'tail' is given, the last 'tail' seconds of f may be in neither
-- number; otherwise no period may be lost.
local function accounted(what, rate, exact, f, tail)
  local path = os.tmpname()
  finally(function() signals.block(false) core.close() os.remove(path) end)
  local ns = 1000000000 // rate
  assert(core.open{out = path, period = 1 << 20, timeperiod = ns})
  local outer = signals.cpu()
  assert(core.timeon(ns, false, exact))
  local inner = signals.cpu()
  f()
  if not tail then
    ticked()
    local n, now = counted(), signals.cpu()
    -- excludes the time of the signal handler, which is not sampled (C1)
    account(n, now - inner - core.stats().time, now - outer, rate, what)
    assert.equal(0, core.stats().lost, what)
  end
  local now = signals.cpu()
  core.timeoff()
  local t = core.stats()
  account(t.timesamples + t.lost, now - inner - t.time - (tail or 0),
          signals.cpu() - outer, rate, what)
  assert(core.close())
  local list = samples.read(path)
  local _, n = times.count(list, function() end)
  assert.equal(t.timesamples, n, what)
  return t
end

local live = {}
for i = 1, 100000 do live[i] = {i} end

local WORK = {
  ["a loop"] = function() times.busy(SECONDS, function() for _ = 1, 1000 do end end) end,
  ["a C function that runs long"] = function() signals.burn(SECONDS) end,
  ["long collections"] = function()
    times.busy(SECONDS, function() collectgarbage() return #live end)
  end,
  ["short collections"] = function()
    collectgarbage("nursery", 1 << 16)
    times.busy(SECONDS, function() for i = 1, 1000 do live[i] = {i} end end)
    collectgarbage("nursery", 0)
  end,
  ["deep stacks"] = function()
    local function down(n)
      if n > 0 then return 1 + down(n - 1) end
      signals.burn(0.002)
      return 0
    end
    times.busy(SECONDS, down, 2000)
  end,
  ["coroutines"] = function()
    times.busy(SECONDS, function()
      local co = coroutine.wrap(function() for i = 1, 100 do coroutine.yield(i) end end)
      for _ = 1, 100 do co() end
    end)
  end,
  ["SIGURG blocked for a part"] = function()
    signals.burn(0.05)
    signals.blocked(signals.burn, 0.1)
    signals.burn(0.05)
    signals.blocked(function() for _ = 1, 1000000 do end end)
  end,
}

describe("time samples and lost ones are all of the thread's CPU time", function()
  for what, f in pairs(WORK) do
    for _, rate in ipairs{1000, 20000} do
      it(("in %s, %d a second"):format(what, rate), function()
        accounted(what, rate, false, f)
      end)
    end
    if times.exact then
      it(("in %s, exactly"):format(what), function() accounted(what, 2000, true, f) end)
    end
  end

  it("when SIGURG is blocked to the end, except for the delay of a signal", function()
    for _, rate in ipairs{100, 1000, 20000} do
      local t = accounted("blocked to the end", rate, false, function()
        signals.burn(0.05)
        signals.block(true)
        signals.burn(0.3)
      end, LATE + 1 / rate)
      signals.block(false)
      assert.is_true(t.lost >= (0.3 - LATE - 2 * math.max(TICK, 1 / rate)) * rate - 2, t.lost)
    end
  end)

  -- A former bug: periods without a signal were counted as lost only if the timer's own thread stopped the
  -- timer.
  it("when another OS thread stops the timer, and SIGURG is blocked", function()
    local path, s = os.tmpname(), peers.new()
    finally(function() signals.block(false) s:close() os.remove(path) end)
    for _, exact in ipairs{false, times.exact} do
      local outer = signals.cpu()
      assert(s:run([[
        core = require "profiler.core"
        local path, exact = ...
        assert(core.open{out = path, period = 1 << 20, timeperiod = 1000000})
        assert(core.timeon(1000000, false, exact))]], path, exact))
      local inner = signals.cpu()
      signals.burn(0.05)
      signals.block(true)
      signals.burn(0.3)
      local now = signals.cpu()
      local ok, n, lost, taken = s:elsewhere[[
        core.timeoff()
        local t = core.stats()
        core.close()
        return t.timesamples, t.lost, t.time]]
      signals.block(false)
      assert(ok, n)
      account(n + lost, now - inner - taken - LATE - 0.001, signals.cpu() - outer, 1000, "elsewhere")
      assert.is_true(lost >= (0.3 - LATE - 2 * TICK) * 1000 - 4, lost)
    end
  end)

  -- A former bug: with wall time, the time after the end of the sampled thread was counted as lost.
  it("but not when the timer's thread is gone, whose clock is gone, too", function()
    local s = peers.new()
    finally(function() s:close() end)
    for _, wall in ipairs{false, true} do
      assert(s:elsewhere([[
        core = require "profiler.core"
        local signals = require "signals"
        local path, wall = ...
        assert(core.open{out = path, period = 1 << 20, timeperiod = 1000000, wall = wall})
        assert(core.timeon(1000000, wall))
        signals.block(true)
        signals.burn(0.2)]], os.tmpname(), wall))
      signals.burn(0.3)
      local ok, lost = s:run "core.timeoff() local t = core.stats() core.close() return t.lost"
      assert(ok, lost)
      assert.equal(0, lost)
    end
  end)

  -- A former bug: when a C function called exit(), the ticks that had reached no safepoint yet were dropped
  -- and not counted as lost.
  it("when a C function calls exit(), and the last line says so", function()
    local script, path = process.file[[
      local signals = require "signals"
      if ... == "blocked" then signals.block(true) end
      io.stdout:write(signals.cpu())
      io.stdout:flush()
      signals.leave(0.3, 3)]], os.tmpname()
    for _, how in ipairs{"free", "blocked"} do
      -- removed first, because an existing profile is not replaced
      os.remove(path)
      local env = {LUA_PROFILER = "alloc=0,time=1000,out=" .. path}
      local status, before, err = process.run{"-l", "profiler", script, how, env = env}
      assert.equal(3, status)
      local n, lost = err:match("^profiler: (%d+) time samples?; profile: " .. path ..
                                "\nprofiler: " .. path .. ": (%d+) samples are lost: C code ran for long " ..
                                "or blocked a signal, or memory was short; use a smaller time=\n$")
      assert(n, err)
      account(n + lost, 0.3 - LATE - 0.001, before + 0.3 + 0.02, 1000, "exit")
      assert.is_true(tonumber(lost) >= (0.3 - LATE - 2 * TICK) * 1000 - 4, lost)
      local list = samples.read(path)
      assert.truthy(list.log.ended)
      assert.equal(tonumber(n), select(2, times.count(list, function() end)))
    end
  end)
end)
