-- SPDX-License-Identifier: MIT
--
-- The layers of lua/gc: each file stands above those that it includes and calls. Once the
-- headers were one circle, and every file could call every other one by collector.h.

local shell = require "spec.support.shell"

describe("the files of lua/gc #plain", function()
  it("have no circle", function()
    local status, out, err = shell.run "spec/circles lua/gc build/fork/obj/gc"
    assert.equal(0, status, out .. err)
  end)

  -- Who allocates must know nothing of what may follow: an emergency is asked for by a
  -- hook in the state.
  it("keep the collector out of the allocator", function()
    local calls = shell.output("cd build/fork/obj/gc && "
      .. "nm -u nursery.o sampling.o limit.o holes.o chunks.o heap.o")
    assert.is_truthy(calls:find("luaN_newchunk", 1, true))
    assert.is_falsy(calls:find "luaC_%l+")
  end)

  -- A function is declared once: in the header of its file, or, for the core, in gc.h.
  it("say once what they have", function()
    local seen, n = {}, 0
    for _, path in ipairs(shell.lines(shell.output("ls lua/gc/*.h lua/*.h"))) do
      for name in assert(shell.read(path)):gmatch "\nLUA[%u_]+ [^\n;(]-(luaN_%w+_?) %(" do
        n = n + 1
        assert.is_nil(seen[name], ("%s is in %s and in %s"):format(name, seen[name], path))
        seen[name] = path
      end
    end
    assert.is_true(n > 150, n)
  end)
end)
