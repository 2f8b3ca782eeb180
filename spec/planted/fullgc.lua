-- The verdict must name line 9, reason gc
-- Each request ends with a full collection of a heap that contains a large index.
local index = {}
for i = 1, 60000 do index[i] = {id = i, name = "item " .. i} end

local function serve(i)
  local rows = {}
  for k = 1, 200 do rows[k] = {index[(i * k) % #index + 1].id} end
  collectgarbage()
  return #rows
end

local n = 0
for i = 1, 60 do n = n + serve(i) end
print(n)
