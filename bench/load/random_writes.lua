-- SPDX-License-Identifier: MIT
-- A workload that is hard for some collectors: random slots of one big old table are overwritten with young
-- tables. A collector that remembers whole tables visits all of it in each minor collection. 'size' is the
-- number of writes.

local SLOTS = 500000

local function run(writes)
  local slots = {}
  for i = 1, SLOTS do slots[i] = false end
  for i = 1, writes do
    slots[math.random(SLOTS)] = { i }
    local short_lived = { i, i }
    assert(#short_lived == 2)
  end
  local used, sum = 0, 0
  for i = 1, SLOTS do
    local slot = slots[i]
    if slot then used, sum = used + 1, sum + slot[1] end
  end
  return ("%d used, sum %d"):format(used, sum)
end

return {
  about = "young tables stored at random places of a big old table",
  size = 800000, small = 60000, tiny = 100,
  run = run,
}
