-- SPDX-License-Identifier: MIT
-- A workload that is hard for some collectors: short-lived tables are created while the top of a deep stack
-- moves. At the bottom of a recursion of 'size' frames, each iteration calls up to SWING more frames, which
-- return again. Then all frames return, and more tables are created meanwhile. A collector that scans the
-- whole stack in every minor collection pays for all frames. A collector that scans only new frames must
-- detect that a frame has returned and its slots were used again. Every frame has a table of its own, and
-- checks it before it returns.

local SWING = 200   -- largest number of additional frames in an iteration
-- There are size / STRIDE iterations. On the way back, every STRIDEth frame creates TABLES tables.
local STRIDE = 20
local TABLES = 100  -- number of short-lived tables that churn() creates

local function churn()
  local sum = 0
  for i = 1, TABLES do
    local short_lived = { i }
    sum = sum + #short_lived
  end
  return sum
end

-- Calls itself until 'depth' is 0, and then calls bottom(). Returns the number of frames of this recursion,
-- and the number of tables that churn() created.
local function dive(depth, bottom)
  local own = { depth }
  if depth == 0 then return 1, bottom() end
  local frames, made = dive(depth - 1, bottom)
  if depth % STRIDE == 0 then made = made + churn() end
  assert(own[1] == depth)
  return frames + 1, made
end

local function run(depth)
  local swung = 0
  local function bottom()
    local all = 0
    for turn = 1, depth // STRIDE do
      local frames, made = dive(turn % SWING, churn)
      swung, all = swung + frames, all + made
    end
    return all
  end
  local frames, made = dive(depth, bottom)
  return ("%d frames, %d swung, %d made"):format(frames, swung, made)
end

return {
  about = "allocation while the top of a deep stack moves",
  size = 150000, small = 10000, tiny = 60,
  run = run,
}
