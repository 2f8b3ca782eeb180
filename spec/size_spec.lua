-- SPDX-License-Identifier: MIT
--
-- The sizes that spec/size prints must not grow. If one falls, lower its limit in this file. Tuning
-- constants do not include structural ones.

local shell = require "spec.support.shell"

local LIMITS = {
  ["lua/gc lua/vm"] = {lines = 8834, constants = 114, file = 569, ["function"] = 56, line = 100},
  asamp = {lines = 34707, constants = 338, file = 742, ["function"] = 60, line = 100},
}

-- Returns the numbers that spec/size prints for these folders.
local function sizes(folders)
  local out = shell.output("spec/size '%s'", folders)
  local found = {
    lines = tonumber(out:match "(%d+) code lines"), constants = tonumber(out:match "(%d+) tuning"),
  }
  for what, n in out:gmatch "longest (%l+) +(%d+)" do found[what] = tonumber(n) end
  return found
end

describe("the size of C code #plain", function()
  for folders, limits in pairs(LIMITS) do
    it("is not above its limits in " .. folders, function()
      local found = sizes(folders)
      for what, limit in pairs(limits) do
        assert.is_true(found[what] <= limit, ("%s: %d, the limit is %d"):format(what, found[what], limit))
      end
    end)
  end

  it("is counted without comments and empty lines", function()
    local folder = shell.folder()
    shell.write(folder .. "/a.c", "/* one\n   two */\n#define FEW\t4\n\nint f (void) {\n  return FEW;\n}\n")
    shell.output("cd %s && git init -q . && git add a.c", folder)
    local out = shell.output("cd %s && %s/spec/size .", folder, shell.output("pwd"):match "[^\n]+")
    local line = ".: 1 files, 4 code lines, 1 statements, 1 tuning constants, 0 structural"
    assert.is_truthy(out:find(line, 1, true), out)
    assert.is_truthy(out:find("function +3  a.c:5 f"), out)
  end)
end)
