-- SPDX-License-Identifier: MIT
-- The program selects the incremental mode, creates a large array of records, and replaces all records in
-- order by new ones, twice. 'size' is the number of records.

local function run(size)
  collectgarbage("incremental")
  local records = {}
  for round = 1, 3 do
    for i = 1, size do records[i] = { id = i * round } end
  end
  local sum = 0
  for i = 1, size do sum = (sum + records[i].id) % 1000003 end
  return sum
end

return {
  about = "records replaced in the incremental mode",
  size = 500000, small = 20000, tiny = 100,
  run = run,
}
