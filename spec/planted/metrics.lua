-- The verdict must name line 8|9|10, reason keys, holder series
-- The label of each counter contains the number of the request, so that each request adds a counter.
local metrics = {series = {}}

local function observe(route, request, value)
  local label = route .. "{id=" .. request .. "}"
  local s = metrics.series[label]
  if not s then
    s = {count = 0, sum = 0, buckets = {0, 0, 0, 0}}
    metrics.series[label] = s
  end
  s.count, s.sum = s.count + 1, s.sum + value
  return s
end

local n = 0
for i = 1, 30000 do n = n + observe("/items", i, i % 13).count end
print(n)
-- The code in the next line removes the leaked reference (bench/proofs).
-- cut: metrics.series = nil
