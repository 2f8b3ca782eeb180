-- SPDX-License-Identifier: MIT
-- bench/ablate, which measures the effect of the collector's optional mechanisms. Its list of mechanisms
-- must agree with the tests for them in the code. The files and the benchmarks that the list names must
-- exist.

local shell = require "spec.support.shell"

local function exists(path)
  return shell.read(path) ~= nil
end

describe("bench/ablate #plain", function()
  local listed, n = {}, 0
  for comment, name in shell.read("lua/gc/optional.h"):gmatch "/%*([^*]+)%*/%s*LUAN_(%u+)" do
    local parts, loads = comment:gsub("%s+", " "):match(
      "Its code: (.-)%. Its invariants: .-%. Benchmarks that show its effect: (.-)%. $")
    listed[name], n = {parts = parts, loads = loads}, n + 1
  end

  it("has a switch for each mechanism of the list, and no other", function()
    local switched = {}
    local uses = shell.output "grep -ho 'luaN_has(LUAN_[A-Z]*)' lua/gc/*/*.c lua/vm/*"
    for _, line in ipairs(shell.lines(uses)) do
      local name = line:match "LUAN_(%u+)"
      switched[name] = true
      assert.is_truthy(listed[name], name)
    end
    assert.is_true(n > 3, n)
    for name in pairs(listed) do assert.is_true(switched[name], name) end
  end)

  it("names files, functions and loads that exist", function()
    local own = shell.read "bench/ablate.lua"
    for name, mechanism in pairs(listed) do
      for part in mechanism.parts:gmatch "%S+" do
        local file, definitions = part:match "^([^:]+):?(.*)$"
        local text = shell.read("lua/gc/" .. file) or shell.read("lua/" .. file)
        assert.is_truthy(text, part)
        for definition in definitions:gmatch "[^,]+" do
          assert.is_truthy(text:find("[ *]" .. definition .. " %("), part)
        end
      end
      for load in mechanism.loads:gmatch "%S+" do
        local found = exists("bench/load/" .. load .. ".lua") or own:find("loads." .. load .. "(", 1, true)
        assert.is_truthy(found, name .. ": " .. load)
      end
    end
  end)

  it("runs each of its own loads", function()
    local library = os.tmpname()
    shell.output("gcc -shared -fPIC -Ibuild/fork/src/src -o %s bench/userdata.c", library)
    for load in shell.read("bench/ablate.lua"):gmatch "function loads%.([%w_]+)" do
      local out = shell.output("USERDATA=%s build/bin/lua bench/ablate.lua %s 512", library, load)
      assert.is_truthy(out:find "^longest %d+%.%d+\n$", out)
    end
    os.remove(library)
  end)

  it("explains itself, and refuses an unknown mechanism", function()
    assert.is_truthy(shell.output("bench/ablate --help"):find("bench/ablate [--only NAMES]", 1, true))
    -- A former bug: the command did not find the mechanisms' names in lua/gc/optional.h, because the form
    -- of the list there had changed.
    local names = {}
    for name in pairs(listed) do names[#names + 1] = name:lower() end
    local status, _, err = shell.run(("bench/ablate --only %s,none"):format(table.concat(names, ",")))
    assert.equal(2, status)
    assert.is_truthy(err:find("lua/gc/optional.h has no mechanism 'none'", 1, true), err)
  end)
end)
