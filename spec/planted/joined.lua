-- The verdict must name line 10, reason quadratic
-- Each line is appended to a string in a field, which copies the string; other work is done between.
local Buffer = {}
Buffer.__index = Buffer

local function new() return setmetatable({text = "", n = 0}, Buffer) end

function Buffer:add(s)
  self.n = self.n + 1
  self.text = self.text .. s .. ";"
end

local total = 0
for page = 1, 6 do
  local b = new()
  for i = 1, 1500 do
    local row = {i, page, i * page}
    b:add(("%d-%d"):format(row[1], row[3]))
  end
  total = total + #b.text
end
print(total)
