-- SPDX-License-Identifier: MIT
-- Strings of 8 KB to 8 MB, such as messages and files, are created and dropped while the heap contains many
-- small objects. The latest strings stay alive. Such strings come from malloc, which can return memory to
-- the system only at the end of its heap; this workload shows how much it retains. 'size' is the number of
-- strings of 8 KB. Longer strings are rarer, in proportion to their length.

local OTHERS = 20000
local LENGTHS = { 8200, 30000, 120000, 1000000, 8000000 }
local KEPT = { 100, 30, 10, 3, 2 }

local function run(size)
  local others, sum = {}, 0
  for i = 1, OTHERS do others[i] = { i } end
  for l, length in ipairs(LENGTHS) do
    local text, ring, kept = ("abcdefgh"):rep(length // 8), {}, KEPT[l]
    for i = 1, math.max(size * LENGTHS[1] // length, 3) do
      local message = text .. i
      ring[i % kept] = message
      local old = ring[i * 7 % kept] or message
      sum = (sum + #old + message:byte(i % length + 1)) % 1000003
    end
  end
  return sum + #others
end

return {
  about = "strings of 8 KB to 8 MB come and go, some are kept",
  size = 200000, small = 1000, tiny = 5,
  run = run,
}
