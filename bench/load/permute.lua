-- SPDX-License-Identifier: MIT
-- Old objects are swapped in arrays of three sizes, and nothing is allocated. The cost is that of the write
-- barrier. A barrier that reads the header of each stored object causes cache misses, even if the array
-- itself fits into the cache. 'size' is the number of swaps in each array.

local OBJECTS = { 12000, 60000, 300000 }

local function permute(objects, exchanges)
  local array, x = {}, 1
  for i = 1, objects do array[i] = { i } end
  collectgarbage()
  for _ = 1, exchanges do
    x = (x * 1103515245 + 12345) & 0x7FFFFFFF
    local i, k = x % objects + 1, (x >> 8) % objects + 1
    array[i], array[k] = array[k], array[i]
  end
  local sum = 0
  for i = 1, objects do sum = (sum * 31 + array[i][1]) % 1000003 end
  return sum
end

local function run(size)
  local sums = {}
  for i, objects in ipairs(OBJECTS) do sums[i] = permute(objects, size) end
  return table.concat(sums, " ")
end

return {
  about = "old objects of arrays of three sizes change places",
  size = 3000000, small = 20000, tiny = 100,
  run = run,
}
