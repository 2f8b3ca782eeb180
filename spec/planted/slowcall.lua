-- The verdict must name line 7, reason c
-- A pattern with several '.-' backtracks over all combinations before it fails.
local line = ("a"):rep(300) .. "b"
local n = 0

local function check(s)
  if s:find(".-.-.-c") then n = n + 1 end
  return #s
end

for i = 1, 6 do n = n + check(line:sub(1, 120 + i)) end
print(n)
