-- No leak: builds a sieve of prime numbers, and reads it in several passes.
local function sieve(n)
  local is = {}
  for i = 2, n do is[i] = true end
  for i = 2, math.floor(n ^ 0.5) do
    if is[i] then for k = i * i, n, i do is[k] = false end end
  end
  return is
end
local is = sieve(400000)
local count = 0
for _ = 1, 3 do
  for i = 2, 400000 do if is[i] then count = count + 1 end end
end
print(count)
