-- The verdict must name line 8, reason strings
-- For each word, the rest of a text is copied to a new string.
local text = ("word "):rep(900)

local function count(s)
  local n = 0
  while #s > 0 do
    s = s:sub(6)
    n = n + 1
  end
  return n
end

local n = 0
for _ = 1, 30 do n = n + count(text) end
print(n)
