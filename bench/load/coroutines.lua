-- SPDX-License-Identifier: MIT
-- Coroutines are created, resumed a few times and dropped. Half of them are still suspended when they
-- become garbage. Each coroutine generates a small range of numbers. 'size' is the number of coroutines.

local function walk(first, last)
  for i = first, last do coroutine.yield(i) end
  return last * 2
end

local function generator(first, last)
  return coroutine.wrap(function() return walk(first, last) end)
end

local function run(count)
  local sum = 0
  for i = 1, count do
    local next_value = generator(i, i + 3)
    local pulls = i % 2 == 0 and 5 or 2
    for _ = 1, pulls do sum = sum + next_value() end
  end
  return sum
end

return {
  about = "coroutines made and dropped, finished or suspended",
  size = 1500000, small = 60000, tiny = 50,
  run = run,
}
