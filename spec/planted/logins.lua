-- The verdict must name line 6|7|8, reason keys, holder sessions
-- A session is closed after 9,000 others were opened, but one user in three never logs out.
local sessions, due = {}, {}
local function open(i)
  local id, parts = ("s%06d"):format(i), {}
  for k = 1, 6 do parts[k] = id .. k end
  local user = table.concat(parts)
  sessions[id] = {id = id, cart = {i, i + 1}, user = user, last = i}
  if i % 3 ~= 0 then due[i] = id end
  return id
end
local n = 0
for i = 1, 60000 do
  n = n + #sessions[open(i)].user
  local old = due[i - 9000]
  if old then sessions[old], due[i - 9000] = nil, nil end
end
print(n)
