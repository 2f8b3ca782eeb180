-- The verdict must name line 8|9|10|15|16|17|18, reason list, holder grid
-- A game removes entities that left the screen from the list of entities, but not from the grid's cells.
local world = {entities = {}, grid = {}}

local function spawn(i)
  local cell = i % 50 + 1
  world.grid[cell] = world.grid[cell] or {}
  local e = {x = 0, y = i % 30, vx = 1 + i % 3, health = 10}
  table.insert(world.grid[cell], e)
  return e
end

local ticks = 0
for frame = 1, 3000 do
  for k = 1, 10 do table.insert(world.entities, spawn(frame * 10 + k)) end
  local kept = {}
  for _, e in ipairs(world.entities) do
    e.x = e.x + e.vx
    if e.x < 20 then kept[#kept + 1] = e end
  end
  world.entities = kept
  ticks = ticks + #kept
end
print(ticks)
