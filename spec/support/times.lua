-- SPDX-License-Identifier: MIT
-- Takes time samples of a function and computes shares, for specs of time sampling. Shares are of
-- samples, not of wall time.

local samples = require "spec.support.samples"
local signals = require "signals"

local M = {}

--- True if the clock "exact" (perf events) is available: it takes many stacks in little time.
M.exact = (function()
  local core = require "profiler.core"
  local path = os.tmpname()
  assert(core.open{out = path, period = 1 << 20, timeperiod = 1000000})
  local ok = core.timeon(1000000, false, true)
  core.close()
  os.remove(path)
  return ok or false
end)()

--- Runs f(...) under time sampling. Options in o: rate (samples per second; 2000), native (true),
-- wall, exact (true if available), alloc (allocation period in bytes; none). Returns the samples
-- as spec.support.samples does, with the field 'cpu', the CPU seconds of f.
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

--- Calls f repeatedly until it has taken this many seconds of CPU time.
function M.busy(seconds, f, ...)
  local stop = signals.cpu() + seconds
  repeat f(...) until signals.cpu() >= stop
end

--- Returns the number of samples (periods) for which test(sample) is true, and the number of all.
function M.count(list, test)
  local n, all = 0, 0
  for _, s in ipairs(list.times) do
    all = all + s.count
    if test(s) then n = n + s.count end
  end
  return n, all
end

--- Returns the share of the samples that pass the test, 0 to 1.
function M.share(list, test)
  local n, all = M.count(list, test)
  return n / all
end

--- Returns the share of samples with "name:line" (or a native name) as the leaf.
function M.leaf(list, text)
  return M.share(list, function(s) return samples.text(s.stack, 1) == text end)
end

--- Returns the share of samples that have a frame "name:line" (or a native name) at any depth.
function M.within(list, text)
  return M.share(list, function(s)
    return (" " .. samples.text(s.stack) .. " "):find(" " .. text .. " ", 1, true) ~= nil
  end)
end

return M
