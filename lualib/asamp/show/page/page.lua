-- SPDX-License-Identifier: MIT
-- The page's template, and a page with data in it. The template is built from
-- view/ by `make view` into asamp/page.html, where modules are. Data are embedded
-- as JSON in which no "<" is left, so that nothing in a name or in a source
-- line can end the element or begin another:
--   VP1  no byte of a profile or a source file reaches the page but as the
--        content of a JSON string or as a number.

local json = require "asamp.show.json"

local M = {}

local MARK = "@DATA@"

--- The template's text; nil and what to do when it is not built.
function M.template()
  local path = package.searchpath("asamp.page",
                                  (package.path:gsub("%.lua", ".html")))
  local file = path and io.open(path, "rb")
  if not file then
    return nil, "the page is not built into this installation; run: make view"
  end
  local text = file:read "a"
  file:close()
  return text
end

local encode

local function list(out, values)
  if math.type(values[1]) == "integer" then
    out[#out + 1] = "[" .. table.concat(values, ",") .. "]"
    return
  end
  out[#out + 1] = "["
  for i, value in ipairs(values) do
    out[#out + 1] = i > 1 and "," or nil
    encode(out, value)
  end
  out[#out + 1] = "]"
end

local function object(out, values)
  local keys = {}
  for key in pairs(values) do
    keys[#keys + 1] = key
  end
  table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
  for i, key in ipairs(keys) do
    out[#out + 1] = i == 1 and "{" or ","
    encode(out, tostring(key))
    out[#out + 1] = ":"
    encode(out, values[key])
  end
  out[#out + 1] = "}"
end

-- Appends the JSON text of a value. A list begins with an element of the kind
-- of all (columns of integers are written at once); tables without [1] are
-- objects, empty ones empty lists.
function encode(out, value)
  if type(value) == "table" then
    if next(value) == nil then
      out[#out + 1] = "[]"
    elseif value[1] ~= nil then
      list(out, value)
    else
      object(out, value)
    end
  else
    out[#out + 1] = (json.encode(value):gsub("<", "\\u003c"))
  end
end

--- The page with the data in it.
function M.fill(template, columns)
  local from, to = template:find(MARK, 1, true)
  local out = {template:sub(1, from - 1)}
  encode(out, columns)
  out[#out + 1] = template:sub(to + 1)
  return table.concat(out)
end

return M
