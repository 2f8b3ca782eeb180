-- SPDX-License-Identifier: MIT
-- A workload that is hard for some collectors: one large old table, which has only a hash part, because its
-- keys are strings and sparse integers. Entries with young keys and values are added and removed at random.
-- Insertions move colliding entries, and removals leave dead keys. A collector that remembers whole tables
-- visits all entries in every minor collection. 'size' is the number of writes.

local ENTRIES = 200000

local function key(place)
  if place % 2 == 0 then return place * 1048583 end
  return "entry " .. place
end

local function run(writes)
  local entries, held = {}, 0
  for place = 1, ENTRIES do entries[key(place)] = false end
  for i = 1, writes do
    local at = key(math.random(ENTRIES))
    local old = entries[at]
    if old then
      entries[at], held = nil, held - 1
    else
      entries[at], held = { i }, held + 1
    end
    local short_lived = { i, i }
    assert(#short_lived == 2)
  end
  local used, sum = 0, 0
  for _, entry in pairs(entries) do
    if entry then used, sum = used + 1, sum + entry[1] end
  end
  assert(used == held)
  return ("%d used, sum %d"):format(used, sum)
end

return {
  about = "young entries put into and taken from a big old hash at random",
  size = 1200000, small = 40000, tiny = 100,
  run = run,
}
