-- SPDX-License-Identifier: MIT
-- A game loop: the program stops the collector and runs one collection step in each frame, in incremental
-- mode. The steps must keep up with the garbage. 'size' is the number of frames; each frame creates 641
-- small tables, and its step has the size 28 KiB.

local function run(size)
  collectgarbage("incremental")
  collectgarbage("stop")
  local world, sum = {}, 0
  for i = 1, 2000 do world[i] = { x = i, y = -i } end
  for frame = 1, size do
    for i = 1, 640 do
      local velocity = { i, frame }
      sum = (sum + velocity[1] + velocity[2]) % 1000003
    end
    world[frame % 2000 + 1] = { x = frame, y = sum }
    collectgarbage("step", 28)
  end
  collectgarbage("restart")
  return sum + #world
end

return {
  about = "the collector stopped, a step by hand each frame",
  size = 12000, small = 300, tiny = 3,
  run = run,
}
