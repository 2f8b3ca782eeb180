-- SPDX-License-Identifier: MIT
--
-- The options of a session: their names, values and text form in LUA_PROFILER, and the path of
-- the profile. Has no state, and raises no errors: functions return nil and a message.

local M = {}

--- MIN, MAX: limits of the sampling period, in bytes. MINRATE, MAXRATE: limits of time samples per second.
-- These are also limits of profiler.core, which `asamp run` does not load to check options.
M.MIN, M.MAX, M.MINRATE, M.MAXRATE = 64, 1 << 62, 1, 30000

--- Converts values of the option 'overwrite' to those of profiler.core:
--
--   - 0: no existing file is replaced
--   - 1: only profiles are replaced
--   - 2: any file is replaced
M.REPLACE = {[false] = 0, profile = 1, [true] = 2}

--- Converts values of the option 'quiet' to values of the field 'summary' of profiler.core:
--
--   - 0: the closing line is not printed
--   - 1: it is printed
--   - 2: it is printed only if there are samples
M.SUMMARY = {[false] = 1, empty = 2, [true] = 0}

function M.show(v)
  return type(v) == "string" and ("%q"):format(v) or tostring(v)
end

local UNITS = { [""] = 1, K = 1 << 10, M = 1 << 20, G = 1 << 30 }

-- Returns digits * unit as a float: integers would wrap around.
local function product(digits, unit)
  return tonumber(digits) * (unit + 0.0)
end

-- Converts a size to bytes. v: an integer, or text such as "64K". Returns nil if v is not a size.
local function size(v)
  if type(v) == "string" then
    local digits, unit = v:match("^(%d+)([KMGkmg]?)$")
    local n = digits and math.tointeger(tonumber(digits))
    local factor = unit and UNITS[unit:upper()]
    return n and n <= M.MAX // factor and n * factor or nil
  end
  return math.type(v) and math.tointeger(v)
end

--- Checks a sampling period, such as 65536 or "64K". Returns bytes, or nil and a message.
function M.period(v)
  local n = size(v)
  if n and n >= M.MIN and n <= M.MAX then return n end
  return nil, ("period must be %d to 2^62 bytes, got %s"):format(M.MIN, M.show(v))
end

--- Default of the option 'malloc': the mean number of requested bytes between two samples of native memory.
M.MALLOC = 512 * 1024

--- Returns a warning if one of the checked options o (M.check) has no effect; else nil.
function M.unheeded(o)
  return o.fixed and (o.malloc or 0) > 0 and
    "option 'fixed' has no effect on samples of native memory: their intervals are random" or nil
end

--- Checks a rate of time samples, a number or text. Returns samples per second, or nil and a message.
function M.rate(v)
  local n = type(v) == "string" and v:find "^%d+$" and tonumber(v) or v
  n = math.type(n) and math.tointeger(n)
  if n and n >= M.MINRATE and n <= M.MAXRATE then return n end
  return nil, ("rate must be %d to %d samples a second, got %s")
    :format(M.MINRATE, M.MAXRATE, M.show(v))
end

-- TIMES: seconds per unit of the option 'holders'. MAXTIME: longest time for 'holders' and 'ring', in
-- seconds.
local TIMES, MAXTIME = {s = 1, m = 60, h = 3600}, 31 * 24 * 3600

--- Seconds per unit of the options 'ring' and 'rotate'.
M.SECONDS = {s = 1, m = 60, h = 3600, d = 86400}

--- Size in bytes of a flight recorder for which only a time is given.
M.RING = 8 << 20

local function boolean(v)
  if v == true or v == "1" or v == 1 then return true end
  if v == false or v == "0" or v == 0 then return false end
  return nil, "must be true or false, 1 or 0, got " .. M.show(v)
end

--- Returns true if v can be a path. Text with a zero byte cannot: C would cut it there.
function M.ispath(v)
  return type(v) == "string" and v ~= "" and not v:find("\0", 1, true)
end

local NOPERIOD = "must be a period of %d to 2^62 bytes, or 0 for none, got %s"
local NORATE = "must be %d to %d samples a second, or 0 for none, got %s"

