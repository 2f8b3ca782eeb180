-- The verdict must name line 8|9|11|27, reason list|keys, holder pending
-- A client keeps each request until its answer arrives. One answer in five is lost, and nothing removes the
-- request.
local pending, outbox, id, done = {}, {}, 0, 0

local function request(method, n, callback)
  id = id + 1
  local args = {n, n * 2}
  pending[id] = {id = id, method = method, args = args, callback = callback}
  -- the network delivers messages in batches
  outbox[#outbox + 1] = {id = id, body = method .. ":" .. n}
end

local function answer(message)
  local r = pending[message.id]
  pending[message.id] = nil
  r.callback(#message.body)
end

local function deliver()
  for i, message in ipairs(outbox) do
    if message.id % 5 > 0 then answer(message) end
    outbox[i] = nil
  end
end

for i = 1, 200000 do
  request("balance", i, function(n) done = done + n end)
  if i % 300 == 0 then deliver() end
end
print(done)
