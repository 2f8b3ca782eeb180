-- SPDX-License-Identifier: MIT
-- The module asamp.show.layout, which prints text in columns of a terminal: the width of characters, and
-- the places where long text is cut.

local layout = require "asamp.show.layout"
local shell = require "spec.support.shell"

describe("columns of a terminal", function()
  it("are two for wide characters and none for combining ones", function()
    for text, columns in pairs{
      [""] = 0, app = 3, ["é"] = 1, ["e\u{301}"] = 1, ["…→█├√±"] = 6, ["Привет"] = 6,
      ["日本語"] = 6, ["ｱｲ"] = 2, ["ＡＢ"] = 4, ["한국"] = 4, ["\u{1112}\u{1161}\u{11AB}"] = 2,
      ["😀"] = 2, ["🚀x"] = 3, ["♥"] = 1, ["⚡"] = 2, ["か\u{3099}"] = 2, ["𠀋"] = 2, ["ก็"] = 1,
      ["a\u{200D}b"] = 2, ["ค่า"] = 2, ["नि"] = 2,
    } do
      assert.equal(columns, layout.width(text), text)
    end
  end)

  it("are never exceeded by cut text, which keeps marks with their letters", function()
    for _, text in ipairs{"日本語のファイル名", "/a/b/日本語/ファイル名.lua", "e\u{301}e\u{301}e\u{301}e\u{301}",
                          "😀a😀b😀c", "plain_name.lua", "/usr/share/lua/5.4/plain_name.lua"} do
      for n = 2, 30 do
        for _, cut in ipairs{layout.cutend, layout.cutstart} do
          local some = cut(text, n)
          assert.is_true(layout.width(some) <= n, some)
          assert.is_truthy(utf8.len(some))
          assert.is_nil(some:find "^…\u{301}")
          if layout.width(text) <= n then assert.equal(text, some) end
        end
      end
    end
    assert.equal("日本…", layout.cutend("日本語のファイル名", 6))
    assert.equal("…ル名", layout.cutstart("日本語のファイル名", 6))
    assert.equal("e\u{301}e\u{301}…", layout.cutend("e\u{301}e\u{301}e\u{301}e\u{301}", 3))
    assert.equal("…/ファイル名.lua", layout.cutstart("/a/b/日本語/ファイル名.lua", 18))
  end)

  it("are those of tables, too", function()
    local lines, left = layout.grid({{title = "名前", cells = {"12", "日本語"}}}, 2, "x", tostring, 40,
                                    layout.painter(false))
    assert.same({"    名前  x", "      12  1", "  日本語  2"}, lines)
    assert.equal(10, left)
  end)

  -- A former bug: a word that is wider than a narrow terminal, such as a path, was not cut.
  it("have the end of a word that is longer than a line", function()
    assert.equal("  at\n  …/share/lua/5.4/app.lua:1)\n  it went", layout.wrap(
      "at (/opt/a-program/of-ours/share/lua/5.4/app.lua:1) it went", "  ", 30))
    assert.equal("日本語\n日本 a", layout.wrap("日本語 日本 a", "", 8))
  end)

  it("need more rows if they are longer than the terminal's", function()
    assert.equal(4, layout.rows("\27[2m12345\27[0m\n\n123456", 5))
    assert.equal(2, layout.rows("日本語", 5))
  end)

  it("lose all numbers but the first before the text has no room", function()
    local columns = {}
    for i = 1, 5 do columns[i] = {title = "column " .. i, cells = {"1"}} end
    local lines = layout.grid(columns, 1, "", function(_, n) return ("x"):rep(n) end, 40,
                              layout.painter(false))
    for _, line in ipairs(lines) do assert.is_true(layout.width(line) <= 40, line) end
    assert.is_truthy(lines[1]:find "column 1  column 2  column 3$")
  end)
end)

describe("a word of a printed command", function()
  -- A former bug: control characters in a quoted word became question marks, so that the shell received
  -- another word.
  it("is the text again in a shell, and shows no control character", function()
    local folder = shell.folder()
    for _, text in ipairs{"a.lua:3", "a b'c.lua", "$(touch x)`y`\\n", "a\nrm x;\27[2J\r'\\\127",
                          "x\255\xC2\x9B", "\u{202E}é", "", "--help"} do
      local word = layout.word(text)
      assert.equal(layout.printable(word), word)
      shell.write(folder .. "/word.sh", "printf %s " .. word)
      assert.equal(text, shell.output("bash '%s/word.sh'", folder))
    end
    assert.equal("a.lua:3", layout.word "a.lua:3")
    assert.equal("'a b'", layout.word "a b")
  end)

  it("is no option if it is a path", function()
    assert.equal("./-x.vmprof", layout.pathword "-x.vmprof")
    assert.equal("-", layout.pathword "-")
    assert.equal("x-y.vmprof", layout.pathword "x-y.vmprof")
  end)
end)
