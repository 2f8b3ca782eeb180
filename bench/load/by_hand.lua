-- SPDX-License-Identifier: MIT
-- A server calls collectgarbage() after each request, so that the cost is that of full collections. Its
-- heap contains 3,000 sessions: small tables, each with its own strings. Each request creates 20 more, one
-- of which replaces an older session. 'size' is the number of requests.

local SESSIONS = 3000
local OTHERS = 20

local function session(id)
  return { id = id, name = "user " .. id, roles = { "reader", "role " .. id % 10 } }
end

local function run(size)
  local sessions, sum = {}, 0
  for i = 1, SESSIONS do sessions[i] = session(i) end
  for i = 1, size do
    local made
    for k = 1, OTHERS do made = session(i * OTHERS + k) end
    local at = i * 7 % SESSIONS + 1
    sum = (sum * 31 + #made.name + sessions[at].id + #sessions[at].roles[2]) % 1000003
    sessions[at] = made
    collectgarbage()
  end
  for _, s in ipairs(sessions) do sum = (sum * 31 + s.id) % 1000003 end
  return sum
end

return {
  about = "collectgarbage() after each request, with some thousand small live tables",
  size = 5000, small = 100, tiny = 5,
  run = run,
}
