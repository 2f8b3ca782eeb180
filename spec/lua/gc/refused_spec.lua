-- SPDX-License-Identifier: MIT
--
-- States whose lua_Alloc has a limit, in programs whose stacks and buffers grow while nearly all of
-- the heap is garbage (luaN_refused). bench/limits has the least limits beside stock Lua's.
-- mem_spec refuses each single request of such programs.

local states = require "states"

local function sweep(from, to, step, f)
  for limit = from, to, step do
    local s = states.open {libs = true, limit = limit * 1024}
    local status, result = s:run(f)
    assert.same({"ok", "done"}, {status, result}, limit .. " KiB")
    s:close()
  end
end

describe("a state near its limit", function()
  it("makes coroutines whose stacks grow", function()
    sweep(120, 400, 40, function()
      local function down(n)
        if n == 0 then coroutine.yield() else down(n - 1) end
        return 1
      end
      for _ = 1, 300 do coroutine.wrap(down)(200) end
      return "done"
    end)
  end)

  it("makes strings in buffers", function()
    sweep(140, 300, 40, function()
      for _ = 1, 1500 do
        local garbage, lines = {}, {}
        for i = 1, 100 do garbage[i] = {id = i, n = "n" .. i} end
        for i = 1, 60 do lines[i] = "a line of text with a number " .. i end
        assert(#table.concat(lines, "\n") > 1800 and garbage[100])
      end
      return "done"
    end)
  end)
end)
