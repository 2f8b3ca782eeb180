-- No leak: a binary tree is built first and then only queried.
local root = nil
local function insert(n, k, v)
  if not n then return {k = k, v = v} end
  if k < n.k then n.l = insert(n.l, k, v) else n.r = insert(n.r, k, v) end
  return n
end
math.randomseed(6)
for i = 1, 20000 do root = insert(root, math.random(1e9), "v" .. i) end

local function range(n, a, b, out)
  if not n then return end
  if n.k > a then range(n.l, a, b, out) end
  if n.k >= a and n.k <= b then out[#out + 1] = n.v end
  if n.k < b then range(n.r, a, b, out) end
end
local c = 0
for q = 1, 300 do
  local out = {}
  range(root, q * 1e6, q * 1e6 + 2e7, out)
  c = c + #out
end
print(c > 0)
