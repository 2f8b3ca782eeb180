-- SPDX-License-Identifier: MIT
-- A workload that is hard for some collectors: tables are appended to one growing list and all kept alive.
-- Everything survives, and the list's array is copied each time its size doubles. 'size' is the number of
-- appended tables.

local function run(appends)
  local list = {}
  for i = 1, appends do list[#list + 1] = { i, id = i % 1000 } end
  local sum = 0
  for _, each in ipairs(list) do sum = sum + each[1] + each.id end
  return ("%d kept, sum %d"):format(#list, sum)
end

return {
  about = "tables appended to one list, all kept",
  size = 2000000, small = 50000, tiny = 100,
  run = run,
}
