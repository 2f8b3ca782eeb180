-- SPDX-License-Identifier: MIT
-- Each record lives until five thousand others have been created, as in a work queue. Nearly all records
-- survive the nursery of a generational collector, and die soon after. 'size' is the number of records.

local LENGTH, OTHERS = 5000, 100000

local function run(size)
  local others, ring, more, sum = {}, {}, {}, 0
  for i = 1, OTHERS do others[i] = { i } end
  for i = 1, size do
    local record = { i }
    local k = i % LENGTH
    if ring[k] then sum = (sum + ring[k][1] + more[k][1][1]) % 1000003 end
    ring[k], more[k] = record, { record }
  end
  return sum + #others
end

return {
  about = "records that live a little longer than a nursery",
  size = 5000000, small = 200000, tiny = 6000,
  run = run,
}
