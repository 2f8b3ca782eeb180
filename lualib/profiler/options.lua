-- SPDX-License-Identifier: MIT
--
-- The options of a session: which there are, what values they take, their text in
-- LUA_PROFILER, and the path that 'out' represents. Pure: raises nothing, tells what is wrong.

local core = require "profiler.core"

local M = {}

--- The numbers by which profiler.core knows the values of the option 'overwrite'.
M.REPLACE = {[false] = 0, profile = 1, [true] = 2}

--- A value as a message shows it.
function M.show(v)
  return type(v) == "string" and ("%q"):format(v) or tostring(v)
end

local UNITS = { [""] = 1, K = 1 << 10, M = 1 << 20, G = 1 << 30 }

-- So many units, as a float: one that is far too large stays so, where integers wrap around.
local function product(digits, unit)
  return tonumber(digits) * (unit + 0.0)
end

-- A size in bytes: an integer, or text such as "64K". nil: it is none.
local function size(v)
  if type(v) == "string" then
    local digits, unit = v:match("^(%d+)([KMGkmg]?)$")
    local n = digits and math.tointeger(tonumber(digits))
    local factor = unit and UNITS[unit:upper()]
    return n and n <= core.MAX // factor and n * factor or nil
  end
  return math.type(v) and math.tointeger(v)
end

--- A sampling period, or nil and what is wrong with it.
function M.period(v)
  local n = size(v)
  if n and n >= core.MIN and n <= core.MAX then return n end
  return nil, ("period must be %d to 2^62 bytes, got %s"):format(core.MIN, M.show(v))
end

--- The period of native memory where none is given.
M.MALLOC = 512 * 1024

--- Returns a warning about checked options that have no effect; nil if all have.
function M.unheeded(o)
  return o.fixed and (o.malloc or 0) > 0 and
    "option 'fixed' has no effect on samples of native memory: their intervals are random" or nil
end

--- A sampling rate, or nil and what is wrong with it.
function M.rate(v)
  local n = type(v) == "string" and v:find "^%d+$" and tonumber(v) or v
  n = math.type(n) and math.tointeger(n)
  if n and n >= core.MINRATE and n <= core.MAXRATE then return n end
  return nil, ("rate must be %d to %d samples a second, got %s")
    :format(core.MINRATE, core.MAXRATE, M.show(v))
end

-- Seconds; a month is the most.
local TIMES, MAXTIME = {s = 1, m = 60, h = 3600}, 31 * 24 * 3600

--- Seconds of the units of times.
M.SECONDS = {s = 1, m = 60, h = 3600, d = 86400}

--- Bytes that a flight recorder takes where only a time is given.
M.RING = 8 << 20

local function boolean(v)
  if v == true or v == "1" or v == 1 then return true end
  if v == false or v == "0" or v == 0 then return false end
  return nil, "must be true or false, 1 or 0, got " .. M.show(v)
end

--- Is that a path? One with a zero byte would be cut there.
function M.ispath(v)
  return type(v) == "string" and v ~= "" and not v:find("\0", 1, true)
end

-- A function for each option: takes a value, returns it checked, or nil and what is wrong.
local OPTIONS = {
  alloc = function(v)
    if size(v) == 0 then return 0 end
    local n, wrong = M.period(v)
    return n, wrong and wrong .. " (0: off)"
  end,
  malloc = function(v)
    if size(v) == 0 then return 0 end
    if v == true or size(v) == 1 then return M.MALLOC end  -- the bare key
    local n, wrong = M.period(v)
    return n, wrong and wrong .. " (0: off)"
  end,
  time = function(v)
    if v == 0 or v == "0" then return 0 end
    local n, wrong = M.rate(v)
    return n, wrong and wrong .. " (0: off)"
  end,
  wall = boolean,
  exact = boolean,
  fixed = boolean,
  native = boolean,
  copies = boolean,
  compress = boolean,
  quiet = boolean,
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
  -- {seconds = n} or {bytes = n}: "m" are minutes, "M" mebibytes
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
    return nil, "must be a number of samples a second, 1 to 1000000, got " .. M.show(v)
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

--- Options of a process (ASAMP) besides.
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
    return nil, "must be a size from 64K on, got " .. M.show(v)
  end,
}

local function names(more)
  local list = {}
  for name in pairs(OPTIONS) do list[#list + 1] = name end
  for name in pairs(more or {}) do list[#list + 1] = name end
  table.sort(list)
  return table.concat(list, ", ")
end

--- Checked copy of the options t, 'more' of which there are besides; nil and what is wrong.
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
    return nil, "option 'copies' needs samples of allocation: alloc must not be 0"
  elseif o.copies and o.format == "extended" then
    return nil, "option 'copies' needs format \"stock\": readers of the extended one would " ..
                "take copies for time"
  end
  return o
end

--- What LUA_PROFILER holds, not checked yet: comma-separated key=value; a bare
-- key is key=1. nil and what is wrong when a key is given twice.
function M.read(text)
  local t = {}
  for item in text:gmatch("[^,]+") do
    local k, v = item:match("^%s*([^=%s]+)%s*=%s*(.-)%s*$")
    k = k or item:match("^%s*(.-)%s*$")
    if t[k] ~= nil then return nil, ("option '%s' is given twice"):format(k) end
    if k ~= "" then t[k] = v or "1" end
  end
  return t
end

--- Where the profile of that process goes if nothing is there: 'out' with its %p, %n, %t and %h, else
-- SCRIPT.PID.vmprof. 'script' is arg[0], nil or "-" (standard input) without one; a
-- name that begins with a dash gets a ./ before it, or commands take it for an option;
-- of a long one the first LONGEST bytes stand, in whole UTF-8 characters: a file's name
-- has 255 at most, and the process, what tells copies apart and the ending need some.
local LONGEST = 200
function M.path(out, script, pid)
  if out then
    return core.path(out, pid)
  end
  local name = script and script ~= "-" and script:match "([^/]+)/*$" or "lua"
  if #name > LONGEST then
    local last = LONGEST
    while last > LONGEST - 4 and name:find("^[\x80-\xBF]", last + 1) do last = last - 1 end
    name = name:sub(1, last)
  end
  return ("%s%s.%d.vmprof"):format(name:find "^%-" and "./" or "", name, pid)
end

return M
