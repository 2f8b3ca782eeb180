-- SPDX-License-Identifier: MIT
--
-- Large leaf objects stay young for two minor collections and are tenured by the third
-- (lua/gc/mark/ageing.h). In this spec they are strings of more than 512 bytes ("texts"). The spec counts
-- collections and does not measure time.

local fewer = require "spec.support.fewer"
local within = require "spec.lua.gc.within"

describe("a text that is edited", function()
  for name in pairs(require "spec.lua.gc.texts".holders) do
    -- A former bug: the first minor collection tenured the current version of the string. Only a major
    -- collection found it dead, so that the program ran at 0.46 of upstream's speed.
    it("dies young where it is held by " .. name, function()
      local minors, majors = within(function(state, holder)
        local others = {}
        for i = 1, 20000 do others[i] = {i} end
        local texts = require "spec.lua.gc.texts"
        local go = texts.holders[holder](texts.edit, ("some text here\n"):rep(7000))
        go(20)
        collectgarbage()
        local _, _, minors, majors = state.memory()
        local text = go(1000)
        local _, _, minors2, majors2 = state.memory()
        assert(#others == 20000 and #text == 105000)
        return minors2 - minors, majors2 - majors
      end, name)
      assert.is_true(minors > 100, minors)
      -- A new object for each text needs more major collections: if the object became old, only a major
      -- collection finds the text dead.
      local most = (name == "a field of a new object each time") and 20 or 6
      assert.is_true(majors <= most, ("%d in %d"):format(majors, minors))
    end)

    it("is the same while major collections run, held by " .. name, function()
      within(function(_, holder)
        local texts = require "spec.lua.gc.texts"
        local text, live = ("0123456789"):rep(2000), {}
        local go = texts.holders[holder](texts.edit, text)
        for i = 1, 60 do text = texts.edit(text, i) end
        for i = 1, 60 do live[i] = {text .. i, {}} end
        assert(go(60) == text)
        for r = 1, 30 do
          for i = 1, 60 do
            assert(live[i][1] == text .. i)
            if i % 7 == r % 7 then live[i] = {text .. i, {}} end
          end
          if r % 10 == 0 then collectgarbage() end
        end
        assert(go(0) == nil or go(0) == text)
      end, name)
    end)
  end

  it("is old when it stays, and dead when it is dropped", function()
    within(function(state)
      local kept = {}
      for i = 1, 20 do kept[i] = ("x"):rep(20000 + i) end
      for i = 1, 100000 do local _ = {i} end
      local full = state.memory()
      assert(full > 20 * 20000, full)
      for i = 1, 20 do assert(#kept[i] == 20000 + i) end
      kept = nil  -- luacheck: ignore 311
      collectgarbage()
      assert(state.memory() < full - 20 * 20000)
    end)
  end)

  -- A former bug: a coroutine was in the remembered set because it referred to a young text. Then the text
  -- was tenured, because a weak table refers to it, and a major collection started. It freed the coroutine,
  -- which was dead; but the coroutine was still in the remembered set, and the next minor collection read
  -- it.
  it("leaves no holder remembered when it is tenured at once", function()
    within(function(state)
      collectgarbage "generational"
      local weak, keep = setmetatable({}, {__mode = "v"}), {}
      for i = 1, 200 do weak[i] = {} end
      for r = 1, 1000 do
        local co = coroutine.create(function(n)
          for _ = 1, 2 do
            local text = ("x"):rep(9000 + n)
            weak[n] = text
            coroutine.yield()
            assert(#text == 9000 + n)
          end
        end)
        coroutine.resume(co, r % 150 + 1)
        if r % 3 == 0 and r > 9 then coroutine.resume(keep[(r + 3) % 7]) end
        keep[r % 7] = co
        for i = 1, 50 do keep[7 + (r * 31 + i) % 2000] = {r, {}} end
      end
      local _, _, _, majors = state.memory()
      assert(majors > 3, majors)
    end)
  end)
end)

describe("texts of a queue", function()
  -- A program keeps strings in a queue. The bytes of young large strings may exceed the nursery by a
  -- fraction of the old bytes. A former bug: they could not. A nursery had space for only five of these
  -- strings, and each was visited three times. The program ran at 0.2 of upstream's speed.
  it("die young next to a large heap, and memory use stays constant", function()
    for _, size in ipairs{1000, 100000, fewer(8000), fewer(30000)} do
      local majors, most = within(function(state, bytes)
        local live, queue = {}, {}
        for i = 1, 100000 do live[i] = {i} end
        collectgarbage()
        local length = math.min(1500000 // bytes, 800)
        local before, _, _, majors = state.memory()
        local most = 0
        for i = 1, 200000000 // bytes do
          queue[i % length + 1] = ("x"):rep(bytes - 8) .. 10000000 + i
          local now = (state.memory()) - before
          if now > most then most = now end
        end
        for _, text in ipairs(queue) do assert(#text == bytes) end
        assert(#live == 100000)
        return select(4, state.memory()) - majors, most
      end, size)
      assert.is_true(majors <= 5, ("%d of %d bytes"):format(majors, size))
      assert.is_true(most < 10e6, ("%d of %d bytes"):format(most, size))
    end
  end)
end)

describe("texts in the slots of large tables", function()
  -- Each slot with a young text is remembered separately, and again when another text is stored in it.
  -- After any operations on the table, its texts and keys must be those of a copy that has numbers instead
  -- of texts.
  for _, seed in ipairs{1, 2, 3, 4, 5, 6} do
    it("are those that were stored, whatever becomes of the tables, seed " .. seed, function()
      within(function(state, from)
        local random, live = math.random, {}
        math.randomseed(from)
        for i = 1, 3000 do live[i] = {i, i} end
        collectgarbage "generational"
        local function text(n) return ("t"):rep(500 + n % 1500) .. n end
        local function isintact(t, n)
          local bytes = 500 + n % 1500
          return #t == bytes + #tostring(n) and t:byte(bytes) == 116 and t:sub(bytes + 1) == tostring(n)
        end
        local tables, copies, made = {}, {}, 0
        local function new(i)
          tables[i], copies[i] = {}, {}
          for k = 1, 600 do tables[i][k], copies[i][k] = k, false end
        end
        for i = 1, 4 do new(i) end
        for step = 1, 30000 do
          local i = random(4)
          local t, c, k = tables[i], copies[i], random(900)
          local what = random(100)
          made = made + 1
          if what <= 70 then
            t[k], c[k] = text(made), made
          -- stores in this slot a text that another slot already contains; or stores a new text under a
          -- string key
          elseif what <= 75 then
            local other = random(900)
            t[k], c[k] = t[other], c[other]
          elseif what <= 80 then
            t["k" .. k % 50], c["k" .. k % 50] = text(made), made
          elseif what <= 85 then t[k], c[k] = k, false
          elseif what <= 90 then t[k], c[k] = nil, nil
          elseif what <= 91 and step % 5 == 0 then new(i)
          elseif what <= 92 and step % 3 == 0 then
            table.move(t, 1, 300, 301)
            table.move(c, 1, 300, 301)
          elseif what <= 93 then setmetatable(t, step % 2 == 0 and {__mode = "k"} or nil)
          elseif what <= 94 and step % 11 == 0 then
            for n = 1000, 3000 do t[n] = n c[n] = false end
            for n = 1000, 3000 do t[n] = nil c[n] = nil end
          else live[random(3000)] = {step, step} end
          if step % 500 == 0 then collectgarbage(step % 3000 == 0 and "collect" or "step") end
          if step % 1000 == 0 then
            assert(state.check() == nil)
            for _, other in ipairs(live) do assert(other[1] == other[2]) end
            for n = 1, 4 do
              for key, id in pairs(copies[n]) do
                local v = tables[n][key]
                if id == false or id == nil then assert(type(v) ~= "string")
                else assert(isintact(v, id), key) end
              end
            end
          end
        end
      end, seed)
    end)
  end
end)

describe("a text that is dropped", function()
  -- A former bug: with many states, the growth that is allowed for each state is small, and one text
  -- exceeded it. The major collection that started because of it tenured the text, and each state kept 475
  -- KB.
  it("is gone soon where there are many states, too", function()
    local states, all = require "states", {}
    for i = 1, 100 do
      local s = states.open()
      all[i] = s
      assert.equal("ok", (s:run(function()
        do
          local text = ("x"):rep(300000)
          text = text .. "y"
          assert(#text == 300001)
          text = nil  -- luacheck: ignore 311
        end
        for k = 1, 2000 do local _ = {k} end
      end)))
    end
    local held = 0
    for _, s in ipairs(all) do held = held + s:memory().held end
    for _, s in ipairs(all) do s:close() end
    assert.is_true(held < 100 * 150000, held // 100)
  end)
end)

describe("a large userdata", function()
  -- A former bug: a userdata that was alive at a collection was tenured, so that the program ran at 0.16 to
  -- 0.2 of upstream's speed, next to 50,000 objects.
  it("dies young, too", function()
    within(function(state)
      local live, last = {}, nil
      for i = 1, 50000 do live[i] = {i} end
      collectgarbage()
      local _, _, _, before = state.memory()
      for i = 1, 2000 do
        local u = state.userdata(20000 + i, i % 2)
        if i % 10 == 0 then last = u end
        assert(state.intact(last or u))
      end
      local _, _, _, majors = state.memory()
      assert(majors - before <= 3, majors - before)
      assert(#live == 50000 and state.intact(last))
    end)
  end)

  it("is gone from weak tables when it is dead, at any age, and not before", function()
    within(function(state)
      local values = setmetatable({}, {__mode = "v"})
      local keys, both = setmetatable({}, {__mode = "k"}), setmetatable({}, {__mode = "kv"})
      local ring = {}
      for i = 1, 600 do
        local u = state.userdata(9000 + i, i % 3)
        values[i], keys[u], both[u] = u, {i}, u
        ring[i % 40] = {u, i}
        for _ = 1, i % 50 do ring[-1] = {i} end
        for k = 0, 39 do
          local r = ring[k]
          if r then assert(values[r[2]] == r[1] and keys[r[1]][1] == r[2] and both[r[1]] == r[1]) end
        end
      end
      ring = nil  -- luacheck: ignore 311
      collectgarbage()
      assert(next(values) == nil and next(keys) == nil and next(both) == nil)
    end)
  end)

  it("has its finalizer called, and its values and metatable kept, whenever it gets them", function()
    within(function(state)
      local called, ring, made = 0, {}, 0
      for i = 1, 500 do
        local u = state.userdata(10000, 1)
        made = made + 1
        ring[i % 20] = u
        for _ = 1, 300 do ring[-1] = {i} end
        local other = ring[(i + 7) % 20]
        if other and not debug.getmetatable(other) then
          debug.setuservalue(other, {i, {i}}, 1)
          debug.setmetatable(other, {number = i, __gc = function(o)
            assert(debug.getuservalue(o, 1)[2][1] == debug.getmetatable(o).number)
            called = called + 1
          end})
        end
      end
      for i = 0, 19 do
        local m = debug.getmetatable(ring[i])
        assert(m == nil or debug.getuservalue(ring[i], 1)[1] == m.number)
      end
      local with = 0
      for i = 0, 19 do with = with + (debug.getmetatable(ring[i]) and 1 or 0) end
      ring = nil  -- luacheck: ignore 311
      collectgarbage()
      assert(called > 300 and called <= made and with > 0, called)
    end)
  end)
end)

describe("a small userdata with a finalizer", function()
  -- A former bug: a userdata that was alive at a collection was tenured. The number of such userdata
  -- started a major collection every few nurseries, which tenured all userdata pending finalization. The
  -- program ran at 0.7 to 0.85 of upstream's speed.
  for _, ring in ipairs {30, 1000} do
    it(("dies young in a ring of %d"):format(ring), function()
      within(function(state, slots)
        local live, held, called = {}, state.table(slots, 0), 0
        local meta = {__gc = function() called = called + 1 end}
        for i = 1, 20000 do live[i] = {i} end
        collectgarbage()
        local start, tenured = state.allocated(), collectgarbage("statistics").tenured
        for i = 1, 60000 do
          held[i % slots + 1] = debug.setmetatable(state.userdata(200), meta)
        end
        local bytes = state.allocated() - start
        -- tenured bytes since the start; with the former bug they were 0.29 and 0.64 of all bytes
        tenured = collectgarbage("statistics").tenured - tenured
        assert(tenured < bytes / (slots > 100 and 3 or 8), ("%d of %d"):format(tenured, bytes))
        assert(#live == 20000)
        held = nil  -- luacheck: ignore 311
        collectgarbage()
        assert(called == 60000, called)
      end, ring)
    end)
  end

  -- A former bug: only major collections found these objects dead, and each of them missed more objects
  -- that had died while it ran than the previous one. The heap had up to 132 MB for 5,000 objects of 64
  -- bytes.
  for _, kind in ipairs {"userdata", "tables"} do
    it(("is not found late, nor are %s, where thousands are alive"):format(kind), function()
      local most = within(function(state, which)
        local ring, called, most = state.table(5000, 0), 0, 0
        local meta = {__gc = function() called = called + 1 end}
        for i = 1, 600000 do
          local o = (which == "tables") and {i, i} or state.userdata(64)
          ring[i % 5000 + 1] = debug.setmetatable(o, meta)
          if i % 500 == 0 then most = math.max(most, (state.memory())) end
        end
        ring = nil  -- luacheck: ignore 311
        collectgarbage()
        assert(called == 600000, called)
        return most
      end, kind)
      assert.is_true(most < 8 << 20, most)
    end)
  end

  it("is intact, at any age, whatever holds it", function()
    within(function(state)
      local called, made, ids = 0, 0, setmetatable({}, {__mode = "k"})
      local values, both = setmetatable({}, {__mode = "v"}), setmetatable({}, {__mode = "kv"})
      local meta = {__gc = function(u)
        assert(state.intact(u) and debug.getuservalue(u, 1) == ids[u][1])
        called = called + 1
      end}
      local function new(i)
        local u = state.userdata(i % 30 * 16, 1 + i % 2)
        debug.setuservalue(u, i, 1)
        ids[u], values[i], both[u] = {i}, u, u
        made = made + 1
        return debug.setmetatable(u, meta)
      end
      local array, small, fields, up = state.table(2000, 0), {}, {}, nil
      local function set(u) up = u end
      -- each of these tables refers to the previous one
      local others = {}
      local hold = coroutine.wrap(function(...)
        local a, b = ...
        while true do a, b = coroutine.yield(a, b), a end
      end)
      hold(1, 2)
      for i = 1, 30000 do
        local u = new(i)
        local how = i % 8
        if how == 0 then array[i % 2000 + 1] = u
        elseif how == 1 then small[i % 20 + 1] = u
        elseif how == 2 then fields["f" .. i % 50] = u
        elseif how == 3 then set(u)
        elseif how == 4 then hold(u, u)
        elseif how == 5 then
          local before = others[i % 64]
          if before and debug.getuservalue(before, 1) % 128 < 64 then
            debug.setuservalue(u, before, 2)
          end
          others[i % 64] = u
        -- stores the same userdata in a second slot
        elseif how == 6 then array[i % 90 + 1] = array[(i * 7) % 2000 + 1]
        else debug.setmetatable(array[i % 2000 + 1] or u, meta) end
        if i % 300 == 0 then
          state.check()
          for _, t in ipairs {array, small, fields, others} do
            for _, o in pairs(t) do
              local id = ids[o][1]
              assert(state.intact(o) and debug.getuservalue(o, 1) == id)
              assert(values[id] == o and both[o] == o)
            end
          end
          assert(up == nil or state.intact(up))
        end
        if i % 4000 == 0 then collectgarbage(i % 8000 == 0 and "collect" or "step") end
        if i % 10000 == 0 then
          local before = collectgarbage "incremental"
          if before == "incremental" then collectgarbage "generational" end
        end
      end
      array, small, fields, up, others, hold = nil, nil, nil, nil, nil, nil  -- luacheck: ignore 311
      for _ = 1, 4 do collectgarbage() end
      assert(called >= made - 2, called)
    end)
  end)
end)
