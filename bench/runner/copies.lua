-- SPDX-License-Identifier: MIT
-- Prints rows of the table of bench/copies: lua copies.lua NAME EXACT PROFILE COST. EXACT is FILE2 of
-- exact.c. Exit status 1: the estimate is wrong by more than 5% for a line that copies at least a tenth of
-- all bytes.

local copies = require "asamp.sums.copies"
local reader = require "profiler.reader"

local LIMIT, PART = 0.05, 0.1

local name, counted, path, cost = table.unpack(arg)
local found = assert(copies.of(assert(reader.read(path))))
local sampled, exact, whole = {}, {}, 0
for _, row in ipairs(found.lines) do
  if row.file:find "copies.lua$" then sampled[row.line] = row.bytes end
end
for row in io.lines(counted) do
  local bytes, line, file = row:match "^(%d+)\t%d+\tcopied\t(%d+)\t(.*)$"
  whole = whole + tonumber(bytes)
  if file:find "copies.lua$" then
    exact[#exact + 1] = {line = tonumber(line), bytes = tonumber(bytes)}
  end
end
table.sort(exact, function(a, b) return a.bytes > b.bytes end)
local seconds = found.bytes / found.persecond
local right = #exact > 0
for _, row in ipairs(exact) do
  if row.bytes >= PART * whole then
    local ratio = (sampled[row.line] or 0) / row.bytes
    print(("| %s | %d | %d | %.0f | %.3f | %.0f | %s |"):format(name, row.line, row.bytes,
          sampled[row.line] or 0, ratio, row.bytes / seconds / 1e6, cost))
    right = right and math.abs(ratio - 1) <= LIMIT
    cost = ""
  end
end
os.exit(right and 0 or 1)
