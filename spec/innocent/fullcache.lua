-- No leak: a cache that drops its oldest entry when it is full.
local cache, order, first, last = {}, {}, 1, 0
local function get(key)
  local v = cache[key]
  if v then return v end
  v = {key = key, data = {key, key}}
  cache[key] = v
  last = last + 1
  order[last] = key
  if last - first >= 3000 then
    cache[order[first]] = nil
    order[first] = nil
    first = first + 1
  end
  return v
end
local n = 0
for i = 1, 80000 do n = n + #get("key" .. (i * 7919) % 20011).data end
print(n)
