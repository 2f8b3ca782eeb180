-- No leak: a game loop that creates and removes entities, bullets and particles. Its list of high scores
-- stays short.
local entities, particles, scores, x = {}, {}, {}, 7
local function random(n) x = (x * 16807) % 2147483647 return x % n + 1 end
for frame = 1, 4000 do
  if #entities < 40 then
    entities[#entities + 1] = {x = random(100), y = 0, hp = random(5), path = {random(9), random(9)}}
  end
  for i = #entities, 1, -1 do
    local e = entities[i]
    e.y = e.y + random(3)
    if e.y > 100 or e.hp == 0 then
      entities[i] = entities[#entities]
      entities[#entities] = nil
      for _ = 1, 5 do particles[#particles + 1] = {x = e.x, y = e.y, life = random(20)} end
    elseif random(10) == 1 then
      e.hp = e.hp - 1
    end
  end
  local alive = {}
  for _, p in ipairs(particles) do
    p.life = p.life - 1
    if p.life > 0 then alive[#alive + 1] = p end
  end
  particles = alive
  if frame % 100 == 0 then
    scores[#scores + 1] = {frame = frame, score = random(1000)}
    table.sort(scores, function(a, b) return a.score > b.score end)
    scores[11] = nil
  end
end
print(#entities, #particles, scores[1].score)
