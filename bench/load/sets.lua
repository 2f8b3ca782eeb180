-- SPDX-License-Identifier: MIT
-- Each round fills tables and drops them. Their keys are existing objects and strings, as in sets of
-- visited nodes and counts of words. Nothing else is allocated, so that the cost is that of new keys and of
-- hash parts that grow. 'size' is the number of rounds.

local SIZES = { 300, 3000, 12000, 50000 }
local MOST = SIZES[#SIZES]

local function run(size)
  local objects, names, sum = {}, {}, 0
  for i = 1, MOST do
    objects[i] = { id = i }
    names[i] = "name " .. i
  end
  for r = 1, size do
    for _, n in ipairs(SIZES) do
      for _ = 1, MOST // n do
        local visited, count = {}, {}
        for i = 1, n do
          visited[objects[i]] = i
          count[names[i]] = (count[names[i]] or 0) + 1
        end
        sum = (sum + visited[objects[r % n + 1]] + count[names[r % n + 1]]) % 1000003
      end
    end
  end
  return sum
end

return {
  about = "sets of objects and counts of names, filled and dropped",
  size = 24, small = 2, tiny = 1,
  run = run,
}
