-- No leak: a weak cache refers to objects that the program keeps for some time.
local cache = setmetatable({}, {__mode = "v"})
local held, n = {}, 0
for i = 1, 80000 do
  local key = i % 9000
  local v = cache[key]
  if not v then
    v = {key, i, {key}}
    cache[key] = v
  end
  held[i % 500 + 1] = v
  n = n + v[1] % 2
end
print(n, #held)
