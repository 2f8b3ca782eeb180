-- The verdict must name line 7, reason list, holder ["undo"]
local Document = {}
Document.__index = Document
function Document.new() return setmetatable({lines = {}, undo = {}}, Document) end
function Document:snapshot()
  local copy = {}
  for i, l in ipairs(self.lines) do copy[i] = l end
  self.undo[#self.undo + 1] = copy
end
function Document:edit(i, text)
  self:snapshot()
  self.lines[i] = text
end
local d = Document.new()
for i = 1, 60 do d.lines[i] = "line " .. i end
for i = 1, 20000 do
  d:edit(i % 60 + 1, "edit " .. i)
end
print(#d.lines)
