-- A memo table contains all results that occur after a short time.
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
