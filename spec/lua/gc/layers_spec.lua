-- SPDX-License-Identifier: MIT
--
-- The layers of the sources in lua/gc. LAYERS in lua/build.mk lists the folders in order: a file may
-- include and call only files of its own folder and of folders before it in the list. The files within a
-- folder have no cyclic dependency.

local shell = require "spec.support.shell"

local LAYERS = {}
for word in shell.read("lua/build.mk"):match("\nLAYERS := ([^\n]*)"):gmatch "%S+" do
  LAYERS[#LAYERS + 1], LAYERS[word] = word, #LAYERS + 1
end

-- the folder of each header, by the header's base name
local home = {}
for _, path in ipairs(shell.lines(shell.output "ls lua/gc/*/*.h")) do
  home[path:match "[^/]+$"] = path:match "lua/gc/(%w+)/"
end

describe("the files of lua/gc #plain", function()
  it("have no circle", function()
    local status, out, err = shell.run "spec/circles lua/gc build/fork/obj/gc"
    assert.equal(0, status, out .. err)
  end)

  it("are in folders that are layers, and on top only headers", function()
    local there = shell.lines(shell.output "ls -d lua/gc/*/")
    for i, path in ipairs(there) do there[i] = path:match "lua/gc/(%w+)/" end
    local ruled = {table.unpack(LAYERS)}
    table.sort(ruled)
    assert.same(ruled, there)
    assert.is_falsy(shell.output("ls lua/gc"):find "%.c\n")
  end)

  it("include no layer above their own", function()
    local n = 0
    for _, path in ipairs(shell.lines(shell.output "ls lua/gc/*/*.[ch]")) do
      local own = LAYERS[path:match "lua/gc/(%w+)/"]
      for name in shell.read(path):gmatch '#%s*include%s*"([^"]+)"' do
        assert.is_nil(name:find("/", 1, true), path .. " includes " .. name)
        assert.is_true(not home[name] or LAYERS[home[name]] <= own, path .. " includes " .. name)
        if home[name] then n = n + 1 end
      end
    end
    assert.is_true(n > 150, n)
  end)

  -- Calls are checked in addition to includes, because gc.h declares functions of all layers for the core.
  it("call no layer above their own", function()
    local owner, wanted, n = {}, {}, 0
    local symbols = shell.output "cd lua/gc; for f in */*.c; do nm -A ../../build/fork/obj/gc/${f%c}o; done"
    for path, kind, name in symbols:gmatch "obj/gc/([^:]+):[%x ]+ (%a) ([%w_]+)" do
      local folder = path:match "^%w+"
      if kind == "U" then wanted[#wanted + 1] = {path = path, folder = folder, name = name}
      elseif kind:find "[TDBRC]" then owner[name] = folder end
    end
    for _, call in ipairs(wanted) do
      local to = owner[call.name]
      if to then n = n + 1 end
      assert.is_true(not to or LAYERS[to] <= LAYERS[call.folder], call.path .. " calls " .. call.name)
    end
    assert.is_true(n > 300, n)
  end)

  it("are compiled so that they can include no layer above", function()
    -- one header of each layer, by layer
    local one = {}
    for name, folder in pairs(home) do
      if not one[folder] or name < one[folder] then one[folder] = name end
    end
    local path, text = os.tmpname(), ""
    for _, other in ipairs(LAYERS) do
      text = text .. ('#if __has_include("%s")\n%s\n#endif\n'):format(one[other], other)
    end
    shell.write(path, text)
    for i, folder in ipairs(LAYERS) do
      local options = shell.output("make -s -f lua/build.mk V=fork layer FOLDER=" .. folder):gsub("%s+$", "")
      local seen = shell.lines(shell.output("gcc %s -x c -E -P %s", options, path))
      assert.same({table.unpack(LAYERS, 1, i)}, seen)
    end
    os.remove(path)
  end)

  -- The allocator starts an emergency collection through a function pointer in the state, so that its
  -- object files need no symbol of the collector.
  it("keep the collector out of the allocator", function()
    local calls = shell.output "nm -u build/fork/obj/gc/alloc/*.o build/fork/obj/gc/memory/*.o"
    assert.is_truthy(calls:find("luaN_newchunk", 1, true))
    assert.is_falsy(calls:find "luaC_%l+")
  end)

  -- A function is declared in one header: that of its file or, if the core calls it, gc.h.
  it("define each name once", function()
    local seen, n = {}, 0
    for _, path in ipairs(shell.lines(shell.output("ls lua/gc/*.h lua/gc/*/*.h lua/*.h"))) do
      for name in assert(shell.read(path)):gmatch "\nLUA[%u_]+ [^\n;(]-(luaN_%w+_?) %(" do
        n = n + 1
        assert.is_nil(seen[name], ("%s is in %s and in %s"):format(name, seen[name], path))
        seen[name] = path
      end
    end
    assert.is_true(n > 150, n)
  end)
end)
