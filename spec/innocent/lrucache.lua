-- No leak: an LRU cache of 500 entries, which removes the oldest entry when it is full.
local Cache = {}
Cache.__index = Cache
function Cache.new(size)
  local head = {}
  head.next, head.prev = head, head
  return setmetatable({size = size, n = 0, head = head, index = {}}, Cache)
end
local function unlink(node) node.prev.next, node.next.prev = node.next, node.prev end
local function link(head, node)
  node.prev, node.next = head, head.next
  head.next.prev, head.next = node, node
end
function Cache:get(key)
  local node = self.index[key]
  if node then unlink(node) link(self.head, node) return node.value end
end
function Cache:put(key, value)
  if self.n == self.size then
    local last = self.head.prev
    unlink(last)
    self.index[last.key] = nil
    self.n = self.n - 1
  end
  local node = {key = key, value = value}
  self.index[key] = node
  link(self.head, node)
  self.n = self.n + 1
end
local cache, hits, x = Cache.new(500), 0, 1
for i = 1, 100000 do
  x = (x * 16807) % 2147483647
  local key = "k" .. math.min(x % 2000, x % 700)
  if cache:get(key) then hits = hits + 1 else cache:put(key, {data = key .. i, at = i}) end
end
print(hits)
