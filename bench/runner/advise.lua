-- SPDX-License-Identifier: MIT
-- A row of bench/advise: lua advise.lua NAME FROM/TO FILE..., each file what
-- `asamp advise --verify --json` has printed of a round. Of each number the median; what is off is
-- the median of each round's. FROM and TO: instructions of the collections of the profiled run,
-- and of the one with the other nursery; or nothing.

local function numberof(text, part, name, path)
  local inner = assert(text:match(('"%s":%%s*(%%b{})'):format(part)), path)
  return tonumber(inner:match(('"%s":%%s*([-+%%d.eE]+)'):format(name)))
end

local function fields(path)
  local file = assert(io.open(path))
  local text = file:read "a"
  file:close()
  local verified = assert(text:match '"verified":%s*(.*)$', path)
  local function number(part, name)
    return numberof(part == "now" and text or verified, part, name, path)
  end
  return number
end

local function median(list)
  table.sort(list)
  local n = #list
  return (list[(n + 1) // 2] + list[n // 2 + 1]) / 2
end

local tables = {}
for i = 3, #arg do tables[#tables + 1] = fields(arg[i]) end
local cells = {arg[1]}
for _, what in ipairs{{"tenured", "%.1f MB", 1e6}, {"time", "%.1f ms", 1e-3}} do
  local predicted, measured, off = {}, {}, {}
  for _, number in ipairs(tables) do
    local p, m = number("predicted", what[1]), number("measured", what[1])
    predicted[#predicted + 1], measured[#measured + 1] = p / what[3], m / what[3]
    off[#off + 1] = 100 * (p / m - 1)
  end
  cells[#cells + 1] = what[2]:format(median(predicted))
  cells[#cells + 1] = what[2]:format(median(measured))
  cells[#cells + 1] = ("%+.1f%%"):format(median(off))
end
local from, to = arg[2]:match "^(%d+)/(%d+)$"
if from then
  local ratios = {}
  for _, number in ipairs(tables) do
    ratios[#ratios + 1] = number("predicted", "time") / number("now", "time")
  end
  local predicted, measured = median(ratios), to / from
  cells[#cells + 1] = ("x %.3f"):format(predicted)
  cells[#cells + 1] = ("x %.3f"):format(measured)
  cells[#cells + 1] = ("%+.1f%%"):format(100 * (predicted / measured - 1))
end
print("| " .. table.concat(cells, " | ") .. " |")
