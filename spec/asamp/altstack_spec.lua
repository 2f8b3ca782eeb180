-- SPDX-License-Identifier: MIT
-- The alternate stacks on which the signal handlers of time samples run. A former bug: they ran on the
-- program's own stack. A script on a stack of 10 KiB (makecontext) ended by a segmentation fault, because a
-- signal takes 3 KiB or more. Programs written in Go ended when they found a handler without SA_ONSTACK.

local peers = require "peers"
local process = require "spec.support.process"
local stacks = require "stacks"
local times = require "spec.support.times"

local ASAN = os.getenv "ASAMP_VARIANT" == "asan"

-- Runs code on a new OS thread that has no alternate stack.
local function thread(code, ...)
  local t = peers.thread([[
    local stacks = require "stacks"
    stacks.alternate(0)
    local times = require "spec.support.times"
    local WALL = {rate = 10000, wall = true}
    local results = table.pack((function(...) ]] .. code .. [[ end)(...))
    stacks.alternate()
    return table.unpack(results)]], ...)
  return select(2, assert(t:join()))
end

describe("the end of a thread's stack", function()
  -- For the first thread, the profiler may find a higher end of the stack than the C library, which excludes
  -- the pages with the environment.
  it("is found for the first thread and for others, also if the size is unlimited", function()
    local script = process.file[[
      local peers, bounds = require "peers", require "bounds"
      local ours, theirs = bounds.stackend()
      for line in io.lines "/proc/self/maps" do
        if line:find "%[stack%]" then
          local mapped = tonumber(line:match "%-(%x+)", 16)
          print(theirs <= ours and ours <= mapped and mapped - theirs < 1 << 17)
        end
      end
      print(select(2, peers.thread "local o, t = require 'bounds'.stackend() return o == t":join()))]]
    for _, limit in ipairs{"8192", "unlimited"} do
      local status, out, err = process.run{program = "/bin/sh", "-c", ("ulimit -s %s && exec %s %s"):format(
        limit, process.interpreter(), script)}
      assert.same({0, "true\ntrue\n", ""}, {status, out, err})
    end
    os.remove(script)
  end)
end)

