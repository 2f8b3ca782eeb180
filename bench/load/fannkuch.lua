-- SPDX-License-Identifier: MIT
-- Fannkuch: generates all permutations of 1..size by Heap's algorithm. For each one it reverses the first k
-- elements, where k is the first element, until that is 1, and counts the reversals. Uses only integers in
-- three small arrays. The result is the largest count and the alternating sum of all counts.

local function flips_of(order, work)
  for i = 1, #order do work[i] = order[i] end
  local flips, first = 0, work[1]
  while first ~= 1 do
    local low, high = 1, first
    while low < high do
      work[low], work[high] = work[high], work[low]
      low, high = low + 1, high - 1
    end
    flips, first = flips + 1, work[1]
  end
  return flips
end

local function run(n)
  local order, work, counter = {}, {}, {}
  for i = 1, n do order[i], counter[i] = i, 1 end
  local most, sum, sign = 0, 0, 1
  local level = 1
  while level <= n do
    if level == 1 then
      local flips = flips_of(order, work)
      if flips > most then most = flips end
      sum, sign = sum + sign * flips, -sign
      level = 2
    elseif counter[level] < level then
      local from = level % 2 == 0 and counter[level] or 1
      order[from], order[level] = order[level], order[from]
      counter[level] = counter[level] + 1
      for below = 2, level - 1 do counter[below] = 1 end
      level = 1
    else
      level = level + 1
    end
  end
  return ("%d most, %d"):format(most, sum)
end

return {
  about = "pancake flips over all permutations: integers in small arrays",
  size = 10, small = 8, tiny = 4,
  run = run,
}
