-- SPDX-License-Identifier: MIT
--
-- The heap (lua/gc/memory/heap.c, holes.c): objects must have the right addresses, blocks must not overlap,
-- and free memory must be returned. The programs run in states whose lua_Alloc counts and checks requests
-- (spec/support/states.c).

local actions = require "spec.lua.gc.actions"
local fewer = require "spec.support.fewer"
local states = require "states"
local within = require "spec.lua.gc.within"

describe("the heap", function()
  it("is whole after every action of random programs, and gone with its state", function()
    actions.property(1, fewer(100, 30), 400)
  end)

  it("is whole after long random programs", function()
    actions.property(1001, fewer(1008, 1002), 6000)
  end)

  it("keeps every block of every size apart from all others", function()
    -- fills each userdata with a byte of its own, so that an overlap is detected
    within(function(state)
      local sizes, kept = {}, {}
      for n = 0, 300 do sizes[#sizes + 1] = n end
      for n = 8100, 8300 do sizes[#sizes + 1] = n end
      for n = 400, 33000, 397 do sizes[#sizes + 1] = n end
      for round = 1, 4 do
        for i, n in ipairs(sizes) do
          if (i + round) % 3 ~= 0 or not kept[i] then
            kept[i] = state.userdata(n)
          end
        end
        collectgarbage()
        for i in ipairs(sizes) do assert(state.intact(kept[i]), sizes[i]) end
        state.check()
      end
    end)
  end)

  it("puts up to 8192 bytes into lines, 8000 of a string or userdata, the rest is lua_Alloc's", function()
    within(function(state)
      collectgarbage("stop")
      local LUA_TUSERDATA, LUA_TSTRING = 7, 4
      -- size of the header of a userdata without user values (the struct Udata0)
      local head = 32 + 7 & ~7
      -- after this the list of large userdata has enough capacity
      for _ = 1, 500 do state.userdata(8100) end
      collectgarbage()
      local before = state.tags(LUA_TUSERDATA)
      for _ = 1, 100 do state.userdata(8000 - head) end
      assert(state.tags(LUA_TUSERDATA) == before)
      for n = 8000 - head + 1, 100000, 4099 do
        local bytes, requests = state.bytes(), state.requests()
        state.userdata(n)
        -- lua_Alloc must provide 16 bytes more, so that the block can be aligned
        assert(state.bytes() - bytes == head + n + 16, n)
        assert(state.requests() - requests == 1, n)
      end
      assert(state.tags(LUA_TUSERDATA) > before)
      local strings = state.tags(LUA_TSTRING)
      -- 16 bytes precede the characters of a string, and a zero byte ends it
      for _ = 1, 100 do state.string(8000 - 16 - 1, 65) end
      assert(state.tags(LUA_TSTRING) == strings)
      state.string(8000 - 16, 65)
      state.string(100000, 65)
      assert(state.tags(LUA_TSTRING) == strings + 2)
      local requests = state.requests()
      for _ = 1, 100 do state.table(8192 // 16, 0) end
      assert(state.requests() - requests < 50)  -- requests of chunks only
      requests = state.requests()
      for _ = 1, 100 do state.table(8192 // 16 + 1, 0) end
      assert(state.requests() - requests >= 100)
    end)
  end)

  it("gives a large block back to lua_Alloc as soon as it is swept", function()
    within(function(state)
      local u = state.userdata(1 << 20)
      local bytes = state.bytes()
      assert(state.intact(u))
      u = nil  -- luacheck: ignore 311
      collectgarbage()
      assert(bytes - state.bytes() >= 1 << 20)
    end)
  end)

  it("allocates into the holes that the dead leave between the living", function()
    within(function(state)
      local live, first = {}, nil
      for i = 1, 30000 do
        live[i] = {i}
        live[-i] = {tostring(i)}
      end
      -- keeps every 8th userdata, so that no block becomes empty
      for round = 1, 12 do
        local function each(f)
          for i = round % 3 + 1, 30000, 3 do
            if i % 8 ~= 0 then f(i) end
          end
        end
        each(function(i) live[i] = false; live[-i] = false end)
        collectgarbage()
        each(function(i) live[i] = {i}; live[-i] = {tostring(i)} end)
        first = first or select(2, state.memory())
      end
      state.check()
      local _, held = state.memory()
      assert(held <= first + (2 << 20), held - first .. " bytes more than after the first round")
      for i = 1, 30000 do assert(live[i][1] == i and live[-i][1] == tostring(i)) end
    end)
  end)

  it("reserves at most a constant more than steady garbage needs", function()
    within(function(state)
      local peak = 0
      for i = 1, 300000 do
        local t = {i, {}, "text " .. i}
        if i % 1000 == 0 and t then peak = math.max(peak, (select(2, state.memory()))) end
      end
      assert(peak < 2 << 20, peak)
    end)
  end)

  it("gives chunks back when the heap shrinks", function()
    within(function(state)
      local t = {}
      for i = 1, 200000 do t[i] = {i} end
      collectgarbage()
      assert(#t == 200000)
      local used, held = state.memory()
      assert(used > 20 << 20 - 1 and held >= used)
      t = nil  -- luacheck: ignore 311
      collectgarbage()
      collectgarbage()
      used, held = state.memory()
      assert(used < 1 << 20, used)
      assert(held < 6 << 20, held)
    end)
  end)

  it("reserves the bytes of lua_Alloc, exactly", function()
    within(function(state)
      local t = {}
      for i = 1, 40 do
        t[i] = state.userdata(i * 1000)
        assert(state.intact(t[i]))
        if i % 4 == 0 then t[i // 2] = nil; collectgarbage() end
        local _, held = state.memory()
        assert(held == state.bytes(), ("held %d, given %d"):format(held, state.bytes()))
      end
    end)
  end)

  it("gives blocks to another function with their true sizes when lua_Alloc is replaced", function()
    local s = states.open()
    local status, e = s:run(function(state)
      local finalized = 0
      local function make()
        local t = {}
        for i = 1, 60 do
          t[i] = {
            state.userdata(i * 700), state.string(i * 700, 65), state.table(i * 40, i * 20),
            load(("local a = %d; return function() return a end"):format(i)),
            coroutine.create(function(n) return n > 0 and 1 + select("#", table.unpack({}, 1, n * 30)) end),
            setmetatable({}, {__gc = function() finalized = finalized + 1 end}),
          }
          coroutine.resume(t[i][5], i)
        end
        return t
      end
      local kept = make()
      collectgarbage("step")
      local fresh = make()
      state.replace()
      for i = 1, 60 do
        local all = i % 2 == 0 and kept or fresh
        assert(state.intact(all[i][1]) and #all[i][2] == i * 700)
        -- the vectors that grow here were allocated before the last collection
        for j = 1, i * 200 do all[i][3][j] = j end
        if i % 3 == 0 then all[i] = false end
        if i % 20 == 0 then collectgarbage() end
      end
      kept, fresh = make(), nil  -- luacheck: ignore 311
      for _ = 1, 3 do collectgarbage() end
      assert(#kept == 60 and finalized == 120)
      state.check()
    end)
    assert.same({"ok", nil}, {status, e})
    local calls = s:stats().later
    assert.is_true(calls > 500, calls)
    assert.equal(0, s:close())
    assert.is_true(s:stats().later > calls)
    assert.is_nil(s:stats().wrong)
  end)

  it("keeps a state without anything in it small", function()
    -- the heap is one chunk; in the debug build the chunk contains bits for checks, too
    local s = states.open()
    assert.is_true(s:stats().peak <= 100 * 1024, s:stats().peak)
    assert.equal(0, s:close())
  end)

  -- A former bug: when the allocator left a block, it recorded that the block's free lines are not worth a
  -- visit before four more lines are free. If the last one to three used lines became free, the block was
  -- not visited again and never recognized as empty. lua_close then failed.
  it("sees that a block is empty though its last lines died after the hand had left", function()
    within(function(state)
      collectgarbage("stop")
      local kept = {}
      for i = 1, 400 do  -- advances the allocator by half a block, and leaves one line in use
        for j = 1, 480 do
          -- a userdata of 32 bytes, which rarely extends over two lines
          local u = state.userdata(0)
          if j == 1 then kept[i] = u end
        end
        collectgarbage()
      end
      assert(#kept == 400)
      kept = nil  -- luacheck: ignore 311
      collectgarbage()
      state.check()
    end)
  end)

  it("closes a state whatever lives in it then", function()
    for seed = 1, 40 do
      local s = states.open()
      local status, e = s:run(function(state, n)
        math.randomseed(n)
        local kept = {}
        local function wait() coroutine.yield() end
        for i = 1, 2000 do
          local size = math.random(0, 1 << math.random(3, 14))
          kept[i] = math.random(2) == 1 and state.userdata(size) or state.string(size, 66)
          if i % 3 == 0 then
            local co = coroutine.wrap(wait)
            co()
            kept[math.random(i)] = co
          end
          if i % 4 == 0 then kept[math.random(i)] = nil end
          if i % 500 == 0 then collectgarbage() end
        end
        -- this finalizer allocates while the state is closed
        _G.atend = setmetatable(kept, {__gc = function()
          for i = 1, 100 do kept[i] = {i} end
        end})
        state.check()
      end, seed)
      assert.equal("ok", status, e)
      assert.equal(0, s:close(), "seed " .. seed)
      assert.is_nil(s:stats().wrong)
    end
  end)
end)
