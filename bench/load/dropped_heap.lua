-- SPDX-License-Identifier: MIT
-- A large structure is dropped, and the program continues with short-lived objects only. A collector that
-- visits old objects only when the heap grows keeps the structure to the end. 'size' is the number of
-- dropped records; fifteen times as many short-lived objects follow.

local function run(size)
  local records = {}
  for i = 1, size do records[i] = { i } end
  local sum = #records
  records = nil -- luacheck: ignore 311
  for i = 1, 15 * size do
    local t = { i }
    sum = (sum + t[1]) % 1000003
  end
  return sum
end

return {
  about = "a large structure dropped, then short-lived objects",
  size = 600000, small = 20000, tiny = 100,
  run = run,
}
