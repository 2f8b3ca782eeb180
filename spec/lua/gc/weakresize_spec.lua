-- SPDX-License-Identifier: MIT
-- Weak tables that are resized while a collection runs. To make an array part shorter, luaH_resize copies the
-- values that do not fit, and then requests the new array. A former bug: this request could run a full
-- collection, even without a shortage of memory, if a collection was long overdue. The collection cleared
-- dead values in the table, but not in the copies. If the array becomes longer, no value is copied before the
-- request. (Upstream's emergency collections clear the table, too.)

local within = require "spec.lua.gc.within"

-- Defines two functions. weak(kept, count, from, to) returns a weak table with 'count' values. Only this
-- table refers to the values from..to. The next new key makes its array part shorter.
-- look(w, kept, count, from, to) returns how many of these values still exist, and checks that the others are
-- removed completely.
local function setup()
  local function weak(kept, count, from, to)
    local w = setmetatable({}, {__mode = "v"})
    for i = 1, 1024 do w[i] = kept end
    for i = count + 1, 1024 do w[i] = nil end
    for i = from, to do w[i] = {i} end
    return w
  end
  local function look(w, kept, count, from, to)
    local n = 0
    -- overwrites freed memory
    for i = 1, 4000 do kept[i] = {i} end
    for i = from, to do
      local v = w[i]
      if v ~= nil then
        assert(type(v) == "table" and rawequal(rawget(v, 1), i), i)
        n = n + 1
      end
    end
    for i = 1, count do assert(rawequal(w[i], kept), i) end
    return n
  end
  return weak, look
end

describe("a weak table whose array part becomes shorter", function()
  it("keeps or clears its values whole when a collection is overdue", function()
    within(function(state, text)
      local weak, look = load(text, "setup", "b")()
      local kept, other = {}, {}
      local w = weak(kept, 100, 600, 700)
      for i = 1, 70000 do rawset(other, i, i) end
      rawset(w, "k", 1)
      state.check()
      look(w, kept, 100, 600, 700)
    end, string.dump(setup))
  end)

  it("keeps or clears them whole when there is memory for one vector only", function()
    within(function(state, text)
      local weak, look = load(text, "setup", "b")()
      local kept, n = {}, 0
      local w = weak(kept, 200, 0, -1)
      collectgarbage("stop")
      local fill = state.table(4096, 0)
      for i = 1, 20 do fill[i] = state.userdata(4000); n = i end
      -- after this, only memory that was freed can be allocated
      state.limit((select(2, state.memory())))
      pcall(function() while true do fill[n + 1] = state.userdata(4000); n = n + 1 end end)
      assert(20 <= n and n < 4096, n)
      for i = 600, 602 do w[i] = {i} end
      -- leaves garbage for a collection to find
      for i = 1, 10 do fill[i] = nil end
      local majors = select(4, state.memory())
      -- this store requests 4 nodes, for which there is a hole, and 256 slots
      rawset(w, "k", 1)
      majors = select(4, state.memory()) - majors
      state.limit()
      state.check()
      assert(majors == 1, majors)
      local stayed = look(w, kept, 200, 600, 602)
      assert(stayed == 3, "the table was not being resized when memory was out: " .. stayed)
    end, string.dump(setup))
  end)
end)

describe("a weak table whose array part becomes longer", function()
  it("is cleared when there is no memory for the array", function()
    within(function(state)
      collectgarbage("stop")
      local w = setmetatable({}, {__mode = "v"})
      for i = 1, 512 do w[i] = {i} end
      state.limit((select(2, state.memory())))
      local majors = select(4, state.memory())
      pcall(rawset, w, 513, w)  -- requests an array of 1,024 slots, and fails
      majors = select(4, state.memory()) - majors
      state.limit()
      state.check()
      assert(majors == 1, majors)
      for i = 1, 512 do assert(w[i] == nil, i) end
    end)
  end)
end)
