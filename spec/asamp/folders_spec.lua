-- SPDX-License-Identifier: MIT
--
-- Checks the dependencies between the folders of asamp/. For each folder, asamp/build.mk lists the folders
-- whose headers it may include. The compiler receives these include paths and no others.

local shell = require "spec.support.shell"

local RULES = assert(shell.read "asamp/build.mk")

local function words(name)
  local list = {}
  local text = assert(RULES:match("\n" .. name .. " :=([^\n]*)"), name)
  for word in text:gmatch "%S+" do list[#list + 1] = word end
  return list
end

local FOLDERS = words "FOLDERS"
local sees = {}
for _, folder in ipairs(FOLDERS) do
  sees[folder] = {[folder] = true}
  for _, other in ipairs(words("SEES_" .. folder)) do sees[folder][other] = true end
end

-- folder of each header, by the header's base name
local home = {}
for _, path in ipairs(shell.lines(shell.output "ls asamp/*/*.h")) do
  local folder, name = path:match "^asamp/(%w+)/(.+)$"
  assert(not home[name], name .. " is there twice")
  home[name] = folder
end

describe("the files of asamp #plain", function()
  -- A former bug: the sources reader and readerevent called each other, and so did two sources of the
  -- Firefox converter, so that neither of a pair could be understood alone.
  it("have no circle", function()
    local status, out, err = shell.run "spec/circles asamp build/fork/asamp"
    assert.equal(0, status, out .. err)
  end)

  it("are distinguished from those that have one", function()
    local folder = shell.folder()
    local function write(name, text) shell.write(folder .. "/" .. name, text) end
    local function circles()
      shell.output("cd %s && for f in *.c; do gcc -c $f; done", folder)
      local status, out = shell.run(("spec/circles %s %s"):format(folder, folder))
      return status, out
    end
    write("a.h", "void a (void);\nvoid c (void);\n")
    write("a.c", '#include "a.h"\n#include "b.h"\nvoid a (void) { b(); }\n')
    write("b.h", "void b (void);\n")
    write("b.c", '#include "b.h"\nvoid b (void) { }\n')
    assert.same({0, ("no circle among the 2 files of %s\n"):format(folder)}, {circles()})
    write("b.c", '#include "a.h"\n#include "b.h"\nvoid b (void) { }\n')  -- by headers
    assert.equal(1, (circles()))
    write("b.c", '#include "b.h"\nvoid c (void);\nvoid b (void) { c(); }\n')  -- by calls
    write("c.c", '#include "a.h"\nvoid c (void) { a(); }\n')
    local status, out = circles()
    assert.equal(1, status)
    assert.is_truthy(out:find "^circle:" and out:find " c" and out:find " b", out)
  end)
end)

describe("the folders of asamp #plain", function()
  it("are those that have a rule", function()
    local there = shell.lines(shell.output "ls -d asamp/*/")
    for i, path in ipairs(there) do there[i] = path:match "asamp/(%w+)/" end
    local ruled = {table.unpack(FOLDERS)}
    table.sort(ruled)
    assert.same(ruled, there)
  end)

  it("are above all folders that they include, and include the includes of these", function()
    local below = {}
    for _, folder in ipairs(FOLDERS) do
      for other in pairs(sees[folder]) do
        assert.is_truthy(other == folder or below[other], folder .. " sees " .. other)
        for third in pairs(sees[other]) do
          assert.is_truthy(sees[folder][third], folder .. " sees " .. other .. ", not " .. third)
        end
      end
      below[folder] = true
    end
  end)

  it("include nothing that their rule does not name", function()
    local n = 0
    for _, path in ipairs(shell.lines(shell.output "ls asamp/*/*.[ch]")) do
      local folder = path:match "^asamp/(%w+)/"
      for name in assert(shell.read(path)):gmatch '#%s*include%s*"([^"]+)"' do
        n = n + 1
        assert.is_truthy(home[name] == nil or sees[folder][home[name]], path .. " includes " .. name)
        assert.is_nil(name:find("/", 1, true), path .. " includes " .. name)
      end
    end
    assert.is_true(n > 200, n)
  end)

  it("are compiled so that they can include nothing else", function()
    -- Returns true if the header can be compiled with the compiler options of one folder.
    local function compiles(options, header)
      local guard = header == "lua.h" and "lua_h" or "asamp_" .. header:gsub("%.", "_")
      local text = ('#include "%s"\n#if !defined(%s)\n#error another one of the system\n#endif\n')
      local path = os.tmpname()
      shell.write(path, text:format(header, guard))
      local status = shell.run(("gcc -std=gnu99 %s -x c -fsyntax-only %s"):format(options, path))
      return status == 0
    end
    -- one header of each folder, by folder
    local one = {}
    for name, folder in pairs(home) do
      if not one[folder] or name < one[folder] then one[folder] = name end
    end
    for _, folder in ipairs {"base", "file", "unwind", "sample", "read", "convert"} do
      local options = shell.output("make -s -f lua/build.mk V=fork options FOLDER=" .. folder)
      options = options:gsub("%s+", " ")
      for _, other in ipairs(FOLDERS) do
        if one[other] then
          assert.equal(sees[folder][other] or false, compiles(options, one[other]),
                       folder .. " and " .. one[other])
        end
      end
      assert.equal(folder == "sample", compiles(options, "lua.h"), folder .. " and lua.h")
    end
  end)
end)
