-- SPDX-License-Identifier: MIT
--
-- The names of files and of static functions in asamp/ and lua/ must be so rare that a search for a name
-- finds it.

local shell = require "spec.support.shell"

local SOURCES = shell.lines(shell.output "git ls-files asamp lua | grep -E '\\.[ch]$'")
assert(#SOURCES > 200, #SOURCES)

-- Returns the base names of 'paths' that occur in more than one folder, each with the list of its folders.
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

-- Returns the names of static functions that at least 'least' C sources define, each with the number of
-- these sources. 'texts' is the list of the sources' texts.
local function shared(texts, least)
  local files, list = {}, {}
  for _, text in pairs(texts) do
    local own = {}
    for head in ("\n" .. text):gmatch "\nstatic ([^;={}(]-) %([^*]" do own[head:match "[%w_]+$"] = true end
    for name in pairs(own) do files[name] = (files[name] or 0) + 1 end
  end
  for name, n in pairs(files) do if n >= least then list[name] = n end end
  return list
end

describe("a static function's name #plain", function()
  local texts = {}
  for _, path in ipairs(SOURCES) do
    if path:find "%.c$" then texts[path] = assert(shell.read(path)) end
  end

  it("is found by the spec", function()
    local source = "static int find (int a) {\n}\nstatic const char *const list[] = {\nint take (void) {\n}"
    assert.same({find = 2}, shared({a = source, b = source}, 2))
    assert.same({}, shared({a = source, b = source}, 3))
  end)

  -- If a function name would be in three files, the name of its file must be added as a prefix.
  it("is not that of functions in three files", function()
    assert.same({}, shared(texts, 3))
  end)

  -- The number of function names that are in two files must not grow. If it falls, lower the limit.
  it("is that of functions in two files no more often than it was", function()
    local TWICE, n = 146, 0
    for _ in pairs(shared(texts, 2)) do n = n + 1 end
    assert.is_true(n <= TWICE, ("%d names are in two files, the limit is %d"):format(n, TWICE))
  end)
end)
