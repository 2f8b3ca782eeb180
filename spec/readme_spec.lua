-- SPDX-License-Identifier: MIT
--
-- The documents for newcomers. The console blocks of README.md, the quick start, the manual and
-- doc/fleet.md must run as they are, and print the words that they show. The README must be short, and its
-- pictures small.

local shell = require "spec.support.shell"

-- Returns the console blocks of a document. Each is a list of {command, output}. A command continues on the
-- next line after a backslash.
local function blocks(path)
  local list, block, command = {}, nil, nil
  for line in shell.read(path):gmatch "([^\n]*)\n" do
    if line == "```console" then
      block, command = {}, nil
      list[#list + 1] = block
    elseif line == "```" then
      block = nil
    elseif block and line:find "^%$ " then
      command = {text = line:sub(3), output = {}}
      block[#block + 1] = command
    elseif block and command.text:find "\\$" and #command.output == 0 then
      command.text = command.text .. "\n" .. line
    elseif block then
      table.insert(command.output, line)
    end
  end
  return list
end

-- Returns the set of words of four letters or more in a text. Numbers are excluded, because they differ
-- between runs.
local function words(text)
  local set = {}
  for word in text:gmatch "%a%a%a%a+" do set[word] = true end
  return set
end

-- For each document, a function that writes the files that its console blocks use to a folder.
local SETUP = {
  ["README.md"] = function() end,
  ["doc/quickstart.md"] = function() end,
  ["doc/manual.md"] = function(folder)
    local app = shell.read "doc/manual.md":match "\nThe program `app.lua`:\n\n```lua\n(.-)```"
    shell.write(folder .. "/app.lua", app)
    shell.write(folder .. "/snapshot.lua", app:gsub("100 do", "10 do")
      .. 'require "profiler".snapshot("app.heap", {wait = true})\n')
    shell.output("cd %s && build/bin/lua snapshot.lua && rm snapshot.lua", folder)
  end,
  ["doc/fleet.md"] = function(folder)
    shell.write(folder .. "/web.lua", "for i = 1, 1000 do local t = {i} end\n")
    for i = 1, 3 do
      shell.output("cd %s && build/bin/asamp run --quiet --alloc 4K --out web%d.vmprof web.lua", folder, i)
    end
  end,
}

describe("the console blocks #plain", function()
  for path, setup in pairs(SETUP) do
    it("run as they are copied, and print their words: " .. path, function()
      local folder = shell.folder()
      shell.output('ln -s "$PWD/build" %s', folder)
      shell.output("mkdir %s/doc && cp -r doc/examples %s/doc", folder, folder)
      setup(folder)
      local script, commands = {"cd " .. folder, "set -e", "PATH=$PWD/build/bin:$PATH"}, {}
      for _, block in ipairs(blocks(path)) do
        for _, command in ipairs(block) do
          commands[#commands + 1] = command
          script[#script + 1] = ("{ %s\n} >%s/%d.out 2>&1"):format(command.text, folder, #commands)
        end
      end
      shell.write(folder .. "/script", table.concat(script, "\n") .. "\n")
      local status, _, err = shell.run("sh " .. folder .. "/script")
      for i, command in ipairs(commands) do
        local out = shell.read(("%s/%d.out"):format(folder, i)) or ""
        assert.is_falsy(out:find "\nasamp %l+: " or out:find "^asamp %l+: ", command.text .. "\n" .. out)
        local printed = words(out)
        for word in pairs(words(table.concat(command.output, "\n"))) do
          assert.is_true(printed[word], ("%s: '%s' is not in:\n%s"):format(command.text, word, out))
        end
      end
      assert.same({0, ""}, {status, err})
      assert.is_true(#commands > 0)
      shell.remove(folder)
    end)
  end
end)

describe("README.md #plain", function()
  local text = shell.read "README.md"

  it("has at most 150 lines", function()
    assert.is_true(select(2, text:gsub("\n", "")) <= 150)
  end)

  it("names its purpose and systems in its first lines", function()
    local first = text:sub(1, 500)
    for _, words_ in ipairs{"which line of your Lua program", "drop-in Lua 5.4", "Linux, x86-64 and arm64"} do
      assert.is_truthy(first:find(words_, 1, true), words_)
    end
  end)

  it("has pictures of at most 200 KB, as the quick start has", function()
    local n = 0
    for _, path in ipairs{"README.md", "doc/quickstart.md"} do
      for target in shell.read(path):gmatch "!%[[^]]*%]%(([^)]+)%)" do
        local file = (path:match "^.*/" or "") .. target
        local bytes = shell.read(file)
        assert.equal("\137PNG", bytes:sub(1, 4), file)
        assert.is_true(#bytes <= 200 * 1024, file)
        n = n + 1
      end
    end
    assert.is_true(n >= 2)
  end)

  it("has the test command that .ci/run runs", function()
    assert.is_truthy(text:find("\n    make test ", 1, true))
    assert.is_truthy(shell.read(".ci/run"):find("make --no-print-directory test\n", 1, true))
  end)
end)
