-- No leak: uses only constant tables and short strings.
local WORDS = {"one", "two", "three", "four"}
local n = 0
for i = 1, 200000 do
  local s = WORDS[i % 4 + 1] .. i % 50
  n = n + #s
end
print(n)
