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
end)
