-- The verdict must name line 9|10|11, reason keys, holder registry
-- Sessions are registered by name, and logout does not remove them.
local M = {registry = {}}

local function login(user, i)
  local token = user .. ":" .. i
  local session = M.registry[token]
  if not session then
    session = {user = user, rights = {"read", "write"}}
    session.cart = {i, i + 1, i + 2, i + 3}
    M.registry[token] = session
  end
  return session
end

local function logout(session) session.cart = nil end

local n = 0
for i = 1, 30000 do
  local s = login("user" .. i % 50, i)
  n = n + #s.cart
  if i % 2 == 0 then logout(s) end
end
print(n)
-- The code in the next line removes the leaked reference (bench/proofs).
-- cut: M.registry = nil
