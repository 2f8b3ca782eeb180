-- No leak: a full cache, in which each new entry replaces a random one.
math.randomseed(7)
local cache, n = {}, 0
for i = 1, 150000 do
  local slot = math.random(6000)
  if math.random(3) == 1 then
    cache[slot] = {at = i, value = {i, slot}}
  else
    n = n + (cache[slot] and 1 or 0)
  end
end
print(n > 0)
