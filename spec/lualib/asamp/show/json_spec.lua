-- SPDX-License-Identifier: MIT
local json = require "asamp.show.json"

-- The text without the white space between its parts.
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

  it("replaces what is no UTF-8", function()
    assert.equal('"a\u{FFFD}b\u{FFFD}"', json.encode("a\255b\200"))
  end)

  it("writes lists and objects, keys in order", function()
    assert.equal('{"a":[1,[],{"b":"c"}],"z":false}',
                 tight{z = false, a = {1, {}, {b = "c"}}})
  end)
end)
