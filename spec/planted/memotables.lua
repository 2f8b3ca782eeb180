-- The verdict must name line 7|8, reason keys, holder memo
-- A function is memoized by its argument, a new table in each call, so that no result is found again.
local function memoize(f)
  local memo = {}
  return function(v)
    local r = memo[v]
    if not r then r = f(v) memo[v] = r end
    return r
  end
end
local norm = memoize(function(v) return {length = math.sqrt(v.x * v.x + v.y * v.y)} end)
local sum = 0
for i = 1, 40000 do
  local velocity = {x = i % 10, y = i % 7}
  sum = sum + norm(velocity).length
end
print(sum)
