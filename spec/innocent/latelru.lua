-- No leak: an LRU cache that is full after three quarters of the run.
local N, LIMIT = 100000, 75000
local head, map, n = {}, {}, 0
head.next, head.prev = head, head

local function unlink(e) e.prev.next, e.next.prev = e.next, e.prev end

local function link(e)
  e.next, e.prev = head.next, head
  head.next.prev = e
  head.next = e
end

local function get(key)
  local e = map[key]
  if e then
    unlink(e)
    link(e)
    return e.value
  end
end

local function put(key, value)
  local e = {key = key, value = value}
  map[key] = e
  link(e)
  n = n + 1
  if n > LIMIT then
    local last = head.prev
    unlink(last)
    map[last.key] = nil
    n = n - 1
  end
end

math.randomseed(24)
local hits = 0
for i = 1, N do
  put("k" .. i, {i, "value " .. i})
  hits = hits + (get("k" .. math.random(i)) and 1 or 0)
end
print(n, hits > 0)
