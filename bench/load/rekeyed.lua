-- SPDX-License-Identifier: MIT
-- A set, such as that of the active requests, whose keys are added and removed while their number stays
-- just below a power of two. If a rehash of the full table frees space for only a few keys, the table is
-- rehashed again after every few insertions. 'size' is the number of added keys.

local LIVE = (1 << 14) - 40

local function run(size)
  local set = {}
  for i = 1, LIVE do set[i + 0.5] = i end
  for i = 1, size do
    set[LIVE + i + 0.5] = i
    set[i + 0.5] = nil
  end
  local n, sum = 0, 0
  for key, value in pairs(set) do
    n, sum = n + 1, (sum + key * 2 * value) % 1000003
  end
  return ("%d live, %d"):format(n, sum // 1)
end

return {
  about = "keys that come and go in a set that is nearly full",
  size = 60000, small = 5000, tiny = 100,
  run = run,
}
