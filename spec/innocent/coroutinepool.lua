-- No leak: coroutines either end or are used again.
local function worker()
  local n = 0
  while true do
    local job = coroutine.yield(n)
    n = n + #job
  end
end
local pool = {}
for i = 1, 50 do
  pool[i] = coroutine.create(worker)
  coroutine.resume(pool[i])
end
local n = 0
for i = 1, 60000 do
  local _, r = coroutine.resume(pool[i % 50 + 1], {i, i})
  n = n + r
end
for i = 1, 3000 do
  local co = coroutine.wrap(function() coroutine.yield({i}) return i end)
  co()
  n = n + co()
end
print(n)
