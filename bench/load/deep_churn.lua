-- SPDX-License-Identifier: MIT
-- A workload that is hard for some collectors: a recursion of 'size' frames that allocates while the top of
-- the stack moves. In every iteration some frames at the bottom return and are called again; later all
-- return, with short-lived tables between. A collector that scans the whole stack in every minor collection
-- pays for all frames; one that records the unchanged part of the stack must detect that frames have
-- returned and were called again. Every frame has its own table, and checks it at the end.

local SWING = 200   -- number of frames that return and are called again in one iteration
-- one iteration runs after each STRIDE frames of the recursion, on its way down and on its way up
local STRIDE = 20
local TABLES = 100  -- number of short-lived tables created in one iteration

local function churn()
  local sum = 0
  for i = 1, TABLES do
    local short_lived = { i }
    sum = sum + #short_lived
  end
  return sum
end

-- Returns the number of frames from this one to the innermost one, and the number of tables that
-- churn created.
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
