-- SPDX-License-Identifier: MIT
-- orders.lua without its leak: the bus forgets the subscription when the order ends. An
-- invoice is made of its parts at once.
local bus = {listeners = {}}

function bus.on(event, f)
  table.insert(bus.listeners, {event = event, call = f})
end

function bus.off(f)
  for i = #bus.listeners, 1, -1 do
    if bus.listeners[i].call == f then return table.remove(bus.listeners, i) end
  end
end

local function order(id)
  local new = {id = id, lines = {}}
  for i = 1, 8 do
    new.lines[i] = {item = "item " .. i, price = i * id % 97}
  end
  new.paid = function() new.done = true end
  bus.on("paid", new.paid)
  return new
end

local function invoice(o)
  local parts = {}
  for _, line in ipairs(o.lines) do
    parts[#parts + 1] = line.item .. ": " .. line.price .. "\n"
  end
  bus.off(o.paid)
  return table.concat(parts)
end

local bytes = 0
for id = 1, 40000 do
  bytes = bytes + #invoice(order(id))
end
print(bytes .. " bytes of invoices")
