-- SPDX-License-Identifier: MIT
-- The search for the object file of an address with glibc versions before 2.35 (asamp/unwind/loaded.h). The
-- test module `loading` and a special core.so are compiled as for such a glibc.

local loading = require "loading"
local shell = require "spec.support.shell"

describe("the table of object files #plain", function()
  it("is in use in this spec", function()
    assert.is_true(loading.isold())
  end)

  it("has the program, libraries and modules, with their unwind tables", function()
    for _, name in ipairs{"lua_newstate", "malloc", "pow"} do
      assert.is_true(loading.agrees(name), name)
    end
  end)

  -- Compiles a shared library with the function 'late'. Returns its path.
  local function library()
    local path = shell.folder() .. "/late.so"
    shell.output("echo 'int late (void) { return 1; }' | gcc -x c -fPIC -shared -o %s -", path)
    return path
  end

  it("is read again when object files come and go", function()
    assert.same({false, true, false}, {loading.late(library())})
  end)

  it("can be read by signals and threads while it is replaced", function()
    local lookups, wrong = loading.race(library(), 2000)
    assert.is_true(lookups > 1000, lookups)
    assert.equal(0, wrong)
  end)
end)

-- The whole profiler, installed in a copy of the tree with the core.so for an older glibc.
describe("a profiler with an older glibc #plain", function()
  local tree
  setup(function()
    tree = shell.folder() .. "/moved"
    shell.output("mkdir %s && cp -a build/bin build/lib build/share %s", tree, tree)
    shell.output("cp build/spec/old/core.so %s/lib/asamp/profiler/core.so", tree)
  end)

  it("does not look _dl_find_object up", function()
    local at = "/lib/asamp/profiler/core.so"
    assert.is_truthy(shell.read("build" .. at):find("_dl_find_object", 1, true))
    assert.is_falsy(shell.read(tree .. at):find("_dl_find_object", 1, true))
  end)

  for file, filter in pairs{unwind = "", backtrace = "passes", mallocs = "a.stack"} do
    it("passes " .. file .. "_spec", function()
      local status, out, err = shell.run(("%s/bin/lua spec/support/busted.lua %s spec/asamp/%s_spec.lua")
        :format(tree, filter ~= "" and "--filter " .. filter or "", file))
      assert.equal(0, status, out .. err)
      assert.is_truthy(out:find "\n%d+ success%a* / 0 failures", out)
      assert.is_falsy(out:find "\n0 success", out)
    end)
  end
end)
