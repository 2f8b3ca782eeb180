-- No leak: a memo table, which after a short time contains all results that can occur.
local memo, calls = {}, 0
local function slow(n)
  local v = memo[n]
  if not v then
    calls = calls + 1
    v = {n, n * n, tostring(n)}
    memo[n] = v
  end
  return v
end
local sum = 0
for i = 1, 300000 do
  local pair = {i, slow(i % 4000)}
  sum = sum + pair[2][2] % 5
end
print(sum, calls)
