-- SPDX-License-Identifier: MIT
-- JSON in Lua: a document of nested records is encoded, decoded by a recursive parser that uses
-- string.find, and encoded again. Both texts must be equal; therefore the keys of objects are sorted.
-- 'size' is the number of round trips.

local ESCAPES = {
  ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\t"] = "\\t", ["\r"] = "\\r",
}
local UNESCAPES = { b = "\b", f = "\f", n = "\n", r = "\r", t = "\t" }
local CONSTANTS = { ["true"] = true, ["false"] = false }

local write_value

local function write_string(text)
  return '"' .. text:gsub('[%c"\\]', function(c)
    return ESCAPES[c] or ("\\u%04x"):format(c:byte())
  end) .. '"'
end

local function write_array(array, out)
  out[#out + 1] = "["
  for i = 1, #array do
    if i > 1 then out[#out + 1] = "," end
    write_value(array[i], out)
  end
  out[#out + 1] = "]"
end

local function write_object(object, out)
  local keys = {}
  for key in pairs(object) do keys[#keys + 1] = key end
  table.sort(keys)
  out[#out + 1] = "{"
  for i, key in ipairs(keys) do
    if i > 1 then out[#out + 1] = "," end
    out[#out + 1] = write_string(key)
    out[#out + 1] = ":"
    write_value(object[key], out)
  end
  out[#out + 1] = "}"
end

function write_value(value, out)
  local kind = type(value)
  if kind == "table" then
    if value[1] ~= nil then write_array(value, out) else write_object(value, out) end
  elseif kind == "string" then
    out[#out + 1] = write_string(value)
  elseif math.type(value) == "float" then
    out[#out + 1] = ("%.14g"):format(value)
  else
    out[#out + 1] = tostring(value)
  end
end

local function encode(value)
  local out = {}
  write_value(value, out)
  return table.concat(out)
end

local read_value

local function skip(text, at) return text:find("[^ \n\t\r]", at) or #text + 1 end

local function read_string(text, at)
  local from, parts = at + 1, nil
  while true do
    local stop = text:find('["\\]', from)
    if not stop then error(("unfinished string at %d"):format(at)) end
    local piece = text:sub(from, stop - 1)
    if text:byte(stop) == 34 then
      if not parts then return piece, stop + 1 end
      parts[#parts + 1] = piece
      return table.concat(parts), stop + 1
    end
    parts = parts or {}
    parts[#parts + 1] = piece
    local letter = text:sub(stop + 1, stop + 1)
    if letter == "u" then
      parts[#parts + 1] = utf8.char(tonumber(text:sub(stop + 2, stop + 5), 16))
      from = stop + 6
    else
      parts[#parts + 1] = UNESCAPES[letter] or letter
      from = stop + 2
    end
  end
end

local function read_array(text, at)
  local array = {}
  at = skip(text, at + 1)
  if text:byte(at) == 93 then return array, at + 1 end
  while true do
    array[#array + 1], at = read_value(text, at)
    at = skip(text, at)
    local byte = text:byte(at)
    if byte == 93 then return array, at + 1 end
    if byte ~= 44 then error(("comma expected at %d"):format(at)) end
    at = skip(text, at + 1)
  end
end

local function read_object(text, at)
  local object = {}
  at = skip(text, at + 1)
  if text:byte(at) == 125 then return object, at + 1 end
  while true do
    local key
    key, at = read_string(text, at)
    at = skip(text, at)
    object[key], at = read_value(text, skip(text, at + 1))
    at = skip(text, at)
    local byte = text:byte(at)
    if byte == 125 then return object, at + 1 end
    if byte ~= 44 then error(("comma expected at %d"):format(at)) end
    at = skip(text, at + 1)
  end
end

function read_value(text, at)
  local byte = text:byte(at)
  if byte == 123 then return read_object(text, at) end
  if byte == 91 then return read_array(text, at) end
  if byte == 34 then return read_string(text, at) end
  local word = text:match("^[%w.+-]+", at)
  if CONSTANTS[word] ~= nil then return CONSTANTS[word], at + #word end
  return assert(tonumber(word), word), at + #word
end

local function document(entries)
  local list = {}
  for i = 1, entries do
    list[i] = {
      id = i, price = i / 8, active = i % 3 == 0,
      name = "entry " .. i, note = 'line\none\t"' .. i % 17 .. '" \\ end\1',
      tags = { "t" .. i % 5, "u" .. i % 7, "v" .. i % 11 },
      place = { x = i % 100, y = -i, label = { "north", "west" } },
    }
  end
  return { kind = "list", version = 1, entries = list }
end

local function run(trips)
  local value = document(500)
  local first = encode(value)
  local bytes = 0
  for _ = 1, trips do
    local text = encode(value)
    value = read_value(text, 1)
    assert(text == first, "the document changed on its way")
    bytes = bytes + #text
  end
  return ("%d bytes, last entry %s"):format(bytes, value.entries[500].name)
end

return {
  about = "JSON encoded and decoded in Lua",
  size = 80, small = 5, tiny = 1,
  run = run,
}
