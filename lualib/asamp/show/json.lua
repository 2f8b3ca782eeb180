-- SPDX-License-Identifier: MIT
-- Lua values as JSON text. Pure; knows nothing of profiles. Keys of objects
-- come in alphabetical order, so that equal values give equal text. Bytes
-- that are no UTF-8 become U+FFFD.

local M = {}

local ESCAPES = {['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n",
                 ["\r"] = "\\r", ["\t"] = "\\t"}

local function valid(text)
  local parts, from = {}, 1
  while true do
    local ok, bad = utf8.len(text, from)
    if ok then
      parts[#parts + 1] = text:sub(from)
      return table.concat(parts)
    end
    parts[#parts + 1] = text:sub(from, bad - 1) .. "\u{FFFD}"
    from = bad + 1
  end
end

local function quoted(text)
  return '"' .. valid(text):gsub('[%c"\\\127]', function(c)
    return ESCAPES[c] or ("\\u%04x"):format(c:byte())
  end) .. '"'
end

local function number(n)
  if math.type(n) == "integer" then
    return ("%d"):format(n)
  elseif n ~= n or n == math.huge or n == -math.huge then
    return "null"
  end
  return ("%.17g"):format(n)
end

local encode

local function array(list, indent)
  local parts = {}
  for i, v in ipairs(list) do
    parts[i] = indent .. "  " .. encode(v, indent .. "  ")
  end
  return "[\n" .. table.concat(parts, ",\n") .. "\n" .. indent .. "]"
end

local function object(t, indent)
  local keys, parts = {}, {}
  for k in pairs(t) do
    keys[#keys + 1] = k
  end
  table.sort(keys)
  for i, k in ipairs(keys) do
    parts[i] = indent .. "  " .. quoted(k) .. ": " ..
               encode(t[k], indent .. "  ")
  end
  return "{\n" .. table.concat(parts, ",\n") .. "\n" .. indent .. "}"
end

function encode(v, indent)
  local kind = type(v)
  if kind == "table" then
    if next(v) == nil then
      return "[]"
    end
    return (v[1] ~= nil and array or object)(v, indent)
  elseif kind == "string" then
    return quoted(v)
  elseif kind == "number" then
    return number(v)
  end
  return tostring(v)
end

--- The text of a value: nil-free lists, tables with string keys, strings,
-- numbers, booleans. An empty table is an empty list.
function M.encode(value)
  return encode(value, "")
end

return M