describe("a signal of a time sample", function()
  it("comes on the alternate stack, also where the program's has 10 KiB", function()
    local status, out, err = process.run{process.file[[
      local stacks, times = require "stacks", require "spec.support.times"
      local function inner()
        local stop = os.clock() + 0.1
        repeat for _ = 1, 1000 do end until os.clock() > stop
      end
      for _, o in ipairs{{rate = 1000, wall = true}, {rate = 10000, wall = true}, {rate = 10000}} do
        local list = times.of(function() for _ = 1, 3 do stacks.small(10240, inner) end end, o)
        assert(stacks.flags() == false)
        print(times.within(list, "stacks_small") > 0.5 or times.within(list, "stacks_entry") > 0.5)
      end]]}
    -- ASan prints warnings about makecontext, and uses more of the stack
    if not ASAN then
      assert.same({0, ("true\n"):rep(3), ""}, {status, out, err})
    end
    times.of(function() assert.is_true(stacks.flags()) end)
  end)

  it("finds a stack where the thread had none, and the thread ends without it", function()
    local size, own = thread [[
      local size, own
      times.of(function() size, own = stacks.stack() end, WALL)
      return size, own]]
    assert.is_true(size >= 65536 + stacks.frame(), size)
    assert.is_false(own)
    -- When a thread ends and its alternate stack is freed, the stack of another thread, or other memory,
    -- may get the same address.
    local places, left = {}, 0
    for _ = 1, 16 do
      places[thread [[
        local at
        times.of(function() at = select(3, stacks.stack()) end, WALL)
        return at]]] = true
    end
    for at in pairs(places) do
      if stacks.mapped(at) then left = left + 1 end
    end
    assert.is_true(left < 8, left)
  end)

  it("leaves a thread the stack that it has given itself, and takes a known part", function()
    local size, own, touched, n = thread [[
      local shapes, signals = require "shapes", require "signals"
      stacks.alternate(1 << 17)
      local size, own
      local list = times.of(function()
        for _, shape in ipairs{"fixed", "pointed", "aligned", "sorted", "signalled"} do
          shapes[shape](function() signals.burn(0.02) end)
        end
        size, own = stacks.stack()
      end, WALL)
      return size, own, stacks.touched(), #list.times]]
    assert.equal(1 << 17, size)
    assert.is_true(own)
    assert.is_true(n > 20, n)
    -- upper limit of bytes that a signal uses: the frame of the kernel and the processor, and TIMER_STACK
    -- of timer.h
    assert.is_true(touched > 1024, touched)
    assert.is_true(touched < stacks.frame() + (ASAN and 8192 or 4352), touched)
  end)

  -- The smallest alternate stack in bytes on which time may be sampled: the signal frame, whose size
  -- depends on the processor, and TIMER_LEAST of timer.h.
  local least = math.min(stacks.frame(), 4096) + (ASAN and 6144 or 2048)

  it("walks the C stack on 8 KiB, and with less space reports Lua functions only", function()
    local script, path = process.file[[
      local stacks, signals = require "stacks", require "signals"
      local core = require "profiler.core"
      local path, size = ...
      stacks.alternate(tonumber(size))
      assert(core.open{out = path, period = 1 << 20, timeperiod = 100000, native = true})
      assert(core.timeon(100000, true))
      signals.burn(0.1)
      core.timeoff()
      local samples = core.stats().timesamples
      assert(core.close())
      stacks.alternate()
      print(samples > 500)]], os.tmpname()
    local samples = require "spec.support.samples"
    for i, size in ipairs(ASAN and {16384, least + 1024} or {8192, least}) do
      os.remove(path)
      local status, out, err = process.run{script, path, size}
      assert.same({0, "true\n"}, {status, out})
      local list = samples.read(path)
      local share = times.within(list, "_start")
      if i == 2 then
        assert.is_truthy(err:find("^profiler: " .. path .. ": %d+ time samples have no C stack, "
          .. "because the thread's alternate signal stack is too small; "
          .. "make that stack larger, or remove it %(sigaltstack%)\n$"), err)
        assert.equal(0, share)
      else
        assert.equal("", err)
        assert.is_true(share > 0.5, share)
      end
    end
  end)

  it("is refused where the thread's stack has no room for it at all", function()
    local message = thread(("stacks.alternate(%d)"):format(least - 1) .. [[

      local core, path = require "profiler.core", os.tmpname()
      assert(core.open{out = path, period = 1 << 20})
      local ok, message = core.timeon(1000000, true)
      assert(not ok)
      core.close()
      os.remove(path)
      return message]])
    assert.equal(("cannot sample time: the alternate signal stack of this thread has %d bytes; make " ..
                  "it %d bytes or larger, or remove it (sigaltstack)")
                   :format(least - 1, stacks.frame() + 65536), message)
  end)

  -- A former bug: if the program set a smaller stack while time was sampled, the handler overwrote up to
  -- 3 KiB of the program's memory below this stack.
  it("makes no sample on a smaller stack that the thread sets later, and writes nothing below", function()
    local frame = math.min(stacks.frame(), 4096)
    for _, size in ipairs{frame, frame + 100} do
      local below, before, after = thread(([[
        local core, signals, path = require "profiler.core", require "signals", os.tmpname()
        stacks.alternate()
        assert(core.open{out = path, period = 1 << 20, timeperiod = 100000, native = true})
        assert(core.timeon(100000, false))
        signals.burn(0.02)
        local before = core.stats().timesamples
        stacks.alternate(%d)
        signals.burn(0.1)
        local below = stacks.below()
        core.timeoff()
        local after = core.stats().timesamples
        assert(core.close())
        os.remove(path)
        return below, before, after]]):format(size))
      assert.equal(0, below)
      assert.is_true(before > 100 and after - before < 200, before .. ", " .. after)
    end
  end)

  -- A former bug: if the system had refused an alternate stack, the thread was still registered as having
  -- one, so that the signal handlers of later sessions ran on the program's own stack.
  it("finds a stack after one was refused", function()
    if ASAN then return end
    local status, out, err = process.run{code = [[
      local core, refusing, stacks = require "profiler.core", require "refusing", require "stacks"
      local path = ...
      assert(core.open{out = path, period = 1 << 20})
      refusing.nostack(true)
      print(core.timeon(1000000, true))
      refusing.nostack(false)
      print((core.timeon(1000000, true)), (stacks.stack()) ~= nil)
      core.timeoff()
      core.close()
      os.remove(path)]], os.tmpname(), env = {LD_PRELOAD = package.searchpath("refusing", package.cpath)}}
    assert.same({0, "", "cannot sample time: cannot create the stack for signal handlers: Operation not " ..
                        "permitted; set 'time' to 0\ntrue\ttrue\n"},
                {status, err, (out:gsub("^%S+\t", ""):gsub("to 0\t%d+", "to 0"))})
  end)

  -- The debug build walks each native stack twice and compares the results. They differ if a handler has
  -- interrupted another handler. So this build does not walk native stacks here.
  it("gets on with other handlers on that stack", function()
    local alarms, n = thread [[
      WALL.native = os.getenv "ASAMP_VARIANT" ~= "debug"
      local list = times.of(function()
        stacks.alarms(50000)
        times.busy(0.3, function() for _ = 1, 1000 do end end)
        stacks.alarms()
      end, WALL)
      return stacks.alarmed(), #list.times]]
    assert.is_true(alarms > 100, alarms)
    assert.is_true(n > 20, n)
  end)
end)
