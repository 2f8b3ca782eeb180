-- SPDX-License-Identifier: MIT
-- A program with a leak, for doc/quickstart.md: each order subscribes to the bus, and the
-- subscription outlives the order.
local bus = {listeners = {}}

function bus.on(event, f)
  table.insert(bus.listeners, {event = event, call = f})
end

local function order(id)
  local new = {id = id, lines = {}}
  for i = 1, 8 do
    new.lines[i] = {item = "item " .. i, price = i * id % 97}
  end
  bus.on("paid", function() new.paid = true end)
  return new
end

local function invoice(o)
  local text = ""
  for _, line in ipairs(o.lines) do
    text = text .. line.item .. ": " .. line.price .. "\n"
  end
  return text
end

local bytes = 0
for id = 1, 40000 do
  bytes = bytes + #invoice(order(id))
end
print(bytes .. " bytes of invoices")
