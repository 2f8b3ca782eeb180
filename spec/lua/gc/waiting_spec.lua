-- SPDX-License-Identifier: MIT
--
-- Dead userdata with a finalizer stay young until the finalizer was called (lua/gc/sweep/waiting.h). The
-- spec measures counts and not time. The number of finalizers in a batch depends on the clock.

local process = require "spec.support.process"
local within = require "spec.lua.gc.within"

-- Sizes of userdata in bytes. With more than 512 bytes, including its header, a userdata shares no line of
-- memory with other objects; above 8,000 bytes it comes from lua_Alloc.
local SIZES = {0, 16, 200, 470, 490, 1000, 8200, 30000}

describe("a userdata with a finalizer", function()
  for _, size in ipairs(SIZES) do
    -- A former bug: each userdata was tenured until a major collection found it dead. The program ran at
    -- 0.3 to 0.45 of upstream's speed, with 50,000 objects, and used twice the memory.
    it(("of %d bytes is no garbage of the old when it has been called"):format(size), function()
      local majors, called, most = within(function(state, bytes)
        local live, count = {}, 0
        local meta = {__gc = function() count = count + 1 end}
        for i = 1, 20000 do live[i] = {i} end
        collectgarbage()
        local _, _, _, before = state.memory()
        local inuse, most = (state.memory()), 0
        for i = 1, 20000 do
          debug.setmetatable(state.userdata(bytes), meta)
          if i % 16 == 0 then
            local now = state.memory() - inuse
            most = now > most and now or most
          end
        end
        local _, _, _, after = state.memory()
        assert(#live == 20000)
        collectgarbage()
        assert(count == 20000, count)
        return after - before, count, most
      end, size)
      assert.equal(20000, called)
      assert.is_true(majors <= 5, majors)
      assert.is_true(most < 6000000, most)
    end)

    it(("of %d bytes lives on where its finalizer keeps it, and dies once more"):format(size),
      function()
        within(function(state, bytes)
          local kept, last, calls = {}, nil, {}
          local meta
          meta = {__gc = function(u)
            assert(state.intact(u))
            local id = debug.getuservalue(u, 1)
            calls[id] = (calls[id] or 0) + 1
            if id % 5 == 0 and calls[id] < 4 then
              -- the table is old at this time
              kept[id] = u
              debug.setmetatable(u, meta)
            elseif id % 5 == 1 then last = u end
          end}
          for i = 1, 4000 do
            local u = state.userdata(bytes, 1)
            debug.setuservalue(u, i, 1)
            debug.setmetatable(u, meta)
            if i % 50 == 0 then
              state.check()
              for id, o in pairs(kept) do
                assert(state.intact(o) and debug.getuservalue(o, 1) == id)
                if id % 3 == 0 then kept[id] = nil end
              end
              if last then assert(state.intact(last) and debug.getuservalue(last, 1) % 5 == 1) end
            end
          end
          for _ = 1, 5 do
            for id in pairs(kept) do kept[id] = nil end
            collectgarbage()
          end
          for i = 1, 4000 do assert(calls[i] == (i % 5 == 0 and 4 or 1), i) end
        end, size)
      end)

    it(("of %d bytes keeps its references, and is kept by other references, until its call"):format(size),
      function()
        within(function(state, bytes)
          local called = 0
          local meta = {__gc = function(u)
            local own, other = debug.getuservalue(u, 1), debug.getuservalue(u, 2)
            assert(own[1][1] == own.id and state.intact(u))
            if other then
              assert(state.intact(other) and debug.getuservalue(other, 1).id == own.id + 1)
            end
            called = called + 1
          end}
          -- creates groups of three userdata: the first refers to the second, which refers to the third
          for i = 1, 3000, 3 do
            local before = nil
            for k = 2, 0, -1 do
              local u = state.userdata(bytes, 2)
              debug.setuservalue(u, {id = i + k, {i + k}}, 1)
              debug.setuservalue(u, before, 2)
              debug.setmetatable(u, meta)
              before = u
            end
            if i % 99 == 1 then state.check() end
          end
          -- three collections, because a userdata whose finalizer was not called yet keeps the next one
          -- alive
          for _ = 1, 3 do collectgarbage() end
          assert(called == 3000, called)
        end, size)
      end)

    it(("of %d bytes is a weak key until its call, and no weak value"):format(size), function()
      within(function(state, bytes)
        local keys, both = setmetatable({}, {__mode = "k"}), setmetatable({}, {__mode = "kv"})
        local values, called = setmetatable({}, {__mode = "v"}), 0
        local found = {}
        local meta = {__gc = function(u)
          local id = debug.getuservalue(u, 1)
          assert(values[id] == nil and keys[u].id == id and keys[u][1] == id)
          found[u] = nil
          called = called + 1
        end}
        for i = 1, 3000 do
          local u = state.userdata(bytes, 1)
          debug.setuservalue(u, i, 1)
          debug.setmetatable(u, meta)
          keys[u], both[u], values[i] = {i, id = i}, true, u
          if i % 100 == 0 then
            state.check()
            -- some of these userdata still await the call of their finalizer
            for o, t in pairs(keys) do
              assert(state.intact(o) and debug.getuservalue(o, 1) == t.id)
              -- gives some of them a strong reference again
              if t.id % 7 == 0 then found[o] = t end
            end
          end
        end
        for o, t in pairs(found) do assert(debug.getuservalue(o, 1) == t.id) end
        found = {}
        for _ = 1, 3 do collectgarbage() end
        assert(called == 3000 and next(found) == nil and next(keys) == nil)
        assert(next(both) == nil and next(values) == nil)
      end, size)
    end)

    it(("of %d bytes has its call in the order of the others, and at the end of the state"):format(size),
      function()
        local status, text = process.code([[
          local s = require "states".open()
          print(s:run(function(state, bytes)
            local last, meta, count = 0, nil, 0
            -- among the userdata that one collection finds dead, the one that was created last is finalized
            -- first
            meta = {__gc = function(u)
              local id, batch = debug.getuservalue(u, 1), debug.getuservalue(u, 2)
              assert(batch > last // 10000 or id < last % 10000)
              last, count = batch * 10000 + id, count + 1
              -- the calls take longer than the time limit of a batch, so that the batch ends early
              local started = os.clock()
              while batch == 10 and os.clock() < started + 0.0003 do end
              if count == 2000 then print "all were called" end
            end}
            collectgarbage "generational"
            collectgarbage "stop"
            for batch = 1, 10 do
              for i = 1, 200 do
                local u = state.userdata(i % 2 == 0 and bytes or 24, 2)
                debug.setuservalue(u, i, 1)
                debug.setuservalue(u, batch, 2)
                debug.setmetatable(u, meta)
              end
              collectgarbage "step"  -- a minor collection, and a batch of calls
              state.check()
            end
            print(count < 2000)
          end, tonumber((...))))
          print(s:check(), s:close(), s:stats().wrong)]], size)
        assert.equal(0, status, text)
        assert.equal("true\nok\nall were called\nnil\t0\tnil\n", text)
      end)
  end

  -- The collector has a list of the userdata with external bytes. A former bug: this list was swept, and its
  -- userdata were read, after the memory (heap lines) of dead userdata had been freed.
  it("may represent bytes outside when its finalizer has said so", function()
    within(function(state)
      local called, meta = 0, {}
      meta.__gc = function(u)
        called = called + 1
        state.outside(u, called % 3 * 1000)
      end
      for i = 1, 10000 do
        debug.setmetatable(state.userdata(i % 40 * 16), meta)
        if i % 500 == 0 then state.check() end
      end
      collectgarbage()
      assert(called == 10000, called)
    end)
  end)

  it("waits where memory is out, too", function()
    within(function(state)
      local called, made, meta = 0, 0, {}
      meta.__gc = function() called = called + 1 end
      local live = {}
      for i = 1, 1000 do live[i] = {i, i} end
      for r = 1, 60 do
        for _ = 1, 100 do
          debug.setmetatable(state.userdata(r * 20 % 900), meta)
          made = made + 1
        end
        state.failall(r % 4)
        pcall(function() for i = 1, 3000 do live[i % 1000 + 1] = {i, i} end end)
        state.failall()
        state.check()
      end
      for _, t in ipairs(live) do assert(t[1] == t[2]) end
      collectgarbage()
      assert(called == made, called)
    end)
  end)

  -- A minor collection visits only a limited number of userdata that are pending finalization. It tenures the
  -- others.
  it("is one of very many", function()
    within(function(state)
      local count = 0
      local meta = {__gc = function(u)
        assert(state.intact(u))
        count = count + 1
      end}
      collectgarbage("nursery", 8 << 20)
      for r = 1, 4 do
        collectgarbage "stop"
        for i = 1, 12000 do debug.setmetatable(state.userdata(i % 40 * 16), meta) end
        collectgarbage "restart"
        for i = 1, 2000 * r do local _ = {i} end
        state.check()
      end
      collectgarbage()
      assert(count == 48000, count)
    end)
  end)
end)

describe("a dead userdata to which an object refers that another finalizer saves", function()
  -- A former bug: if no other object was left young, the object that was saved was not remembered. So
  -- the next minor collection freed the userdata.
  for _, holder in ipairs {"table", "coroutine"} do
    it("stays whole: a " .. holder, function()
      within(function(state, kind)
        local saved, called
        local function drop()
          local u = state.userdata(16)
          debug.setmetatable(u, {__gc = function() called = called + 1 end})
          local o = {u}
          if kind == "coroutine" then
            o = coroutine.create(function(v) coroutine.yield() return v end)
            coroutine.resume(o, u)
          end
          setmetatable({o}, {__gc = function(t) saved = t[1] end})
        end
        for _ = 1, 20 do
          saved, called = nil, 0
          collectgarbage()
          drop()
          while called == 0 do local _ = {} end
          for i = 1, 100000 do local _ = {i} end
          state.check()
          local u
          if kind == "table" then u = saved[1] else u = select(2, coroutine.resume(saved)) end
          assert(state.intact(u))
        end
      end, holder)
    end)
  end
end)
