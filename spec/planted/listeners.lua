-- The verdict must name line 8|9|10, reason closures, holder bus
-- Handlers of an event bus are added for each connection and never removed.
local bus = {listeners = {}}
local function on(f) bus.listeners[#bus.listeners + 1] = f end

local function connect(id)
  local socket = {id = id, buffer = {}}
  for i = 1, 6 do socket.buffer[i] = {i, id} end
  on(function(x) return socket.id == x end)
  return socket
end

local open = 0
for i = 1, 20000 do open = open + #connect(i).buffer end
print(open)
-- The code in the next line removes the leaked reference (bench/proofs).
-- cut: bus.listeners = nil
