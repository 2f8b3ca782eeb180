-- The verdict must name line 11|21, reason nested, holder users
-- A fixed number of users, each with a list of notifications that is never emptied.
local users = {}
local User = {}
User.__index = User
for i = 1, 150 do
  users["user" .. i] = setmetatable({unread = 0, inbox = {}}, User)
end
function User:notify(text)
  self.unread = self.unread + 1
  table.insert(self.inbox, {text = text, read = false})
end
function User:read()
  local n = self.unread
  self.unread = 0
  return n
end
local n = 0
for i = 1, 100000 do
  local u = users["user" .. i * 7919 % 150 + 1]
  u:notify("post " .. i)
  n = n + u:read()
end
print(n)
-- The code in the next line removes the leaked reference (bench/proofs).
-- cut: users = nil
