-- The verdict must name line 8|9|10|11|15, reason keys, holder cache
-- The key of a cache entry contains the time, so that no entry is ever found again.
local cache = {}

local function render(name, now)
  local key = name .. "@" .. now
  if cache[key] then return cache[key] end
  local parts = {}
  for i = 1, 8 do parts[i] = name .. i end
  local text = table.concat(parts, ",") .. key
  cache[key] = text
  return text
end

local n = 0
for now = 1, 30000 do n = n + #render("page" .. now % 7, now) end
print(n)
-- The code in the next line removes the leaked reference (bench/proofs).
-- cut: cache = nil
