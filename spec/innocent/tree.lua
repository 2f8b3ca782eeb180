-- No leak: a structure of constant size whose nodes are replaced continuously.
math.randomseed(5)
local tree, n = {}, 0
for i = 1, 4000 do tree[i] = {key = i, left = {}, right = {}} end
for i = 1, 60000 do
  local at = math.random(#tree)
  tree[at] = {key = i, left = {i}, right = {at}}
  n = n + #tree[at].left
end
print(n)
