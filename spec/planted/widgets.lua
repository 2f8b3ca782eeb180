-- The verdict must name line 9|22|23|24|25|36, reason maybe|chain|closures, holder theme
-- Closed dialogs still listen to the theme. The program ends with work that adds no listener, so it may
-- be a list that is loaded once.
local Emitter = {}
Emitter.__index = Emitter
function Emitter.new() return setmetatable({first = {}}, Emitter) end

function Emitter:on(name, f)
  self.first[name] = {f = f, next = self.first[name]}
end

function Emitter:emit(name, ...)
  local node = self.first[name]
  while node do
    node.f(...)
    node = node.next
  end
end

local theme = Emitter.new()
local function dialog(title)
  local d = {title = title, width = 40, buttons = {"ok", "cancel"}}
  theme:on("changed", function(color)
    d.color = color
  end)
  function d:draw()
    local rows = {}
    for i = 1, 8 do rows[i] = (" "):rep(self.width - i) .. self.title end
    return rows
  end
  return d
end

local n = 0
for i = 1, 25000 do
  local d = dialog("dialog " .. i)
  for _ = 1, 3 do n = n + #d:draw() end
end
for i = 1, 3 do theme:emit("changed", "color" .. i) end
print(n)
