-- The verdict must name line 7|8, reason list|keys, holder queue
-- More jobs are added to a queue than are removed from it.
local queue = {first = 1, last = 0}

local function push(i)
  queue.last = queue.last + 1
  local job = {id = i, data = {i, i}}
  queue[queue.last] = job
end

local function pop()
  local job = queue[queue.first]
  queue[queue.first] = nil
  queue.first = queue.first + 1
  return job
end

local n = 0
for i = 1, 50000 do
  push(i)
  if i % 3 == 0 then n = n + #pop().data end
end
print(n)
-- The code in the next line removes the leaked reference (bench/proofs).
-- cut: queue = nil
