-- No leak: compiles templates once, keeps the compiled functions, and renders pages.
local cache = {}
local function compile(text)
  local f = cache[text]
  if not f then
    local parts = {"local v = ... local out = {}"}
    for literal, name in text:gmatch "([^{]*){?(%w*)}?" do
      if literal ~= "" then parts[#parts + 1] = ("out[#out + 1] = %q"):format(literal) end
      if name ~= "" then parts[#parts + 1] = ("out[#out + 1] = tostring(v.%s)"):format(name) end
    end
    parts[#parts + 1] = "return table.concat(out)"
    f = assert(load(table.concat(parts, "\n"), "=template"))
    cache[text] = f
  end
  return f
end
local templates = {}
for i = 1, 60 do templates[i] = "<p id='" .. i .. "'>{name} has {count} new messages since {day}</p>" end
local n = 0
for i = 1, 30000 do
  local page = compile(templates[i % #templates + 1])
  n = n + #page{name = "user" .. i, count = i % 9, day = "monday"}
end
print(n)
