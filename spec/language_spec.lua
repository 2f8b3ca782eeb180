-- SPDX-License-Identifier: MIT
--
-- The tool spec/language. It counts words and forms in comments, documents and messages that are hard to
-- understand, and compares the counts with limits.

local shell = require "spec.support.shell"

local TOOL = shell.output "pwd":match "[^\n]+" .. "/spec/support/language.lua"

describe("spec/language #plain", function()
  local folder
  before_each(function()
    folder = shell.folder()
    shell.output("cd %s && git init -q . && mkdir asamp lualib doc spec", folder)
  end)
  after_each(function() shell.remove(folder) end)

  local function write(name, text)
    shell.write(folder .. "/" .. name, text)
    shell.output("cd %s && git add %s", folder, name)
  end
  local function run(...)
    return shell.run(("cd %s && lua5.4 %s %s"):format(folder, TOOL, table.concat({...}, " ")))
  end

  it("counts comments, paragraphs and sentences, and no code", function()
    write("asamp/a.c", table.concat({
      "int behind, told;  /* Frees what is behind it. */", "/*", "** ... and tells who is asked.", "*/",
      "/* Is it free? */", 'const char *s = "it began so many times", *t = "behind";', ""}, "\n"))
    write("lualib/a.lua",
          "local beside = 1  -- All but for one\n-- are looked at. What to do: users who wait.\n")
    write("doc/a.md", "It is\nbeside `what is` it.\n\n```\nwhat is told\n```\n")
    local status, out = run("--list asamp")
    assert.equal(0, status)
    local found = {}
    for line, name in out:gmatch "asamp/a%.c:(%d+): (%a+):" do found[#found + 1] = line .. name end
    table.sort(found)
    assert.equal("1behind 1what 2dots 3ask 3tell 3who 5question 6begin 6somany", table.concat(found, " "))
    assert.truthy(select(2, run("--list lualib")):find "lualib/a%.lua:1: butfor:.*lualib/a%.lua:2: look:")
    assert.truthy(select(2, run("--list doc")):find "^doc/a%.md:2: beside:[^:]*\nwhat")
  end)

  it("fails above a limit, and lowers limits only", function()
    write("asamp/a.c", "/* It is told. */\n")
    assert.equal(0, (run("--update")))
    assert.equal(0, (run()))
    write("asamp/a.c", "/* It is told. */\n/* It was told. */\n")
    local status, _, err = run()
    assert.equal(1, status)
    assert.truthy(err:find("asamp has the form 'tell' 2 times, its limit is 1", 1, true), err)
    assert.truthy(err:find("asamp/a.c:2: ", 1, true), err)
    assert.equal(1, (run("--update")))
    assert.equal(1, (run()))
    write("asamp/a.c", "/* Reported. */\n")
    local out
    status, out = run()
    assert.equal(0, status)
    assert.truthy(out:find("1 counts are below their limits", 1, true), out)
    assert.equal(0, (run("--update")))
    assert.truthy(shell.read(folder .. "/spec/language.limits"):find "asamp what=0 tell=0 ")
  end)
end)
