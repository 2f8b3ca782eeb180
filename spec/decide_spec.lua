-- SPDX-License-Identifier: MIT
-- The examples of doc/decide.md print the text that follows them.

local process = require "spec.support.process"
local shell = require "spec.support.shell"

describe("doc/decide.md", function()
  it("has examples that print their outputs", function()
    local text, n = shell.read "doc/decide.md", 0
    local at = 1
    while true do
      local _, last, code = text:find("```lua\n(.-)```\n", at)
      if not code then break end
      local _, stop, wanted = text:find("```\n(.-)```\n", last)
      local status, out, err = process.run{code = code}
      assert.equal(0, status, err)
      assert.equal(wanted, (out:gsub("^\n", "")))
      at, n = stop, n + 1
    end
    assert.equal(4, n)
  end)

  it("has a leak that is proved as it says", function()
    local text, folder = shell.read "doc/decide.md", shell.folder()
    local name, code = text:match "```lua file=(%S+)\n(.-)```"
    local words, wanted = text:match "```\nasamp (run %-%-prove%-leaks [^\n]*)\n```.-```output\n(.-)\n```"
    shell.write(folder .. "/" .. name, code)
    local args = {process.file [[os.exit(require "asamp".main(arg), true)]], directory = folder}
    for word in words:gmatch "%S+" do
      args[#args + 1] = word
    end
    local status, _, err = process.run(args)
    assert.equal(0, status, err)
    assert.is_truthy((err:gsub("%s+", " ")):find(wanted, 1, true), err)
  end)
end)
