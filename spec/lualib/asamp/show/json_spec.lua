-- SPDX-License-Identifier: MIT
local json = require "asamp.show.json"

-- Returns the JSON text without white space.
local function tight(value)
  return (json.encode(value):gsub("\n *", ""):gsub('": ', '":'))
end

describe("json", function()
  it("writes scalars", function()
    assert.equal("7", json.encode(7))
    assert.equal("-9223372036854775808", json.encode(math.mininteger))
    assert.equal("0.5", json.encode(0.5))
    assert.equal(0.1, tonumber(json.encode(0.1)))
    assert.equal("null", json.encode(0 / 0))
    assert.equal("null", json.encode(-math.huge))
    assert.equal("true", json.encode(true))
  end)

  it("escapes strings", function()
    assert.equal([["a\"b\\c\n\t\r\u0000\u001b\u007f/"]],
                 json.encode('a"b\\c\n\t\r\0\27\127/'))
    assert.equal('"é€"', json.encode("é€"))
  end)

  it("writes each ASCII character so that a reader gets it back", function()
    local cjson = require "cjson"
    for c = 0, 127 do
      local text = "a" .. string.char(c) .. "b"
      assert.equal(text, cjson.decode("[" .. json.encode(text) .. "]")[1])
      local plain = c >= 32 and c < 127 and c ~= 34 and c ~= 92
      assert.equal(plain, json.encode(text) == '"' .. text .. '"', c)
    end
  end)

  it("replaces invalid UTF-8", function()
    assert.equal('"a\u{FFFD}b\u{FFFD}"', json.encode("a\255b\200"))
  end)

  it("writes lists and objects, keys in order", function()
    assert.equal('{"a":[1,[],{"b":"c"}],"z":false}',
                 tight{z = false, a = {1, {}, {b = "c"}}})
  end)

  -- Columns of numbers are written in one call. A former bug: a single NaN or infinity in a column made the
  -- page's data invalid JSON.
  it("has null for missing numbers, too", function()
    assert.equal('{"a":[1,null,null,2.5]}', tight{a = {1, -(0 / 0), math.huge, 2.5}})
  end)

  it("writes large values part by part, with the same result", function()
    local rows = {}
    for i = 1, 5000 do
      rows[i] = {name = "f" .. i, self = {i, 2 * i}}
    end
    local parts = {}
    json.write({rows = rows, a = {}}, function(text) parts[#parts + 1] = text end)
    assert.is_true(#parts > 3, #parts)
    assert.equal(json.encode{rows = rows, a = {}} .. "\n", table.concat(parts))
  end)
end)
