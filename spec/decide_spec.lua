-- SPDX-License-Identifier: MIT
-- doc/decide.md: its examples must print the text that follows them.

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

  -- The numbers of estimates are not compared, because they differ between runs.
  it("has commands that print their outputs, except for numbers of estimates", function()
    local text, folder, n = shell.read "doc/decide.md", shell.folder(), 0
    for name, code in text:gmatch "```lua file=(%S+)\n(.-)```" do
      shell.write(folder .. "/" .. name, code)
    end
    local main = process.file [[os.exit(require "asamp".main(arg), true)]]
    for words, wanted in text:gmatch "```\nasamp ([^\n]*)\n```[^`]*```output\n(.-)\n```" do
      local args = {main, directory = folder}
      for word in words:gmatch "%S+" do args[#args + 1] = word end
      local _, out, err = process.run(args)
      local all = (out .. " " .. err):gsub("%s+", " ")
      wanted = wanted:gsub("%s+", " ")
      if wanted:find("±", 1, true) then
        all, wanted = all:gsub("%d[%d.]*", "N"), wanted:gsub("%d[%d.]*", "N")
      end
      assert.is_truthy(all:find(wanted, 1, true), all)
      n = n + 1
    end
    assert.equal(3, n)
  end)
end)
