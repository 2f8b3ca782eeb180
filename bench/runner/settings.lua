-- SPDX-License-Identifier: MIT
-- The settings of the profiler that bench/evaluate compares. No side effects.
-- A setting is a configuration of configs.lua with two more fields: 'series' is a line of the plot, and 'x'
-- is a position on it (the sampling period in bytes, or the time samples per second).
-- The series:
--   c, lua          allocation sampling, with and without C functions in the stacks
--   time            samples of CPU time at the kernel's clock ticks (the default)
--   exact           samples of CPU time, each by an interrupt of its own
--   off             no profiler, like the baseline: the noise of the machine
--   idle            a session whose period is so long that no sample is taken: the cost of a session
--   long            allocation sampling of a program that runs for about twenty seconds
--   longoff         the same program without the profiler
--   fullc, fulllua  full tracing, with and without C functions: nearly every block is sampled

local settings = {}

local K, M = 1024, 1024 * 1024

settings.PERIODS = { 16 * K, 32 * K, 64 * K, 128 * K, 256 * K, 512 * K, M, 4 * M, 16 * M }
settings.RATES = { 100, 1000, 3000, 10000, 30000 }
-- the highest rate with an interrupt for every sample; at a slightly higher rate, a virtual machine spends
-- all of its time on the interrupts
settings.EXACT = 10000
settings.PARTS = { "period", "rate", "long", "full" }
-- the periods of the part 'long'
settings.LONG = { 512 * K, 32 * K }
settings.QUICK = { PERIODS = { 16 * K, 4 * M }, RATES = { 1000 } }

-- The smallest possible period in bytes. With fixed intervals, all blocks of 64 bytes and more are sampled.
local FULL = 64
local NEVER = "4194304G"
-- the number of settings that are compared with the same runs of the baseline
local BATCH = 6

-- Returns a number of bytes as a text such as "16K" or "4M".
function settings.size(bytes)
  if bytes % M == 0 then return bytes // M .. "M" end
  if bytes % K == 0 then return bytes // K .. "K" end
  return tostring(bytes)
end

-- Returns a list of bytes for words such as "16K" and "4M"; or nil and a message.
function settings.sizes(words)
  local list = {}
  for i, word in ipairs(words) do
    local digits, unit = word:match("^(%d+)([KM]?)$")
    local bytes = digits and math.tointeger(tonumber(digits)) * (unit == "K" and K or unit == "M" and M or 1)
    if not bytes or bytes < FULL then
      return nil, ("--periods has no size %q; use 64 or more, K or M"):format(word)
    end
    list[i] = bytes
  end
  return list
end

local function setting(paths, series, x, text)
  return {
    name = series .. (x and "=" .. x or ""), series = series, x = x, kind = "sample",
    lua = paths.fork, options = { "-l", "profiler" },
    env = { ("LUA_PROFILER=%s,out=%s"):format(text, paths.profile) },
  }
end

local MAKERS = {}

-- Returns the settings of the part 'period'. The series c and lua alternate, so that points to be compared
-- are measured soon after each other.
function MAKERS.period(paths, points)
  local list = {
    { name = "off", series = "off", kind = "fork", lua = paths.fork, options = {}, env = {} },
    setting(paths, "idle", nil, "alloc=" .. NEVER),
  }
  for _, period in ipairs(points.PERIODS) do
    list[#list + 1] = setting(paths, "c", period, "alloc=" .. period)
    list[#list + 1] = setting(paths, "lua", period, ("alloc=%d,native=0"):format(period))
  end
  return list
end

function MAKERS.rate(paths, points)
  local list = {}
  for _, rate in ipairs(points.RATES) do
    list[#list + 1] = setting(paths, "time", rate, "alloc=0,time=" .. rate)
    if paths.exact and rate <= settings.EXACT then
      list[#list + 1] = setting(paths, "exact", rate, ("alloc=0,exact,time=%d"):format(rate))
    end
  end
  return list
end

function MAKERS.long(paths)
  local list = {
    { name = "longoff", series = "longoff", kind = "fork", lua = paths.fork, options = {}, env = {} },
  }
  for i, period in ipairs(settings.LONG) do
    list[i + 1] = setting(paths, "long", period, "alloc=" .. period)
  end
  return list
end

function MAKERS.full(paths)
  return {
    setting(paths, "fullc", FULL, ("alloc=%d,fixed"):format(FULL)),
    setting(paths, "fulllua", FULL, ("alloc=%d,fixed,native=0"):format(FULL)),
  }
end

-- Returns lists of configurations to be measured together. Each has the baseline (the fork without the
-- profiler) first, and then up to BATCH settings. 'parts' is a list of names of MAKERS. The fields of
-- 'paths' are fork, profile, and exact (true if the kernel permits exact timers). 'points' is { PERIODS,
-- RATES }; nil: all of them.
function settings.batches(parts, paths, points)
  local out = {}
  for _, part in ipairs(parts) do
    local list = MAKERS[part](paths, points or settings)
    for first = 1, #list, BATCH do
      local batch = {
        part = part,
        { name = "fork", kind = "fork", lua = paths.fork, options = {}, env = {} },
      }
      out[#out + 1] = table.move(list, first, math.min(first + BATCH - 1, #list), 2, batch)
    end
  end
  return out
end

-- The number of bytes in each unit of the profiler's messages, by the first letter of the unit.
local UNITS = { b = 1, K = 1 << 10, M = 1 << 20, G = 1 << 30, T = 1 << 40 }

-- Parses the last line that the profiler prints. Returns { samples (of allocations), allocated (bytes,
-- rounded as in the line), timesamples }, or nil.
function settings.closing(text)
  local samples, amount, unit =
    text:match("profiler: (%d+) samples?, one every [%d.]+ %a+[^,]*, of ([%d.]+) (%a)%a+ allocated")
  if not samples then
    -- the text is from a session with time samples only
    local ticks = text:match("profiler: (%d+) time samples?")
    return ticks and { samples = 0, allocated = 0, timesamples = math.tointeger(tonumber(ticks)) }
  end
  return {
    samples = math.tointeger(tonumber(samples)), allocated = tonumber(amount) * UNITS[unit],
    timesamples = math.tointeger(tonumber(text:match("; (%d+) time samples?") or "0")),
  }
end

return settings
