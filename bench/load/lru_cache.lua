-- SPDX-License-Identifier: MIT
-- A least-recently-used cache: a map from keys to nodes, which also form a doubly linked list in the order
-- of use. A miss creates a node and drops the least recently used one. Nodes are old when they die, and
-- live nodes are written to all the time. 'size' is the number of lookups.

local CAPACITY = 20000
local KEYS = 40000

local function cut(node)
  node.prev.next, node.next.prev = node.next, node.prev
end

local function push(ring, node)
  local first = ring.next
  node.prev, node.next = ring, first
  ring.next, first.prev = node, node
end

local function run(lookups)
  local ring = {}
  ring.prev, ring.next = ring, ring
  local nodes, held = {}, 0
  local hits, sum = 0, 0
  for i = 1, lookups do
    -- takes the smaller of two random keys, so that low keys are requested more often
    local key = math.min(math.random(KEYS), math.random(KEYS))
    local node = nodes[key]
    if node then
      hits = hits + 1
      cut(node)
    else
      if held == CAPACITY then
        local oldest = ring.prev
        cut(oldest)
        nodes[oldest.key] = nil
      else
        held = held + 1
      end
      node = { key = key, value = { born = i } }
      nodes[key] = node
    end
    push(ring, node)
    sum = sum + node.value.born % 1000
  end
  return ("%d hits, %d held, sum %d"):format(hits, held, sum)
end

return {
  about = "cache of linked tables, oldest dropped",
  size = 1500000, small = 100000, tiny = 500,
  run = run,
}
