-- SPDX-License-Identifier: MIT
-- The search for profiles that a program wrote under a path with escapes such as %p.

local programs = require "asamp.cli.programs"
local shell = require "spec.support.shell"

describe("the profiles of a program", function()
  local folder = shell.folder()
  teardown(function() shell.remove(folder) end)

  local function write(...)
    for _, name in ipairs{...} do
      shell.write(folder .. "/" .. name, "x")
    end
  end

  local function found(pattern)
    local list = programs.changed(folder .. "/" .. pattern, {})
    for i, path in ipairs(list) do
      list[i] = path:sub(#folder + 2)
    end
    return list
  end

  -- A former bug: %% in a path was not taken for a percent sign, so that `asamp run` did not find the
  -- profile that the program had written.
  it("are found under names with a percent sign", function()
    write("a%p.vmprof", "a%b.vmprof", "a%p.2.vmprof", "a12.vmprof", "ab.vmprof", "a-12.vmprof")
    assert.same({"a%p.2.vmprof", "a%p.vmprof"}, found "a%%p.vmprof")
    assert.same({"a%b.vmprof"}, found "a%b.vmprof")
    assert.same({"a-12.vmprof"}, found "a-%p.vmprof")
    assert.same({}, found "a%%.vmprof")
  end)

  it("have the same order in each run, also with equal sizes", function()
    local names = {}
    for i = 1, 9 do
      names[i] = "size." .. i .. ".vmprof"
    end
    write(table.unpack(names))
    assert.same(names, found "size.vmprof")
  end)
end)
