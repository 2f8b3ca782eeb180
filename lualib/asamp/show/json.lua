-- SPDX-License-Identifier: MIT
-- Converts Lua values to JSON text. Keys of objects are sorted; bytes that are not UTF-8 become U+FFFD; nan
-- and infinity become null.

local layout = require "asamp.show.layout"

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

-- Replaces the characters that control a terminal (layout.replaced) by JSON escapes in ASCII, such as \u200b.
local function escaped(text)
  local function codes(sequence)
    local c = utf8.codepoint(sequence)
    if c < 0x10000 then
      return ("\\u%04x"):format(c)
    end
    return ("\\u%04x\\u%04x"):format(0xD800 | (c - 0x10000) >> 10, 0xDC00 | (c - 0x10000) & 0x3FF)
  end
  return layout.replaced(text, codes)
end

local function number(n)
  if math.type(n) == "integer" then
    return ("%d"):format(n)
  elseif n ~= n or n == math.huge or n == -math.huge then
    return "null"
  end
  local text = ("%.17g"):format(n)
  -- In some locales, the decimal point is another character.
  return text:find "[^%w.+-]" and text:gsub("[^%w+-]+", ".") or text
end

-- Returns true if a string needs no escapes in JSON: printable ASCII without quotation marks and backslashes.
local function isplain(text)
  -- The ranges in the pattern are # to [, ] to ] and ^ to ~.
  return not text:find "[^ !#-[^-~%]]"
end

local function nothing() end

-- Styles of JSON text:
--
--   - line: a line break, or "" for text without line breaks
--   - step: indentation of each level
--   - colon: text between a key and its value
--   - some(): called after each element of a list; M.write sets it, to write a long text step by step
--   - quoted(text): returns a string as JSON
local OPEN = {line = "\n", step = "  ", colon = ": ", some = nothing,
              quoted = function(text)
                return isplain(text) and '"' .. text .. '"' or escaped(quoted(text))
              end}
local TIGHT = {line = "", step = "", colon = ":", some = nothing, quoted = function(text)
  return (quoted(text):gsub("<", "\\u003c"):gsub("\xE2\x80[\xAA-\xAE]", "?")
                      :gsub("\xE2\x81[\xA6-\xA9]", "?"))
end}

-- Returns true if a table is empty. Uses pairs(), because sums (asamp.sums.totals) have a metamethod __pairs:
-- next() would not see all of their fields.
local function isempty(t)
  local step, state, key = pairs(t)
  return step(state, key) == nil
end

local put

-- Returns true if the locale's decimal point is ".", as in JSON. If it is, table.concat can write numbers.
local function haspoint()
  return tostring(0.5) == "0.5"
end

local function array(out, list, style, line)
  local inner = line .. style.step
  out[#out + 1] = "["
  local numbers = style == TIGHT and haspoint() and math.type(list[1]) == "integer" and
                  table.concat(list, ",")
  -- A number is neither nan nor inf if its text has no "n".
  if numbers and not numbers:find("n", 1, true) then
    out[#out + 1] = numbers
  else
    for i, v in ipairs(list) do
      out[#out + 1] = i == 1 and inner or "," .. inner
      put(out, v, style, inner)
      style.some()
    end
  end
  out[#out + 1] = line .. "]"
end

local function object(out, t, style, line)
  local keys, inner = {}, line .. style.step
  for k in pairs(t) do
    keys[#keys + 1] = k
  end
  table.sort(keys)
  out[#out + 1] = "{"
  for i, k in ipairs(keys) do
    out[#out + 1] = i == 1 and inner or "," .. inner
    out[#out + 1] = style.quoted(k) .. style.colon
    put(out, t[k], style, inner)
  end
  out[#out + 1] = line .. "}"
end

-- Appends the JSON text of a value to the list 'out'. 'line': a line break and the value's indentation, or
-- "" in a style without line breaks.
function put(out, v, style, line)
  local kind = type(v)
  if kind == "table" then
    if isempty(v) then
      out[#out + 1] = "[]"
    else
      (v[1] ~= nil and array or object)(out, v, style, line)
    end
  elseif kind == "string" then
    out[#out + 1] = style.quoted(v)
  else
    out[#out + 1] = kind == "number" and number(v) or tostring(v)
  end
end

--- Returns a value as JSON text. Valid are lists without nil, tables with string keys, strings, numbers and
-- booleans. An empty table becomes an empty list.
function M.encode(value)
  local out = {}
  put(out, value, OPEN, OPEN.line)
  return table.concat(out)
end

-- M.write calls its parameter 'write' whenever the list of unwritten strings has this length.
local PIECES = 10000

--- Writes a value as JSON text, with a newline at its end. Calls write(text) several times for successive
-- parts of the text, because the whole text of a large profile would need more memory than the profile's
-- tables.
function M.write(value, write)
  local out = {}
  local function some()
    if #out >= PIECES then
      write(table.concat(out))
      for i = #out, 1, -1 do
        out[i] = nil
      end
    end
  end
  put(out, value, setmetatable({some = some}, {__index = OPEN}), OPEN.line)
  write(table.concat(out) .. "\n")
end

--- Appends a value to the list 'out' as JSON text that a page can embed: on one line, without "<" and
-- direction marks. If the first element of a list is an integer, all its elements must be numbers.
function M.embed(out, value)
  put(out, value, TIGHT, TIGHT.line)
end

return M
