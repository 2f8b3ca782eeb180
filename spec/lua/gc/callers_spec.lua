-- SPDX-License-Identifier: MIT
--
-- C code that calls Lua between two collections. It stores without a barrier in upstream's sources, changes
-- suspended threads (T1 and T3 of lua/gc/gc.h), or is a callback that runs Lua inside the collector.

local within = require "spec.lua.gc.within"

describe("a C function", function()
  -- lua_tolstring replaces a number in a slot by a string. It stores the string without a barrier, even if
  -- the slot is an upvalue of an old function. Upstream has this bug, too.
  it("keeps the string that lua_tolstring has made of its upvalue", function()
    within(function(state)
      local functions = {}
      for i = 1, 50 do functions[i] = state.numeral(i * 1000003) end
      collectgarbage()
      for i = 1, 50, 2 do assert(functions[i]() == tostring(i * 1000003)) end
      state.check()
      collectgarbage("step")
      for i = 1, 20000 do assert(#("filler" .. i) > 6) end
      for i = 1, 50 do assert(functions[i]() == tostring(i * 1000003), i) end
    end)
  end)

  -- lua_xmove lowers the top of a thread without marking the thread as dirty. The slots above the top still
  -- refer to old objects. The collection that can free these objects must also erase the slots.
  it("takes values from a coroutine that sleeps, which never shows them again", function()
    within(function(state)
      local lines = {"local step, probe = ...", "local a = probe + 1"}
      for i = 1, 100 do lines[i + 2] = ("local v%d = %d"):format(i, i) end
      local wide = assert(load(table.concat(lines, "\n")))
      local seen, left = 0, 0
      -- this metamethod is called before the function 'wide' has set its variables
      local probe = setmetatable({}, {__add = function()
        collectgarbage("step")
        for i = 1, 120 do
          local name, v = debug.getlocal(2, i)
          if not name then break end
          seen = seen + 1
          if type(v) == "table" and rawget(v, "left") then left = left + 1 end
        end
        state.check()
        return 1
      end})
      local function values(n)
        if n > 0 then return {left = n}, values(n - 1) end
      end
      for _ = 1, 10 do
        local co = coroutine.create(wide)
        state.push(co, values(60))
        collectgarbage()
        collectgarbage("step")  -- it sleeps
        assert(select("#", state.pop(co, 60)) == 60)
        collectgarbage()
        for i = 1, 500 do assert(#{i, i} == 2) end
        assert(coroutine.resume(co, 1, probe))
      end
      assert(seen > 500, seen)
      assert(left == 0, left)
    end)
  end)

  -- A former bug: the warning about a finalizer's error ran Lua code. Its collections marked the coroutine
  -- of the finalizers as clean, and nothing marked it as dirty again.
  it("may run Lua in another thread to report a finalizer's error", function()
    within(function(state)
      local warnings = 0
      state.warn(function()
        warnings = warnings + 1
        collectgarbage("step")
        collectgarbage()
      end)
      local failing = {__gc = function() error("in a finalizer") end}
      local co = coroutine.wrap(function()
        for i = 1, 300 do
          local kept = {i}
          setmetatable({}, failing)
          for _ = 1, 600 do kept[2] = {kept} end
          local fresh = {i, {i}}
          for _ = 1, 600 do kept[3] = {i} end
          assert(fresh[2][1] == i and kept[3][1] == i)
          if i % 50 == 0 then state.check() end
        end
        return true
      end)
      assert(co())
      assert(warnings > 3, warnings)
      state.warn(function() end)
      collectgarbage()
    end)
  end)
end)
