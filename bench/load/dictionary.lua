-- SPDX-License-Identifier: MIT
-- A workload that is hard for some collectors: a dictionary of 'size' different strings, all of which stay
-- alive. It is filled, and read with keys that are created again. Then a third of the keys is removed, and
-- as many new keys are added.

local function run(count)
  local ids = {}
  for i = 1, count do ids["word" .. i] = i end
  local sum = 0
  for i = 1, count, 2 do sum = sum + ids["word" .. i] end
  for i = 1, count, 3 do ids["word" .. i] = nil end
  for i = 1, count, 3 do ids["again" .. i] = i end
  local entries = 0
  for _ in pairs(ids) do entries = entries + 1 end
  return ("%d entries, sum %d"):format(entries, sum)
end

return {
  about = "dictionary of many distinct strings",
  size = 1000000, small = 20000, tiny = 100,
  run = run,
}
