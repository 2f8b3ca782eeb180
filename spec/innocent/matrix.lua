-- No leak: multiplies matrices of numbers, whose arrays exist from the start.
local n = 200
local a, b, c = {}, {}, {}
for i = 1, n do
  a[i], b[i], c[i] = {}, {}, {}
  for k = 1, n do a[i][k], b[i][k], c[i][k] = i + k, i - k, 0 end
end
for i = 1, n do
  local ci, ai = c[i], a[i]
  for k = 1, n do
    local x, bk = ai[k], b[k]
    for j = 1, n, 2 do ci[j] = ci[j] + x * bk[j] end
  end
end
print(c[1][1])
