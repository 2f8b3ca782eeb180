-- SPDX-License-Identifier: MIT
-- Computes values from profiles for bench/actionable:
--   lua actionable.lua BASE                     prints FILE:LINE of the line to change. It is the line with
--                                               most objects among those that create short-lived tables
--   lua actionable.lua NAME LINE BASE ACTED     prints the row of the program NAME. BASE and ACTED are its
--                                               profiles before and after the change of LINE

local lifetimes = require "asamp.sums.lifetimes"
local reader = require "profiler.reader"

local function linesof(path)
  return assert(lifetimes.lines(assert(reader.read(path))), path)
end

local function makestable(row)
  local file, n = io.open(row.file), 0
  for text in file and file:lines() or function() end do
    n = n + 1
    if n == row.line then
      return text:find "[=(,]%s*{" or text:find "return%s+{"
    end
  end
end

-- Returns four percentages from a profile. The first three are mean lifetimes, in percent of the run: of
-- the objects created at the line 'place', of all objects, and of all objects of other lines. The fourth is
-- the line's share of all objects.
local function means(path, place)
  local one, sum, objects, part = 0, 0, 0, 0
  for _, row in ipairs(linesof(path)) do
    if row.file .. ":" .. row.line == place then one, part = row.share, row.objects end
    sum, objects = sum + row.share * row.objects, objects + row.objects
  end
  return 100 * one, 100 * sum / objects, 100 * (sum - one * part) / (objects - part),
         100 * part / objects
end

if #arg == 1 then
  local best
  for _, row in ipairs(linesof(arg[1])) do
    if row.sort == "short" and makestable(row) and (not best or row.objects > best.objects) then
      best = row
    end
  end
  print(best and best.file .. ":" .. best.line or "-")
else
  local name, place, base, acted = table.unpack(arg)
  local one, all, others, part = means(base, place)
  local one2, all2, others2 = means(acted, place)
  print(("| %s | %s | %.1f%% | %.2f%% | %.1f%% | %+.1f%% | %+.1f%% | %+.1f%% |"):format(name,
    place:match "[^/]*$", part, one, one2, one2 - one, all2 - all, others2 - others))
end
