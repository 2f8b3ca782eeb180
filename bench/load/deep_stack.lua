-- SPDX-License-Identifier: MIT
-- A workload that is hard for some collectors: a recursion of 'size' frames that allocates on its way down,
-- at the bottom and on its way up. A collector that scans the whole stack in every minor collection pays
-- for all frames each time.

local function sink(depth)
  local here = { depth }
  if depth == 0 then return 0 end
  return sink(depth - 1) + here[1]
end

local function churn(count)
  local sum = 0
  for i = 1, count do
    local short_lived = { i }
    sum = sum + #short_lived
  end
  return sum
end

local function dive(depth, work)
  if depth == 0 then return churn(work) end
  return dive(depth - 1, work) + 1
end

local function run(depth)
  local sum = 0
  for _ = 1, 8 do sum = sum + sink(depth) end
  return sum + dive(depth, depth * 20)
end

return {
  about = "recursion with allocation at every depth",
  size = 150000, small = 10000, tiny = 50,
  run = run,
}
