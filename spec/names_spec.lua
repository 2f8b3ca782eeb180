-- SPDX-License-Identifier: MIT
--
-- Names of files and of static functions in asamp/ and lua/ can be searched for.

local shell = require "spec.support.shell"

local SOURCES = shell.lines(shell.output "git ls-files asamp lua | grep -E '\\.[ch]$'")
assert(#SOURCES > 200, #SOURCES)

-- The base names of 'paths' that several folders have, each with its folders.
local function repeated(paths)
  local folders, list = {}, {}
  for _, path in ipairs(paths) do
    local folder, name = path:match "^(.*)/([^/]+)%.[ch]$"
    folders[name] = folders[name] or {}
    folders[name][folder] = true
  end
  for name, set in pairs(folders) do
    local of = {}
    for folder in pairs(set) do of[#of + 1] = folder end
    table.sort(of)
    if #of > 1 then list[#list + 1] = name .. ": " .. table.concat(of, ", ") end
  end
  table.sort(list)
  return list
end

describe("a file name #plain", function()
  it("is the name of one thing", function()
    assert.same({"b: x, y"}, repeated {"x/a.c", "x/a.h", "x/b.h", "y/b.c"})
    assert.same({"core: asamp/module, lua/gc"}, repeated {"asamp/module/core.c", "lua/gc/core.h"})
    assert.same({}, repeated(SOURCES))
  end)
end)
