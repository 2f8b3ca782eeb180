-- SPDX-License-Identifier: MIT
-- A queue of 300 messages. Each new message replaces the oldest one.
local queue, first = {}, 1
for i = 1, 4000 do
  queue[i] = { id = i, body = "message " .. i }
  if i - first >= 300 then queue[first], first = nil, first + 1 end
end
assert(queue[first].id == first)
