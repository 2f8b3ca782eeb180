-- SPDX-License-Identifier: MIT
-- A workload that is hard for some collectors: a big cache with weak values. Most entries are old, and
-- their values are referenced from elsewhere. New entries are added all the time; one value in ten is
-- referenced elsewhere. A collector that visits whole weak tables in every minor collection pays for all
-- entries each time. 'size' is the number of added entries.

local HELD = 100000

local function run(lookups)
  local cache, held = setmetatable({}, { __mode = "v" }), {}
  for i = 1, HELD do
    held[i] = { id = i }
    cache[i] = held[i]
  end
  local sum = 0
  for i = 1, lookups do
    local id = HELD + i
    local entry = { id = id }
    cache[id] = entry
    if i % 10 == 0 then held[math.random(HELD)] = entry end
    sum = sum + cache[held[math.random(HELD)].id].id % 1000
  end
  collectgarbage()
  local kept = 0
  for id, entry in pairs(cache) do
    assert(entry.id == id)
    kept = kept + 1
  end
  assert(kept == HELD)
  return ("%d kept, sum %d"):format(kept, sum)
end

return {
  about = "big cache with weak values",
  size = 1000000, small = 40000, tiny = 100,
  run = run,
}
