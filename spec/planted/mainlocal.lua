-- The verdict must name line 8|9|10|11, reason closures, holder bus
-- Handlers are added to an event bus and never removed; only a local variable of main() holds the bus.
local Bus = {}
Bus.__index = Bus
function Bus:on(f) self.handlers[#self.handlers + 1] = f end

local function request(bus, i)
  local body = {}
  for k = 1, 40 do body[k] = "line " .. (i + k) end
  bus:on(function() return i end)
  return #table.concat(body)
end

local function main()
  local bus = setmetatable({handlers = {}}, Bus)
  local sum = 0
  for i = 1, 60000 do sum = sum + request(bus, i) end
  return sum
end

print(main())
