-- SPDX-License-Identifier: MIT
-- Packets, which are strings of 300 to 8,000 bytes, are created and dropped while the heap contains many
-- small objects. Each packet is stored in the queue of its connection, and removed when four newer ones
-- have arrived there. 'size' is the number of packets.

local CONNECTIONS = 20000
local QUEUE = 4
local LENGTHS = { 300, 600, 1400, 3000, 8000 }

local function run(size)
  local connections, payloads, sum, active = {}, {}, 0, 30
  for i = 1, CONNECTIONS do connections[i] = { id = i, queue = {}, first = 1, last = 0 } end
  for i, length in ipairs(LENGTHS) do payloads[i] = ("abcdefgh"):rep(length // 8) end
  for i = 1, size do
    local c = connections[i * 7 % active * 500 + 1]
    c.last = c.last + 1
    c.queue[c.last] = "packet " .. i .. "\n" .. payloads[i % #LENGTHS + 1]
    if c.last - c.first >= QUEUE then
      local packet = c.queue[c.first]
      c.queue[c.first], c.first = nil, c.first + 1
      sum = (sum + #packet + packet:byte(i % #packet + 1)) % 1000003
    end
  end
  return sum
end

return {
  about = "packets of 300 to 8,000 bytes in queues of connections",
  size = 2000000, small = 10000, tiny = 500,
  run = run,
}
