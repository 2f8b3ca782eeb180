-- SPDX-License-Identifier: MIT
-- Time sampling of one state must not slow down other states. While a time sample is due, the bytecode loop
-- is diverted: each instruction jumps to the sampling code by a second dispatch table. The spec counts
-- diverted instructions. Former bugs: all threads of a process shared one dispatch table. While a sample of
-- one thread waited for its safepoint, the loops of all threads were diverted (75 ms instead of 36). A
-- child that another thread forked at that time kept the diverted table, and ran at half the speed (35 of
-- 36 children).

local peers = require "peers"
local signals = require "signals"
local times = require "spec.support.times"

local SAMPLED = [[
  local core, signals = require "profiler.core", require "signals"
  local path, ready, stop = ...
  assert(core.open{out = path, period = 1 << 20, timeperiod = 33333})
  assert(core.timeon(33333, false, true) or core.timeon(33333, true))
  os.remove(ready)
  local f
  repeat
    for _ = 1, 100000 do end
    f = io.open(stop)
    if f then f:close() end
  until not f
  core.timeoff()
  assert(core.close())
  return signals.diversions()]]

-- Runs f while another OS thread is sampled. Returns the number of f's instructions that were diverted to
-- the sampling code.
local function beside(f)
  local path, ready, stop = os.tmpname(), os.tmpname(), os.tmpname()
  local thread = peers.thread(SAMPLED, path, ready, stop)
  repeat
    local there = io.open(ready)
    if there then there:close() end
  until not there
  local results = table.pack(pcall(f))
  os.remove(stop)
  local ok, n = thread:join()
  os.remove(path)
  assert(ok, n)
  assert(results[1], results[2])
  return n
end

describe("a thread whose time is sampled", function()
  it("diverts no instruction of another's", function()
    local before = signals.diversions()
    local n = beside(function()
      times.busy(0.3, function() for _ = 1, 10000 do end end)
    end)
    assert.equal(before, signals.diversions())
    assert.is_true(n > 5, n)
  end)

  it("diverts none of a child that another forks", function()
    local before, failed = signals.diversions(), 0
    beside(function()
      for _ = 1, 15 do
        local pid = peers.fork()
        if pid == 0 then
          for _ = 1, 1000 do end
          peers._exit(signals.diversions() - before == 0 and 0 or 1)
        end
        failed = failed + peers.wait(pid)
      end
    end)
    assert.equal(0, failed)
  end)

  it("diverts one instruction for each sample of its own, at most", function()
    local before = signals.diversions()
    local list = times.of(function()
      times.busy(0.2, function() for _ = 1, 1000 do end end)
    end, {rate = 10000})
    local n = signals.diversions() - before
    assert.is_true(n > 5, n)
    assert.is_true(n <= list.stats.timesamples, n .. " for " .. list.stats.timesamples)
  end)
end)
