-- SPDX-License-Identifier: MIT
-- Formats numbers: bytes, times, counts, shares. The output does not depend on the locale.

local M = {}

local STEPS = {
  {1 << 60, "E"}, {1 << 50, "P"}, {1 << 40, "T"}, {1 << 30, "G"},
  {1 << 20, "M"}, {1 << 10, "K"},
}

-- Converts n to the largest unit in which it is at least 1. Returns the number in this unit, and the unit's
-- letter ("" for bytes). If the number would be rounded to 1024.0, uses the next unit.
local function split(n)
  for i, step in ipairs(STEPS) do
    if n >= step[1] * (i == 1 and 1 or 0.99995) then
      return n / step[1], step[2]
    end
  end
  return n, ""
end

--- Formats bytes in at most six columns: "612.0M", "56B".
function M.short(n)
  local value, unit = split(n)
  return unit == "" and ("%dB"):format(n) or ("%.1f%s"):format(value, unit)
end

--- Formats bytes in full: "612.0 MiB", "512 KiB", "56 bytes". Integers have no decimals.
function M.bytes(n)
  local value, unit = split(n)
  if unit == "" then
    return n == 1 and "1 byte" or ("%d bytes"):format(n)
  end
  return (value % 1 == 0 and "%d %siB" or "%.1f %siB"):format(value, unit)
end

--- Formats a sampling period as options take it: "128K", "512".
function M.period(n)
  return n % 1024 == 0 and ("%dK"):format(n // 1024) or ("%d"):format(n)
end

--- Formats a count with separators: "1,234,567".
function M.count(n)
  local s = ("%d"):format(n)
  repeat
    local more
    s, more = s:gsub("^(%-?%d+)(%d%d%d)", "%1,%2")
  until more == 0
  return s
end

--- Formats a count and a noun: "1 sample", "2 samples".
function M.plural(n, noun)
  return M.count(n) .. " " .. noun .. (n == 1 and "" or "s")
end

--- Formats seconds: "350 ms", "4.21 s", "2 min 3 s", "3 h 5 min", "40 d 12 h".
function M.seconds(s)
  if s < 0.9995 then
    return ("%.3g ms"):format(s * 1000)
  elseif s < 59.995 then
    return ("%.2f s"):format(s)
  end
  s = math.floor(s + 0.5)
  if s < 3600 then
    return ("%d min %d s"):format(s // 60, s % 60)
  end
  if s < 3 * 86400 then
    return ("%d h %d min"):format(s // 3600, s % 3600 // 60)
  end
  return ("%d d %d h"):format(s // 86400, s % 86400 // 3600)
end

--- Formats seconds in at most six columns: "85us", "350ms", "4.21s", "123s", "20m34s", "3h05m",
-- "40d12h".
function M.shorttime(s)
  if s == 0 then
    return "0s"
  elseif s < 0.0009995 then
    return ("%.0fus"):format(s * 1e6)
  elseif s < 0.00995 then
    return ("%.1fms"):format(s * 1e3)
  elseif s < 0.9995 then
    return ("%.0fms"):format(s * 1e3)
  elseif s < 99.995 then
    return ("%.2fs"):format(s)
  end
  s = math.floor(s + 0.5)
  if s < 600 then
    return ("%ds"):format(s)
  elseif s < 100 * 60 then
    return ("%dm%02ds"):format(s // 60, s % 60)
  elseif s < 100 * 3600 then
    return ("%dh%02dm"):format(s // 3600, s % 3600 // 60)
  elseif s < 100 * 86400 then
    return ("%dd%02dh"):format(s // 86400, s % 86400 // 3600)
  end
  return ("%dd"):format(s // 86400)
end

--- Formats a resident size with 'format' (M.bytes or M.short). Returns "unknown" for 0 or nil, which mean
-- that the process could not read /proc.
function M.resident(n, format)
  return n and n > 0 and format(n) or "unknown"
end

--- Formats a share of a whole: "25.9%", or "-" if the whole is 0.
function M.percent(part, whole)
  if whole == 0 then
    return "-"
  end
  return ("%.1f%%"):format(100 * part / whole)
end

return M
