-- SPDX-License-Identifier: MIT
--
-- Applies the environment variable ASAMP: profiles every Lua state of the process. Runs once, in
-- a separate state, before the program's first state is created.

local core = require "profiler.core"
local options = require "profiler.options"

local M = {}

local DEFAULT_PERIOD = 512 * 1024
local SECOND = 1000000000

--- Starts the profile of a process, which covers all of its Lua states. Returns true, or nil and the reason
-- why there will be no profile.
--
-- wish: text of the environment variable ASAMP: key=value, separated by commas; "1" selects the defaults
function M.setup(wish)
  local t, wrong = options.read(wish)
  if t and t["1"] == "1" then t["1"] = nil end
  local o
  if t then o, wrong = options.check(t, options.PROCESS) end
  if not o then return nil, "ASAMP: " .. wrong end
  if o.format == "extended" then
    return nil, "ASAMP: option 'format' must be \"stock\": a file in the extended format has only one state"
  end
  if o.snapshot then
    return nil, "ASAMP: option 'snapshot' is only for LUA_PROFILER; " ..
                "set ASAMP=listen, and run asamp heap PID for a snapshot"
  end
  local every = o.alloc or DEFAULT_PERIOD
  local time = (o.time or 0) > 0 and SECOND // o.time or 0
  if every == 0 and time == 0 and (o.malloc or 0) == 0 and not o.listen then
    return nil, "ASAMP: nothing to sample: the option 'alloc' is 0, " ..
                "and neither 'time' nor 'malloc' is set; set one of them"
  end
  local warning = o.quiet ~= true and options.unheeded(o)
  if warning then core.complain("ASAMP: " .. warning) end
  return core.setup{
    out = o.out, replace = options.REPLACE[o.overwrite or false],
    compress = o.compress ~= false, native = o.native ~= false, random = not o.fixed,
    seed = o.seed, summary = options.SUMMARY[o.quiet or false], holders = o.holders ~= false,
    mallocs = o.malloc or 0, copies = o.copies,
    ring = o.ring and (o.ring.bytes or o.max or options.RING),
    ringtime = o.ring and o.ring.seconds and o.ring.seconds * SECOND,
    holdersevery = (math.tointeger(o.holders) or 0) * SECOND,
    alloc = every > 0, period = every > 0 and every or DEFAULT_PERIOD,
    rate = o.rate, listen = o.listen, rotate = o.rotate and o.rotate * SECOND,
    keep = o.keep, max = o.max,
    timeperiod = time, wall = o.wall, exact = o.exact,
  }
end

return M
