-- No leak: converts lines to JSON with a recursive encoder, and prints the document at the end.
local function encode(v)
  if type(v) == "table" then
    local parts = {}
    if #v > 0 then
      for i, e in ipairs(v) do parts[i] = encode(e) end
      return "[" .. table.concat(parts, ",") .. "]"
    end
    for k, e in pairs(v) do parts[#parts + 1] = ("%q:%s"):format(k, encode(e)) end
    return "{" .. table.concat(parts, ",") .. "}"
  end
  return type(v) == "string" and ("%q"):format(v) or tostring(v)
end
local lines = {}
for i = 1, 8000 do
  lines[#lines + 1] = encode{id = i, tags = {"a", "b", i % 7}, user = {name = "u" .. i, roles = {"x", "y"}}}
end
print("[" .. table.concat(lines, ",\n") .. "]")
