-- SPDX-License-Identifier: MIT
-- Samples of CPU time must be at random times of a thread's CPU time. The sampling clock of a thread
-- continues when the thread runs another Lua state.

local process = require "spec.support.process"
local reader = require "profiler.reader"
local samples = require "spec.support.samples"
local shell = require "spec.support.shell"
local signals = require "signals"
local times = require "spec.support.times"

local prefix = process.interpreter():match "^(.*)/bin/[^/]+$"
local sanitized = prefix:find "asan" and " -fsanitize=address,undefined" or ""

-- Compiles spec/support/hosts/NAME.c. Returns the folder of the program NAME.
local function compiled(name)
  local folder = os.tmpname()
  os.remove(folder)
  shell.output("mkdir %s && gcc -g%s -I%s/include/lua5.4 spec/support/hosts/%s.c -o %s/%s " ..
               "-L%s/lib -l:liblua5.4.so.0 -Wl,-rpath,%s/lib -lpthread", folder, sanitized, prefix, name,
               folder, name, prefix, prefix)
  return folder
end

describe("time samples", function()
  -- A former bug: time samples were taken only at the ticks of the kernel's scheduler, mostly every 4 ms. A
  -- program that repeats its work every 4 ms, or is woken by such a tick, was always sampled in the same
  -- code.
  it("are not in step with a program that repeats itself", function()
    local function first(stop) while signals.cpu() < stop do end end
    local function second(stop) while signals.cpu() < stop do end end
    for _, exact in ipairs{false, times.exact} do
      local list = times.of(function()
        local start = signals.cpu()
        for i = 0, 249 do
          first(start + i * 0.004 + 0.001)
          second(start + i * 0.004 + 0.004)
        end
      end, {rate = exact and 500 or 1000, exact = exact})
      local line = debug.getinfo(first, "S").linedefined
      local n, all = times.count(list, function(s)
        return (" " .. samples.text(s.stack) .. " "):find(" first:" .. line .. " ", 1, true) ~= nil
      end)
      -- the expected share is 0.25, and 0.12 is 4 standard errors of 200 samples
      assert.is_true(math.abs(n / all - 0.25) < 0.12, n .. " of " .. all)
    end
  end)

  -- A former bug: each state started a timer of its own, so that states that ran for 2 ms, less than the
  -- period of 10 ms, had no samples.
  it("of states that live for less than a period are as many as of one that lives on", function()
    local folder = compiled "shortstates"
    finally(function() shell.output("rm -r %s", folder) end)
    for _, case in ipairs{{100, 80, 3}, {1000, 50, 3}, {100, 6, 40}} do
      local rate, n, ms = table.unpack(case)
      local path = folder .. "/" .. rate .. "-" .. ms .. ".vmprof"
      local env = {ASAMP = ("alloc=0,time=%d,quiet,out=%s"):format(rate, path)}
      local status, out, err = process.run{program = folder .. "/shortstates", n, ms, 2, env = env}
      assert.same({0, ""}, {status, err})
      local all = assert(reader.read(path)).timesamples
      -- tolerance: the last 10 ms may have no sample yet, and the time of the signal handler does not count
      local least, most = n * ms * rate / 1000, tonumber(out) * rate / 1000
      assert.is_true(all <= 1.1 * most + 0.01 * rate + 1, all .. " of " .. most)
      assert.is_true(all >= 0.9 * least - 0.01 * rate - 1, all .. " of " .. least)
    end
  end)

  -- A former bug: when a thread's destructor created a state, the state's clock was opened after the
  -- profiler's data of the thread had been freed. So the clock's descriptor stayed open.
  it("of states that a thread's destructor creates leave no descriptor", function()
    local folder = compiled "destructor"
    finally(function() shell.output("rm -r %s", folder) end)
    local env = {ASAMP = ("alloc=0,time=1000,quiet,out=%s/p.vmprof"):format(folder)}
    local status, out, err = process.run{program = folder .. "/destructor", 20, env = env}
    assert.same({0, ""}, {status, err})
    local first, last = out:match "^(%d+)\n(%d+)\n$"
    assert.equal(first, last)
  end)
end)
