-- No leak: decodes one large document, then adds up its numbers.
local parts = {}
for i = 1, 20000 do parts[i] = ('{"id":%d,"tags":["a","b"],"name":"n%d"}'):format(i, i) end
local src = "[" .. table.concat(parts, ",") .. "]"
local pos = 1
local value
local function ws() pos = src:find("%S", pos) or #src + 1 end
local function str()
  local e = src:find('"', pos + 1, true)
  local s = src:sub(pos + 1, e - 1)
  pos = e + 1
  return s
end
function value()
  ws()
  local c = src:sub(pos, pos)
  if c == "{" then
    local o = {}
    pos = pos + 1
    while true do
      ws()
      if src:sub(pos, pos) == "}" then pos = pos + 1 return o end
      if src:sub(pos, pos) == "," then pos = pos + 1 end
      ws()
      local k = str(); ws(); pos = pos + 1
      o[k] = value()
    end
  elseif c == "[" then
    local a = {}
    pos = pos + 1
    while true do
      ws()
      if src:sub(pos, pos) == "]" then pos = pos + 1 return a end
      if src:sub(pos, pos) == "," then pos = pos + 1 end
      a[#a + 1] = value()
    end
  elseif c == '"' then return str()
  else
    local n = src:match("^-?%d+", pos)
    pos = pos + #n
    return tonumber(n)
  end
end
local doc = value()
local sum = 0
for _, o in ipairs(doc) do sum = sum + o.id + #o.tags end
print(sum)
