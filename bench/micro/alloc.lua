-- SPDX-License-Identifier: MIT
-- A loop that only allocates, for instruction counts (bench/instructions):
--   lua alloc.lua PROFILER PACE KIND COUNT [PROFILE]
--   PROFILER of the run:
--     none  not loaded
--     load  loaded, but not started
--     idle  started with a period so long that no sample is taken
--     These words have the same length, so that all runs have the same addresses.
--   PACE of the collector:
--     stop  no collections: only the cost of allocation
--     step  one minor collection after every BATCH iterations. Automatic collections are off, because the
--           memory of the profiler's module could change their number.
--   KIND      table (two fields), closure (one upvalue), string (short, new), mixed
--   COUNT     iterations of the loop, a multiple of BATCH
--   PROFILE   path of the profile that 'idle' writes

local NEVER = 1 << 52
local BATCH = 3000

local KINDS = {
  table = function(first, last)
    local kept
    for i = first, last do kept = { x = i, y = i } end
    return kept
  end,
  closure = function(first, last)
    local kept
    for i = first, last do kept = function() return i end end
    return kept
  end,
  string = function(first, last)
    local kept
    for i = first, last do kept = "s" .. i end
    return kept
  end,
  mixed = function(first, last)
    local kept
    for i = first, last, 3 do
      local fields = { x = i, y = "s" .. i }
      kept = function() return fields end
    end
    return kept
  end,
}

local STARTERS = {
  none = function() end,
  load = function() require "profiler" end,
  idle = function() assert(require("profiler").alloc_start(NEVER, { out = arg[5], quiet = true })) end,
}

local function fail(message, value)
  io.stderr:write("alloc.lua: ", message:format(tostring(value)), "\n")
  os.exit(2)
end

local start, pace, work = STARTERS[arg[1]], arg[2], KINDS[arg[3]]
local count = math.tointeger(tonumber(arg[4]))
if not start then fail("profiler must be none, load or idle, got %q", arg[1]) end
if pace ~= "stop" and pace ~= "step" then fail("pace must be stop or step, got %q", pace) end
if not work then fail("kind must be table, closure, string or mixed, got %q", arg[3]) end
if not count or count < BATCH or count % BATCH ~= 0 then
  fail("count must be a multiple of " .. BATCH .. ", got %q", arg[4])
end

collectgarbage("generational")
collectgarbage("stop")
start()
for batch = 1, count // BATCH do
  assert(work((batch - 1) * BATCH + 1, batch * BATCH))
  if pace == "step" then collectgarbage("step", 0) end
end
-- exits without lua_close, because its instructions would be counted too
os.exit(true)
