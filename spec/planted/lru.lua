-- The verdict must name line 17|18, reason keys, holder index
-- An LRU cache of 100 entries. The eviction removes the oldest node, but not its entry in the index.
local Cache = {}
Cache.__index = Cache

function Cache.new(size)
  local head = {}
  head.next, head.prev = head, head
  return setmetatable({size = size, n = 0, head = head, index = {}}, Cache)
end

function Cache:put(key, value)
  if self.n == self.size then
    local last = self.head.prev
    last.prev.next, last.next.prev = last.next, last.prev
    self.n = self.n - 1
  end
  local node = {key = key, value = value, prev = self.head, next = self.head.next}
  self.index[key] = node
  self.head.next.prev, self.head.next = node, node
  self.n = self.n + 1
end

function Cache:get(key)
  local node = self.index[key]
  return node and node.value
end

local cache, hits = Cache.new(100), 0
for i = 1, 60000 do
  local key = "page" .. i // 2
  if cache:get(key) then hits = hits + 1 else cache:put(key, {title = "Page", at = i}) end
end
print(hits)
