-- SPDX-License-Identifier: MIT
-- Host: old objects of a large array change places, and nothing is allocated. What
-- is left is the write barrier: one that looks at each value's header misses the
-- cache at each. size is the number of exchanges.

local OBJECTS = 300000

local function run(size)
  local array, x = {}, 1
  for i = 1, OBJECTS do array[i] = { i } end
  collectgarbage()
  for _ = 1, size do
    x = (x * 1103515245 + 12345) & 0x7FFFFFFF
    local i, k = x % OBJECTS + 1, (x >> 8) % OBJECTS + 1
    array[i], array[k] = array[k], array[i]
  end
  local sum = 0
  for i = 1, OBJECTS do sum = (sum * 31 + array[i][1]) % 1000003 end
  return sum
end

return {
  about = "old objects of a large array change places",
  size = 5000000, small = 20000, tiny = 100,
  run = run,
}
