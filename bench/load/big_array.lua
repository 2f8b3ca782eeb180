-- SPDX-License-Identifier: MIT
-- Young objects are stored at random in an array of millions of slots. A collector that remembers the array
-- as a whole visits all slots in every minor collection. 'size' is the number of objects; each is stored in
-- thirty slots.

local function run(size)
  local slots = 40 * size
  local array, x, sum = {}, 1, 0
  for i = 1, slots do array[i] = false end
  for i = 1, size do
    local object = { i }
    for _ = 1, 30 do
      x = (x * 1103515245 + 12345) & 0x7FFFFFFF
      array[x % slots + 1] = object
    end
    local found = array[(x >> 7) % slots + 1]
    sum = (sum + (found and found[1] or 0)) % 1000003
  end
  return sum
end

return {
  about = "random stores into an array of millions of slots",
  size = 100000, small = 5000, tiny = 10,
  run = run,
}
