-- No leak: a heap of timers. Each timer fires once and is removed, and a session has one timer at a time.
local heap, n = {}, 0
local function push(t)
  n = n + 1
  heap[n] = t
  local i = n
  while i > 1 and heap[i // 2].at > heap[i].at do heap[i], heap[i // 2], i = heap[i // 2], heap[i], i // 2 end
end
local function pop()
  local top = heap[1]
  heap[1], heap[n], n = heap[n], nil, n - 1
  local i = 1
  while true do
    local c = 2 * i
    if c > n then break end
    if c < n and heap[c + 1].at < heap[c].at then c = c + 1 end
    if heap[i].at <= heap[c].at then break end
    heap[i], heap[c], i = heap[c], heap[i], c
  end
  return top
end
local x, fired = 3, 0
local function random(k) x = (x * 16807) % 2147483647 return x % k + 1 end
for s = 1, 300 do push{at = random(100), session = s, f = function() fired = fired + 1 end} end
for _ = 1, 60000 do
  local t = pop()
  t.f()
  local session = t.session
  push{at = t.at + random(100), session = session, f = function() fired = fired + session % 2 end}
end
print(fired)
