-- SPDX-License-Identifier: MIT
-- The last 30 messages of 100 KB, and then the last 300 of 30 KB, are kept in a ring. The heap also has
-- 400,000 small objects. A nursery has space for only a few messages, so that each message survives several
-- collections before it dies. 'size' is the number of messages of 100 KB; three times as many have 30 KB.

local OTHERS = 400000

local function run(size)
  local others, sum = {}, 0
  for i = 1, OTHERS do others[i] = { i } end
  for _, kind in ipairs { { 100000, 30, size }, { 30000, 300, size * 3 } } do
    local text, kept, ring = ("x"):rep(kind[1]), kind[2], {}
    for i = 1, kind[3] do
      ring[i % kept] = text .. i
      sum = (sum + #(ring[i * 7 % kept] or text)) % 1000003
    end
  end
  return sum + #others
end

return {
  about = "rings of messages of 30 and 100 KB in a large heap",
  size = 3000, small = 100, tiny = 5,
  run = run,
}
