-- SPDX-License-Identifier: MIT
-- A workload that is hard for some collectors: 'size' coroutines stay suspended while short-lived tables
-- are created. One coroutine in a hundred is resumed in each round. A collector that traverses every
-- coroutine in every minor collection pays for all of them.

local function worker(id)
  local seen = { id }
  while true do
    local message = coroutine.yield(seen[#seen])
    seen[#seen % 4 + 1] = message.number + id
  end
end

local function run(count)
  local threads = {}
  for i = 1, count do
    threads[i] = coroutine.create(worker)
    assert(coroutine.resume(threads[i], i))
  end
  local sum = 0
  for round = 1, 120 do
    for i = 1, count do
      local message = { number = i, round = round }
      if i % 100 == round % 100 then
        local _, value = assert(coroutine.resume(threads[i], message))
        sum = sum + value
      else
        sum = sum + message.number % 7
      end
    end
  end
  return ("%d suspended, sum %d"):format(#threads, sum)
end

return {
  about = "many suspended coroutines and short-lived tables",
  size = 30000, small = 2000, tiny = 20,
  run = run,
}
