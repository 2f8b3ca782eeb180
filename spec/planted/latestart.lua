-- The verdict must name line 6|9|10, reason maybe|keys|list, holder subscribers
-- Clients unsubscribe in the first half of the run only: a longer run would show whether the table that
-- starts to grow then is a leak.
local hub = {subscribers = {}, count = 0}

local function connect(id) return {id = id, inbox = {}, name = "client " .. id} end
local function subscribe(client)
  hub.count = hub.count + 1
  local ticket = {client = client, number = hub.count}
  hub.subscribers[hub.count] = ticket
  return ticket
end
local function unsubscribe(ticket) hub.subscribers[ticket.number] = nil end

local function work(client)
  local n = 0
  for k = 1, 20 do
    local message = {from = client.name, text = "text " .. k}
    n = n + #message.text
  end
  return n
end

local n = 0
for i = 1, 50000 do
  local client = connect(i)
  local ticket = subscribe(client)
  n = n + work(client)
  if i <= 25000 then unsubscribe(ticket) end
end
print(n)
