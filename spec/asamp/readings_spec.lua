-- SPDX-License-Identifier: MIT
-- Reading a clock of CPU time is a system call, which takes several microseconds in virtual machines. So the
-- sampler must not read one at each sample or collection. The specs preload a library that counts the
-- readings. They are left out with ASan, whose own library must be preloaded first.

local process = require "spec.support.process"

if os.getenv "ASAMP_VARIANT" == "asan" then return end

-- Runs Lua code with the library preloaded. Returns its output.
local function run(code)
  local status, out, err = process.run{code = code,
    env = {LUA_PROFILER = "", LD_PRELOAD = package.searchpath("readings", package.cpath)}}
  assert.same({0, ""}, {status, err})
  return out
end

describe("the clocks of CPU time", function()
  -- A former bug: the core read the thread's clock at each minor collection. Between 0.5 s and the end of a
  -- check of the rate, the sampler read the process's clock at each minor collection. In a virtual machine,
  -- this took 4% of the time of a program that creates many coroutines.
  it("are read at most once in two milliseconds at collections", function()
    local readings, ms, minors = run([[
      local profiler, readings = require "profiler", require "readings"
      local out = os.tmpname()
      assert(profiler.enable{alloc = 4096, rate = 1000000, time = 0, out = out, overwrite = true,
                             quiet = true})
      local before, minors, start = readings.count(), readings.collected()
      while readings.collected() - minors < 5000 do for _ = 1, 100 do local _ = {1, 2, 3} end end
      local last, now = readings.collected()
      print(readings.count() - before, (now - start) // 1000000, last - minors)
      assert(profiler.disable())
      os.remove(out)
    ]]):match "(%S+)%s+(%S+)%s+(%S+)"
    -- two clocks: of the thread, and of the process
    assert.is_true(tonumber(readings) <= 2 * (ms / 2 + 10), readings .. " in " .. ms .. " ms, " .. minors)
  end)
end)

describe("luaN_processor", function()
  it("never decreases, and differs from the CPU time by at most 2 ms", function()
    assert.equal("ok\n", run[[
      local readings, peers = require "readings", require "peers"
      local last = 0
      for i = 1, 2000 do
        if i % 20 == 0 then peers.sleep(0.0015) end
        local result, cpu = readings.processor()
        local _, after = readings.processor()
        assert(result >= last, "it decreased")
        assert(result <= after + 2000000, "it is too high")
        last = result
      end
      print "ok"
    ]])
  end)

  it("starts anew in a forked child", function()
    assert.equal("ok\n", run[[
      local readings, peers = require "readings", require "peers"
      repeat local result = readings.processor() until result > 50000000
      local pid = peers.fork()
      if pid == 0 then
        peers.sleep(0.003)
        local result, cpu = readings.processor()
        peers._exit(result <= cpu + 2000000 and 0 or 1)
      end
      assert(peers.wait(pid) == 0)
      print "ok"
    ]])
  end)
end)
