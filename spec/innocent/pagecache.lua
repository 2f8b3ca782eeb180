-- No leak: a proxy's cache of pages. After four fifths of the run it is full, and each page replaces a
-- random one.
math.randomseed(22)
local LIMIT = 24000
local slots, byname = {}, {}

local function fetch(name)
  local lines = {}
  for i = 1, 6 do lines[i] = name .. " line " .. i end
  return table.concat(lines, "\n")
end

local function page(name)
  local slot = byname[name]
  if slot then return slots[slot].text end
  local text = fetch(name)
  local i
  if #slots < LIMIT then
    i = #slots + 1
  else
    i = math.random(LIMIT)
    byname[slots[i].name] = nil
  end
  slots[i] = {name = name, text = text}
  byname[name] = i
  return text
end

local n = 0
for i = 1, 60000 do
  n = n + #page("page/" .. (i % 2 == 0 and i or math.random(i)))
end
print(n)
