-- A cache with a bound, reached after two thirds of the run; then a random entry is replaced.
local cache, keys, most = {}, {}, 40000
local function remember(k, v)
  if #keys >= most then
    local i = math.random(most)
    cache[keys[i]] = nil
    keys[i] = k
  else
    keys[#keys + 1] = k
  end
  cache[k] = v
end
local function tile(i)
  local pixels = {}
  for p = 1, 12 do pixels[p] = i * p end
  return {number = i, pixels = pixels}
end
local n = 0
for i = 1, 60000 do
  local name = "tile/" .. i % 7 .. "/" .. i
  if not cache[name] then remember(name, tile(i)) end
  n = n + #cache[name].pixels
end
print(n)
