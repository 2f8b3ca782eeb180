-- SPDX-License-Identifier: MIT
-- Takes time samples of a function and computes their shares, for specs of time sampling. A share is a
-- fraction of the samples, not of the wall time.

local samples = require "spec.support.samples"
local signals = require "signals"

local M = {}

-- true if the clock "exact" (perf events) is available; with it, a spec can take many stacks in little time
M.exact = (function()
  local core = require "profiler.core"
  local path = os.tmpname()
  assert(core.open{out = path, period = 1 << 20, timeperiod = 1000000})
  local ok = core.timeon(1000000, false, true)
  core.close()
  os.remove(path)
  return ok or false
end)()

-- Calls f(...) under time sampling. Options in o: rate (samples per second, default 2000), native (default
-- true), wall, exact (default: true if available) and alloc (allocation period in bytes, default 1 MiB).
-- Returns the samples as spec.support.samples does, with the additional field 'cpu', the CPU seconds of f.
function M.of(f, o)
  o = o or {}
  local core = require "profiler.core"
  local path = os.tmpname()
  local ns = 1000000000 // (o.rate or 2000)
  local exact = o.exact
  if exact == nil then exact = M.exact end
  assert(core.open{out = path, period = o.alloc or 1 << 20, seed = 1, native = o.native ~= false,
                   timeperiod = ns, wall = o.wall, extended = o.extended})
  assert(core.timeon(ns, o.wall, exact))
  if o.alloc then core.on(o.alloc, false) end
  local start = signals.cpu()
  local ok, message = xpcall(f, debug.traceback)
  local cpu = signals.cpu() - start
  core.off()
  core.timeoff()
  local stats = core.stats()
  assert(core.close())
  local list = ok and samples.read(path)
  os.remove(path)
  assert(ok, message)
  list.cpu, list.stats = cpu, stats
  return list
end

-- Calls f repeatedly until 'seconds' of CPU time have passed.
function M.busy(seconds, f, ...)
  local stop = signals.cpu() + seconds
  repeat f(...) until signals.cpu() >= stop
end

-- Returns two sums over the time samples: of the samples for which test(sample) is true, and of all. A
-- sample counts as many times as the number of timer periods that it represents.
function M.count(list, test)
  local n, all = 0, 0
  for _, s in ipairs(list.times) do
    all = all + s.count
    if test(s) then n = n + s.count end
  end
  return n, all
end

-- Returns the share of the samples that pass the test, from 0 to 1.
function M.share(list, test)
  local n, all = M.count(list, test)
  return n / all
end

-- Returns the share of the samples whose innermost frame is "name:line", or the name of a native function.
function M.leaf(list, text)
  return M.share(list, function(s) return samples.text(s.stack, 1) == text end)
end

-- Returns the share of the samples that contain the frame "name:line", or the name of a native function.
function M.within(list, text)
  return M.share(list, function(s)
    return (" " .. samples.text(s.stack) .. " "):find(" " .. text .. " ", 1, true) ~= nil
  end)
end

return M
