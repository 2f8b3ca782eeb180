-- The verdict must name line 9, reason gc
-- The memory limit is below the live bytes, so that each request runs a full collection.
local index = {}
for i = 1, 50000 do index["k" .. i] = {id = i} end

local function serve(i)
  local rows = {}
  for k = 1, 300 do rows[k] = {k, i} end
  if collectgarbage("count") > 2000 then collectgarbage() end
  return #rows
end

local n = 0
for i = 1, 30 do n = n + serve(i) end
print(n, next(index))
