-- SPDX-License-Identifier: MIT
-- Arrays as large as the rest of the heap are filled and dropped, and nothing else is allocated. Memory
-- grows in few, very large allocations, so that a collector runs only a few times. If it does a fixed
-- amount of work each time, it does not keep up. 'size' is the number of arrays.

local LENGTH = 3000000

local function run(size)
  local sum = 0
  for c = 1, size do
    local column = {}
    for i = 1, LENGTH do column[i] = i end
    sum = (sum + column[c * 1000]) % 1000003
  end
  return sum
end

return {
  about = "arrays as large as the heap, filled and dropped",
  size = 40, small = 2, tiny = 1,
  run = run,
}
