-- No leak: a cache that is full at half of the run. From then on, each new entry replaces a random one.
local Cache = {}
Cache.__index = Cache
function Cache.new(most) return setmetatable({most = most, n = 0, map = {}, keys = {}}, Cache) end
function Cache:put(k, v)
  if self.n < self.most then
    self.n = self.n + 1
    self.keys[self.n] = k
  else
    local i = math.random(self.most)
    self.map[self.keys[i]] = nil
    self.keys[i] = k
  end
  self.map[k] = v
end
local c = Cache.new(90000)
for i = 1, 180000 do c:put("k" .. i, {i, tostring(i), {x = i}}) end
print(c.n)
