-- SPDX-License-Identifier: MIT
-- Names that are too long for a table, and names of unknown C functions. The part of the name that
-- distinguishes it from others must be shown.

local labels = require "asamp.show.labels"
local layout = require "asamp.show.layout"

local function plain(_, text) return text end

describe("a name that is too long", function()
  it("is cut in the middle", function()
    assert.equal("some_lon…ion_one", layout.cutmiddle("some_long_function_one", 16))
    assert.equal("short", layout.cutmiddle("short", 16))
    assert.equal("日本…です", layout.cutmiddle("日本語の名前です", 10))
    for n = 1, 24 do
      for _, text in ipairs{"some_long_function_one", "日本語の名前です", ("e\u{301}"):rep(9)} do
        local cut = layout.cutmiddle(text, n)
        assert.is_true(layout.width(cut) <= n, cut)
        assert.truthy(utf8.len(cut))
      end
    end
  end)

  it("of a function differs from others with its start", function()
    local seen = {}
    for _, name in ipairs{"handle_request_of_client_read", "handle_request_of_client_write",
                          "handle_request_of_client_close"} do
      for _, n in ipairs{24, 30, 40} do
        local row = {name = name, file = "src/app/server.lua", line = 12, native = false}
        for what, text in pairs{f = labels.offunction(row, n, plain), l = labels.ofline(row, 44, plain)} do
          local key = what .. n .. text
          assert.is_nil(seen[key], text)
          seen[key] = true
        end
      end
    end
  end)
end)

describe("a C function without a name", function()
  local function row(place)
    return {name = "liblua5.4-cjson.so.0" .. place, native = true, line = 0,
            file = "/usr/lib/x86_64-linux-gnu/liblua5.4-cjson.so.0"}
  end

  it("has its place in the library", function()
    for n = 24, 80 do
      assert.truthy(labels.offunction(row "+0x3880", n, plain):find("^%+0x3880  "), n)
    end
    assert.equal("+0x3880  [C] liblua5.4-cjson.so.0", labels.offunction(row "+0x3880", 60, plain))
    assert.equal("[C] liblua5.4-cjson.so.0  +0x3880", labels.ofline(row "+0x3880", 60, plain))
  end)

  it("that has a Lua name keeps it where the library is cut", function()
    local decode = row "+0x3880"
    decode.name = "cjson.decode"
    for n = 24, 80 do
      assert.truthy(labels.offunction(decode, n, plain):find("^cjson%.decode  "), n)
    end
  end)

  it("of another library keeps its name", function()
    local other = row "+0x3880"
    other.name = "libx.so+0x3880"
    assert.equal("libx.so+0x3880  [C] liblua5.4-cjson.so.0", labels.offunction(other, 60, plain))
  end)
end)