-- Checks of the options, by name. Each function returns the checked value, or nil and the end of a message.
local OPTIONS = {
  alloc = function(v)
    if size(v) == 0 then return 0 end
    local n = M.period(v)
    return n, not n and NOPERIOD:format(M.MIN, M.show(v)) or nil
  end,
  malloc = function(v)
    if size(v) == 0 then return 0 end
    if v == true or size(v) == 1 then return M.MALLOC end  -- "malloc" without a value is malloc=1
    local n = M.period(v)
    return n, not n and NOPERIOD:format(M.MIN, M.show(v)) or nil
  end,
  time = function(v)
    if v == 0 or v == "0" then return 0 end
    local n = M.rate(v)
    return n, not n and NORATE:format(M.MINRATE, M.MAXRATE, M.show(v)) or nil
  end,
  wall = boolean,
  exact = boolean,
  fixed = boolean,
  native = boolean,
  copies = boolean,
  compress = boolean,
  quiet = function(v)
    if v == "empty" then return v end
    return boolean(v)
  end,
  snapshot = boolean,
  holders = function(v)
    local b = boolean(v)
    if b ~= nil then return b end
    local n, unit = tostring(v):match "^(%d+)([smh])$"
    n = n and product(n, TIMES[unit])
    if n and n >= 1 and n <= MAXTIME then return math.tointeger(n) end
    return nil, 'must be true or false, 1 or 0, or a time such as "60s", "5m" or "1h", got ' .. M.show(v)
  end,
  overwrite = function(v)
    if v == "profile" then return v end
    local b = boolean(v)
    if b ~= nil then return b end
    return nil, 'must be true, false or "profile", 1 or 0, got ' .. M.show(v)
  end,
  -- Size or time that the flight recorder keeps. The unit "m" is minutes, "M" is mebibytes.
  ring = function(v)
    local n, unit = tostring(v):match "^(%d+)([smhdKMG])$"
    n = n and product(n, M.SECONDS[unit] or UNITS[unit])
    if n and M.SECONDS[unit] and n >= 1 and n <= MAXTIME then
      return {seconds = math.tointeger(n)}
    elseif n and UNITS[unit] and n >= 65536 and n <= 1 << 30 then
      return {bytes = math.tointeger(n)}
    end
    return nil, 'must be a time up to 31d, such as "90s", "10m" or "1h", or a size from "64K" to "1G", got '
      .. M.show(v)
  end,
  rate = function(v)
    local n = type(v) == "string" and v:find "^%d+$" and tonumber(v) or v
    n = math.type(n) and math.tointeger(n)
    if n and n >= 1 and n <= 1000000 then return n end
    return nil, "must be 1 to 1000000 samples a second, got " .. M.show(v)
  end,
  seed = function(v)
    local n = math.type(v) and math.tointeger(v)
      or type(v) == "string" and math.tointeger(tonumber(v))
    if n then return n end
    return nil, "must be an integer, got " .. M.show(v)
  end,
  out = function(v)
    if M.ispath(v) then return v end
    return nil, "must be a path, got " .. M.show(v)
  end,
  format = function(v)
    if v == "stock" or v == "extended" then return v end
    return nil, 'must be "stock" or "extended", got ' .. M.show(v)
  end,
}

--- Checks of options that only the environment variable ASAMP has, by name. Each function returns the checked
-- value, or nil and the end of a message.
M.PROCESS = {
  listen = function(v)
    if v == "1" then return "" end
    if type(v) == "string" and v ~= "" then return v end
    return nil, "must be a path, got " .. M.show(v)
  end,
  rotate = function(v)
    local n, unit = v:match "^(%d+)([smhd]?)$"
    n = n and product(n, M.SECONDS[unit] or 1)
    if n and n >= 1 and n <= 366 * 86400 then return math.tointeger(n) end
    return nil, "must be a time from 1s to 366d, such as 90s, 5m or 1h, got " .. M.show(v)
  end,
  keep = function(v)
    local n = v:find "^%d+$" and tonumber(v)
    if n and n >= 1 and n <= 10000 then return n end
    return nil, "must be a number of files, 1 to 10000, got " .. M.show(v)
  end,
  max = function(v)
    local n = size(v)
    if n and n >= 65536 then return n end
    return nil, "must be a size of at least 64K, got " .. M.show(v)
  end,
}

local function names(more)
  local list = {}
  for name in pairs(OPTIONS) do list[#list + 1] = name end
  for name in pairs(more or {}) do list[#list + 1] = name end
  table.sort(list)
  return table.concat(list, ", ")
end

--- Returns a checked copy of the options t, {name = value}. Returns nil and a message if an option is unknown
-- or has a wrong value. 'more': functions that check additional options, by name, such as M.PROCESS.
function M.check(t, more)
  local o = {}
  for k, v in pairs(t) do
    local checker = OPTIONS[k] or more and more[k]
    if not checker then
      return nil, ("unknown option %s (known: %s)"):format(M.show(k), names(more))
    end
    local value, wrong = checker(v)
    if value == nil then return nil, ("option '%s' %s"):format(k, wrong) end
    o[k] = value
  end
  if o.copies and o.alloc == 0 then
    return nil, "option 'copies' needs allocation samples; set the option 'alloc' above 0"
  elseif o.copies and o.format == "extended" then
    return nil, "option 'copies' must not be set with format \"extended\", " ..
                "whose readers would show copies as time"
  end
  return o
end

-- Options that need a value, with an example: as key=1, one of these would be a strange path, rate or time.
local VALUES = {alloc = "32K", format = "stock", keep = "10", max = "1G", out = "app.vmprof", rate = "1000",
                ring = "10m", rotate = "1h", seed = "7", time = "100"}

--- Parses LUA_PROFILER: key=value, separated by commas; a key without a value is key=1. Returns a table of
-- unchecked options. Returns nil and a message if a key is given twice or lacks a value that it needs.
function M.read(text)
  local t = {}
  for item in text:gmatch("[^,]+") do
    local k, v = item:match("^%s*([^=%s]+)%s*=%s*(.-)%s*$")
    k = k or item:match("^%s*(.-)%s*$")
    if t[k] ~= nil then return nil, ("option '%s' is given twice"):format(k) end
    if not v and VALUES[k] then
      return nil, ("option '%s' needs a value; give one, such as %s=%s"):format(k, k, VALUES[k])
    end
    if k ~= "" then t[k] = v or "1" end
  end
  return t
end

-- Longest name of a script in the default path, in bytes: systems permit names of files up to 255 bytes.
local LONGEST = 200

--- Returns the default path of a profile: SCRIPT.PID.vmprof in the current folder. If the name starts with a
-- dash, it gets the prefix "./", so that no command takes it for an option.
--
-- script: arg[0]; nil or "-" (standard input) gives lua.PID.vmprof
-- pid: process id
function M.path(script, pid)
  local name = script and script ~= "-" and script:match "([^/]+)/*$" or "lua"
  if #name > LONGEST then
    local last = LONGEST
    while last > LONGEST - 4 and name:find("^[\x80-\xBF]", last + 1) do last = last - 1 end
    name = name:sub(1, last)
  end
  return ("%s%s.%d.vmprof"):format(name:find "^%-" and "./" or "", name, pid)
end

return M
