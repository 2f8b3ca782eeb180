-- The verdict must name line 8|13, reason nested, holder topics
-- A fixed number of topics, from whose lists subscribers are never removed.
local topics = {}
for i = 1, 40 do topics[i] = {name = "topic" .. i, subscribers = {}} end
local Subscriber = {}
Subscriber.__index = Subscriber
local function subscribe(i)
  local s = setmetatable({id = i, seen = {}}, Subscriber)
  local list = topics[i % 40 + 1].subscribers
  list[#list + 1] = s
  return s
end
function Subscriber:notify(message) self.seen[1] = message end
local n = 0
for i = 1, 100000 do
  local s = subscribe(i)
  s:notify("hello " .. i)
  n = n + #s.seen[1]
end
print(n)
