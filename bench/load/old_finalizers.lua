-- SPDX-License-Identifier: MIT
-- A cache of handles with finalizers, and 20,000 live records. A handle is old when it is replaced, so that
-- minor collections do not find it, and the heap does not grow. A collector that starts major collections
-- only when the heap grows calls the finalizers too late. 'size' is the number of objects; every fiftieth
-- one is a handle, all others are short-lived.

local function run(size)
  local live, handles, closed, opened = {}, {}, 0, 0
  for i = 1, 20000 do live[i] = { i } end
  local mt = { __gc = function() closed = closed + 1 end }
  local most = 0
  for i = 1, size do
    local t = { i }
    if i % 50 == 0 then
      opened = opened + 1
      handles[opened % 100] = setmetatable(t, mt)
      most = math.max(most, opened - closed)
    end
  end
  assert(closed <= opened and most >= 100 or size < 10000)
  return ("%d opened, %d records, %d kept"):format(opened, #live, #handles)
end

return {
  about = "handles with finalizers that die old",
  size = 5000000, small = 100000, tiny = 100,
  run = run,
}
