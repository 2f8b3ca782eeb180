-- No leak: shortest paths on a grid. Each search creates a table of distances and a queue; only the best
-- path is kept.
local W, x = 40, 5
local function random(k) x = (x * 16807) % 2147483647 return x % k + 1 end
local walls = {}
for i = 1, W * W do walls[i] = random(4) == 1 end
local best = {}
local function search(from)
  local dist, queue, first = {[from] = 0}, {from}, 1
  while queue[first] do
    local at = queue[first]
    first = first + 1
    for _, d in ipairs{-1, 1, -W, W} do
      local to = at + d
      if to > 0 and to <= W * W and not walls[to] and not dist[to] then
        dist[to] = dist[at] + 1
        queue[#queue + 1] = to
      end
    end
  end
  return dist, queue[#queue]
end
for _ = 1, 150 do
  local from = random(W * W)
  local dist, far = search(from)
  if not best.distance or dist[far] > best.distance then
    best = {distance = dist[far], from = from, to = far, dist = dist}
  end
end
print(best.distance)
