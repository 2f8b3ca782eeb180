-- SPDX-License-Identifier: MIT
-- A map keeps each visited cell in a table of rows, and never removes any.
-- The code in the next line removes the leaked reference (bench/proofs).
-- cut: world.cells = nil
local world = {cells = {}}

local function visit(x, y)
  local row = world.cells[x]
  if not row then
    row = {}
    world.cells[x] = row
  end
  local cell = {x = x, y = y, neighbours = {x - 1, y - 1}}
  row[y] = cell
  return cell
end

local n = 0
for i = 1, 40000 do n = n + visit(i // 200, i % 200).x end
print(n)
