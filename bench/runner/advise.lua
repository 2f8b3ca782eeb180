-- SPDX-License-Identifier: MIT
-- Prints the row of a workload for bench/advise: lua advise.lua NAME FROM/TO FILE... Each FILE is the
-- output of `asamp advise --verify --json` in one round. FROM and TO are the numbers of instructions in
-- collections, with the profiled nursery and with the other one; the argument is empty if they were not
-- counted. Tenured bytes and ratios of times are medians of the rounds; times are the smallest ones.

local function numberof(text, part, name, path)
  local inner = assert(text:match(('"%s":%%s*(%%b{})'):format(part)), path)
  return tonumber(inner:match(('"%s":%%s*([-+%%d.eE]+)'):format(name)))
end

local function fields(path)
  local file = assert(io.open(path))
  local text = file:read "a"
  file:close()
  local verified = assert(text:match '"verified":%s*(.*)$', path)
  return function(part, name) return numberof(verified, part, name, path) end
end

local function median(list)
  table.sort(list)
  local n = #list
  return (list[(n + 1) // 2] + list[n // 2 + 1]) / 2
end

local tables = {}
for i = 3, #arg do tables[#tables + 1] = fields(arg[i]) end
local cells = {arg[1]}
local function all(part, name)
  local list = {}
  for i, number in ipairs(tables) do list[i] = number(part, name) end
  return list
end

local function cell(text, predicted, measured)
  cells[#cells + 1], cells[#cells + 2] = text:format(predicted), text:format(measured)
  cells[#cells + 1] = ("%+.1f%%"):format(100 * (predicted / measured - 1))
end

cell("%.1f MB", median(all("predicted", "tenured")) / 1e6, median(all("measured", "tenured")) / 1e6)
local before, ratios = all("before", "time"), all("predicted", "time")
for i, time in ipairs(before) do ratios[i] = ratios[i] / time end
local ratio = median(ratios)
cell("%.1f ms", 1e3 * ratio * math.min(table.unpack(before)),
     1e3 * math.min(table.unpack(all("measured", "time"))))
local from, to = arg[2]:match "^(%d+)/(%d+)$"
if from then cell("x %.3f", ratio, to / from) end
print("| " .. table.concat(cells, " | ") .. " |")
