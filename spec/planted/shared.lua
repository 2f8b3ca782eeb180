-- The verdict must name line 5|6, reason list, holder local
-- One function appends to four lists, none of which is ever emptied.
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
