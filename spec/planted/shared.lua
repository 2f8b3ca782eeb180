-- expect: 5|6 list local
-- One function appends to four lists, and none of them is ever emptied.
local total = 0
local function append(list, i)
  local item = {id = i}
  list[#list + 1] = item
end
local alpha, beta, gamma, delta = {}, {}, {}, {}
for i = 1, 60000 do
  append(alpha, i)
  append(beta, i)
  append(gamma, i)
  append(delta, i)
  local pair = {i, i}
  total = total + #pair
end
print(total)
