-- SPDX-License-Identifier: MIT
--
-- Major collections (lua/gc/collect/major.c), and everything that a program may do between two slices.
-- Slices are small in this spec, so that every phase is tested: marking, and sweeping of strings, of lists
-- and of lines.

local process = require "spec.support.process"
local within = require "spec.lua.gc.within"

describe("a major collection in slices", function()
  it("ends, frees dead objects and keeps the rest, in both modes", function()
    for _, mode in ipairs {"generational", "incremental"} do
      within(function(state, m)
        collectgarbage(m)
        local live, weak = state.table(3000, 0), setmetatable({}, {__mode = "v"})
        for i = 1, 3000 do
          live[i] = {i}
          weak[i] = live[i]
        end
        collectgarbage()
        for i = 1, 3000, 2 do live[i] = false end
        local _, _, _, majors = state.memory()
        -- a pause of 100 starts a cycle immediately
        collectgarbage("incremental", 100, 1, 10)
        local steps = 0
        repeat
          steps = steps + 1
        -- each step is one KiB
        until collectgarbage("step", 1)
        assert(select(4, state.memory()) == majors + 1)
        assert(steps > 5, steps)
        for i = 1, 2999 do assert((weak[i] ~= nil) == (i % 2 == 0), i) end
        state.check()
      end, mode)
    end
  end)

  -- A former bug: the program created a short string again that was dead but not swept yet. Neither the
  -- pacer nor a limit of the bytes in use counted this string (H6).
  it("counts strings that are made again while they are swept", function()
    within(function(state)
      local function make()
        local t = {}
        for i = 1, 20000 do t[i] = ("string %d, which is made twice"):format(i) end
        return t
      end
      local t = make()
      collectgarbage()
      collectgarbage("incremental", 200, 4, 10)
      collectgarbage "stop"
      local before, _, _, majors = state.memory()
      assert(#t == 20000)
      t = nil  -- luacheck: ignore 311
      repeat collectgarbage("step", 0) until select(4, state.memory()) > majors
      local allocated = state.allocated()
      t = make()
      assert(state.allocated() - allocated < before / 2)  -- allocates the list, not its strings
      collectgarbage("step", 0)
      local inuse = state.memory()
      collectgarbage()
      local after = state.memory()
      assert(math.abs(after - inuse) < after / 10, ("%d, then %d"):format(inuse, after))
      assert(#t == 20000)
    end)
  end)

  -- A former bug: a full collection abandoned a major collection. It still traversed the objects for which
  -- the mark stack had had no memory, although nothing referred to them any more. So the bytes in use
  -- exceeded the reachable bytes (H6).
  it("is abandoned by a full one, with objects that its mark stack had no memory for", function()
    for steps = 1, 6 do
      local left = within(function(state, m)
        collectgarbage("incremental", 200, 4, 5)
        local weak = setmetatable({}, {__mode = "v"})
        do
          local root = {}
          for i = 1, 3000 do
            weak[i] = {}
            root[i] = {weak[i]}
          end
          for _ = 1, 5 do collectgarbage() end
          collectgarbage "stop"
          state.failall(0)
          for _ = 1, m do collectgarbage("step", 0) end
          state.failall()
          assert(#root == 3000)
        end
        collectgarbage()
        local n = 0
        for _ in pairs(weak) do n = n + 1 end
        return n
      end, steps)
      assert.equal(0, left)
    end
  end)

  -- Code at the start of each tested program. Its function start() starts a major collection with small
  -- slices, in generational mode.
  local PRELUDE = [==[
    local state, seed = ...
    math.randomseed(seed, 0)
    local function start()
      collectgarbage("nursery", 1000)
      collectgarbage("incremental", 200, 4, 1)  -- this step marks almost nothing
      collectgarbage("step")
      collectgarbage("generational")
    end
    local function majors() return (select(4, state.memory())) end
  ]==]

  -- The debug build tests only one seed, because it verifies the whole heap at each collection.
  local SEEDS = os.getenv "ASAMP_VARIANT" == "debug" and 1 or 3

  -- Runs PRELUDE and the code in a separate state, which is checked afterwards.
  local function run(code, seed)
    return within(function(state, text, n)
      return assert(load(text, "=code"))(state, n)
    end, PRELUDE .. code, seed)
  end

  it("sees a list that is moved about while it is marked", function()
    for seed = 1, SEEDS do
      run([==[
        local lists, n = {}, 100
        for i = 1, n do
          lists[i] = {}
          for j = 1, 40 do lists[i][j] = {i, j} end
        end
        collectgarbage()
        local before, round = majors(), 0
        repeat
          round = round + 1
          if round % 20 == 1 then start() end
          for _ = 1, 10 do  -- moves a list, or a part of it, from one field to another
            local a, b, k = math.random(n), math.random(n), math.random(40)
            lists[a], lists[b] = lists[b], lists[a]
            lists[a][k], lists[b][k] = lists[b][k], lists[a][k]
          end
          for _ = 1, 10 do local _ = {round} end  -- these allocations start slices
          if round % 50 == 0 then state.check() end
          assert(round < 4000)
        until round >= 100 and majors() > before
        local seen = {}
        for i = 1, n do
          for j = 1, 40 do
            local v = lists[i][j]
            assert(v[2] == j and not seen[v[1] * 100 + j], i)
            seen[v[1] * 100 + j] = true
          end
        end
      ]==], seed)
    end
  end)

  it("finds strings that are made again while they are dead and being swept", function()
    for seed = 1, 4 do
      run([==[
        local names = {}
        for i = 1, 6000 do names[i] = "name " .. i end
        for i = 1, 3000 do names[-i] = {i} end  -- marking takes several slices
        collectgarbage()
        local set = {}
        for _ = 1, 4 do
          for i = 1, 6000 do names[i] = false end  -- now no object refers to the strings
          start()
          local before = majors()
          while majors() == before do local t = {}; assert(#t == 0) end
          for _ = 1, 4000 do  -- the string may be dead, already swept, or new
            local i = math.random(6000)
            local s = "name " .. i
            assert(not names[i] or names[i] == s)
            set[s], names[i] = i, s
          end
          state.check()
          for i = 1, 6000 do
            if names[i] then assert(names[i] == "name " .. i and set["name " .. i] == i) end
          end
          set = {}
          collectgarbage()
        end
      ]==], seed)
    end
  end)

  -- luaS_new searches a C string first in a cache, by the address of its characters. If the program creates
  -- a dead string again, the cache has it, and may have the only reference to it when its bucket is swept.
  it("keeps a dead string that is made again for the cache of C strings", function()
    within(function(state)
      local closed = io.tmpfile()
      closed:close()
      local live, cycles = {}, 0
      for i = 1, 500 do live[i] = "string " .. i end
      for steps = 0, 400 do
        live.before = {}
        -- io.type returns a string literal of the library, to which nothing else refers
        live.name = io.type(closed)
        -- an object on the same line of memory, which stays alive
        live.neighbor = {}
        collectgarbage()
        live.name = nil
        collectgarbage("incremental", 100, 1, 10)
        local over = false
        for _ = 1, steps do over = over or collectgarbage("step", 1) end
        if over then break end
        -- creates the string again, and drops it
        io.type(closed)
        repeat until collectgarbage("step", 1)
        local name = io.type(closed)
        state.check()  -- checks that the string is in the string table
        assert(live.neighbor and name == "closed" .. " " .. "file")
        cycles = cycles + 1
      end
      assert(cycles > 10, cycles)
    end)
  end)

  it("sweeps a string table that grows meanwhile, and shrinks it afterwards", function()
    run([==[
      local names = {}
      for i = 1, 3000 do names[i] = "name " .. i end
      collectgarbage()
      for round = 1, 6 do
        for i = 1, 3000, 2 do names[i] = false end
        local before, n = majors(), 0
        start()
        local more = {}
        repeat
          n = n + 1
          more[n] = ("round %d, %d"):format(round, n)
        until majors() > before
        for _ = 1, 20000 do  -- the string table doubles while its buckets are swept
          n = n + 1
          more[n] = ("round %d, %d"):format(round, n)
        end
        state.check()
        for i = 1, n do assert(more[i] == ("round %d, %d"):format(round, i)) end
        for i = 1, 3000 do
          if names[i] then assert(names[i] == "name " .. i) end
          names[i] = "name " .. i
        end
        more = nil
        for _ = 1, 4 do collectgarbage() end  -- the string table, now too large, shrinks
        state.check()
        for i = 1, 3000 do assert(names[i] == "name " .. i) end
      end
    ]==], 1)
  end)

  it("sees big tables that are resized while they are half marked", function()
    for seed = 1, SEEDS do
      run([==[
        local big = {}
        for i = 1, 6 do
          big[i] = {}
          for j = 1, 5000 do
            big[i][j] = {j}
            if j % 5 == 0 then big[i]["key " .. j] = {j} end
          end
        end
        collectgarbage()
        local before = majors()
        local left = 5000
        for round = 1, 40 do
          start()
          local t = big[math.random(6)]
          local what = math.random(4)
          if what == 1 then
            for j = #t + 1, #t + 2000 do t[j] = {j} end
          elseif what == 2 then
            for j = #t, 2500, -1 do t[j] = nil end
            for j = 1, 9 do t[-j] = {j} end  -- new keys make Lua shrink the array
            for j = 1, 9 do t[-j] = nil end
          elseif what == 3 then
            for j = 1, 2000 do t[j + 0.5] = {j} end
            for j = 1, 2000 do t[j + 0.5] = nil end
          else
            for j = 1, 2400, 7 do t[j] = {j} end
          end
          if round % 10 == 0 then state.check() end
        end
        for i = 1, 6 do
          for j = 1, #big[i] do assert(big[i][j][1] == j) end
          for j = 5, 5000, 5 do assert(big[i]["key " .. j][1] == j) end
        end
        assert(majors() > before)
      ]==], seed)
    end
  end)

  it("counts the bytes by which a table grows when it has been marked", function()
    run([==[
      local live, grown = {}, {}
      for i = 1, 20000 do live[i] = {i} end
      for i = 1, 100 do grown[i] = i end
      collectgarbage()
      start()
      local before = majors()
      while majors() == before do
        local t = {}
        for _ = 1, 200 do grown[#grown + 1] = #t end
      end
      assert(#grown > 5000 and #live == 20000, #grown)
      collectgarbage("step")
      local inuse = state.memory()
      collectgarbage()
      local left = state.memory()
      assert(math.abs(inuse - left) < 20000, inuse - left)
    ]==], 1)
  end)

  it("marks the metatable of a big table, which it takes in parts", function()
    run([==[
      local big = setmetatable({}, {__index = function(_, k) return "field " .. k end})
      for i = 1, 10000 do big[i] = i end
      collectgarbage()
      start()
      local before = majors()
      while majors() == before do local t = {}; assert(#t == 0) end
      state.check()
      collectgarbage()
      assert(big.x == "field x")
    ]==], 1)
  end)

  it("starts again with a table whose entries have moved", function()
    run([==[
      for n = 4, 80, 8 do
        local t = {}
        for i = 1, 6000 do t["key " .. i] = {i} end
        collectgarbage()
        start()
        local before = majors()
        for _ = 1, n do local x = {}; assert(#x == 0) end
        for i = 1, 3000 do t[i + 0.5] = i end  -- the hash part grows, and its keys get another order
        while majors() == before do local x = {}; assert(#x == 0) end
        state.check()
        for i = 1, 6000 do assert(t["key " .. i][1] == i) end
      end
    ]==], 1)
  end)

  it("clears weak tables that it met in a slice, as they are in the end", function()
    for seed = 1, SEEDS do
      run([==[
        local keys, other = {}, {}
        local values = setmetatable({}, {__mode = "v"})
        local ephemeron = setmetatable({}, {__mode = "k"})
        local both = setmetatable({}, {__mode = "kv"})
        for i = 1, 2000 do
          keys[i] = {i}
          values[i] = keys[i]
          ephemeron[keys[i]] = {keys[i], i}  -- the value refers to its own key
          both[keys[i]] = keys[i]
        end
        collectgarbage()
        local before = majors()
        for round = 1, 5 do
          start()
          repeat  -- some objects die, some are new, some are moved to another slot
            local i = math.random(2000)
            local what = math.random(3)
            if what == 1 then keys[i] = false
            elseif what == 2 then
              keys[i] = {i}
              values[i] = keys[i]
              ephemeron[keys[i]] = {keys[i], i}
              both[keys[i]] = keys[i]
            elseif values[i] then
              other[i], keys[i] = values[i], false
            end
          until majors() > before
          before = majors()
          for i = 1, 2000 do
            local k = keys[i] or other[i]
            if k then
              assert(k[1] == i and ephemeron[k][2] == i and both[k] == k)
              assert(not keys[i] or values[i] == k)
            end
          end
          state.check()
        end
        keys, other = nil, nil
        collectgarbage()
        collectgarbage()
        assert(not next(values) and not next(ephemeron) and not next(both))
      ]==], seed)
    end
  end)

  -- A former bug: every minor collection during marking added the weak tables that it reached to the list
  -- again. A cache with 100,000 weak keys, in a heap of 100 MB, caused a pause of half a minute.
  it("has a weak table once in its list, however many minor ones meet it meanwhile", function()
    within(function(state)
      collectgarbage("nursery", 4000)
      local big, cache, keep = state.table(20000, 0), setmetatable({}, {__mode = "k"}), {}
      for i = 1, 20000 do big[i] = {i} end
      collectgarbage()
      local _, _, minors, majors = state.memory()
      local now, checks = majors, 0
      for i = 1, 200000 do
        local key = {i}
        keep[i % 100 + 1] = key
        cache[key] = i
        big[i % 20000 + 1] = {key}
        if i % 500 == 0 then
          state.check()
          checks = checks + 1
          now = select(4, state.memory())
          if now >= majors + 2 then break end
        end
      end
      assert(now >= majors + 2 and select(3, state.memory()) - minors > 100, checks)
      for i = 1, 100 do assert(cache[keep[i]] == keep[i][1]) end
    end)
  end)

  -- A former bug: if a table whose slots were remembered became weak after it was marked, its dead entries
  -- were not cleared, so that it referred to freed objects.
  it("clears a table that becomes weak after it was marked", function()
    for _, mode in ipairs {"v", "k", "kv"} do
      within(function(state, m)
        collectgarbage("generational")
        local tables, meta = {}, {__mode = m}
        for i = 1, 20 do
          tables[i] = state.table(0, 512)
          for j = 1, 64 do tables[i][j + 0.5] = {j} end
        end
        -- these objects are marked after the tables
        local objects = state.table(20000, 0)
        for i = 1, 20000 do objects[i] = {{i}} end
        collectgarbage()
        collectgarbage("nursery", 20000)
        local _, _, _, before = state.memory()
        local at = 0
        repeat
          local _, _, minors, now = state.memory()
          if minors % 16 == 0 then
            for _, t in ipairs(tables) do setmetatable(t, meta) end
          end
          for _ = 1, 100 do
            at = at % 20000 + 1
            local t = tables[at % 20 + 1]
            local old = objects[20001 - at]
            local key = at % 64 + 1.5
            if m == "v" then t[key] = old[1]
            else
              if m == "k" and next(t) then t[next(t)] = nil end  -- the table may be empty
              t[old[1]] = {at}
            end
            old[1] = {at}
          end
          if minors % 16 == 15 then
            for _, t in ipairs(tables) do setmetatable(t, nil) end
            state.check()
          end
        until now >= before + 3
        state.check()
      end, mode)
    end
  end)

  it("clears weak tables that were born while it marked", function()
    run([==[
      local source, held, live = setmetatable({}, {__mode = "v"}), {}, {}
      for i = 1, 5000 do live[i] = {i} end  -- marking them takes several slices
      for i = 1, 500 do held[i] = {i}; source[i] = held[i] end
      collectgarbage()
      -- this old object dies now; a major collection that has already started would not find it dead
      held = nil
      start()
      local before = majors()
      local values, keys = setmetatable({}, {__mode = "v"}), setmetatable({}, {__mode = "k"})
      local both = setmetatable({}, {__mode = "kv"})
      collectgarbage("stop")  -- a collection in this loop could find the value in a register and mark it
      for i = 1, 500 do
        values[i] = source[i]
        keys[source[i]], both[source[i]] = i, source[i]
      end
      collectgarbage("restart")
      assert(majors() == before and values[500][1] == 500 and #live == 5000)
      while majors() == before do local t = {}; assert(#t == 0) end
      local function count(t)
        local n = 0
        for _ in pairs(t) do n = n + 1 end
        return n
      end
      -- a register may still contain one of the objects
      assert(count(values) <= 1 and count(keys) <= 1 and count(both) <= 1)
      state.check()
    ]==], 1)
  end)

  it("keeps the contents of a table that was weak when it was marked and strong at the end", function()
    run([==[
      local live, over = {}, false
      for i = 1, 300 do live[i] = {i} end
      local n = 0
      repeat
        local t, held = setmetatable({}, {__mode = "v"}), {}
        for i = 1, 100 do held[i] = {i}; t[i] = held[i] end
        collectgarbage()
        held = nil
        start()
        local before = majors()
        for _ = 1, n do local x = {}; assert(#x == 0) end
        over, n = majors() > before, n + 40
        local alive = t[1] ~= nil
        setmetatable(t, nil)
        while majors() == before do local x = {}; assert(#x == 0) end
        collectgarbage()
        for i = 1, 100 do assert(not alive or t[i][1] == i) end
        state.check()
      until over  -- repeats with more allocations until the collection ends before t becomes strong
      assert(n > 80 and #live == 300, n)
    ]==], 1)
  end)

  -- Since 5.4.9, upstream visits a table with weak keys and values again at the end of a collection,
  -- because its metatable may be new. In the fork, the barrier marks the metatable.
  it("keeps the metatable that a weak table gets after it was met", function()
    for _, mode in ipairs {"k", "v", "kv"} do
      run((([==[
        local live, over, n = {}, false, 0
        for i = 1, 300 do live[i] = {i} end
        repeat
          local t = setmetatable({}, {__mode = "MODE"})
          local other = {{__mode = "MODE"}}  -- old as well
          collectgarbage()
          start()
          local before = majors()
          for _ = 1, n do local x = {}; assert(#x == 0) end
          over, n = majors() > before, n + 40
          setmetatable(t, #live % 2 == 0 and table.remove(other) or {__mode = "MODE"})
          live[#live + 1] = {}
          while majors() == before do local x = {}; assert(#x == 0) end
          for i = 1, 300 do local x = {i, {}}; assert(#x == 2) end
          state.check()
          assert(getmetatable(t).__mode == "MODE")
        until over
        assert(n > 80, n)
      ]==]):gsub("MODE", mode)), 1)
    end
  end)

  it("follows a chain of ephemerons of any length", function()
    run([==[
      local table = setmetatable({}, {__mode = "k"})
      local first = {}
      local k = first
      for i = 1, 3000 do
        local v = {i}
        table[k] = v
        k = v
      end
      k = nil
      for _ = 1, 3 do
        start()
        local before = majors()
        while majors() == before do local t = {}; assert(#t == 0) end
        collectgarbage()
        local n, at = 0, first
        while table[at] do
          at = table[at]
          n = n + 1
          assert(at[1] == n)
        end
        assert(n == 3000, n)
      end
      first = nil
      collectgarbage()
      assert(next(table) == nil)
    ]==], 1)
  end)

  it("finalizes objects that die while it runs in order, once", function()
    run([==[
      local found, mt = {}, {}
      function mt.__gc(o) found[#found + 1] = o[1] end
      local kept = {}
      for i = 1, 500 do kept[i] = setmetatable({i, {}}, mt) end
      collectgarbage()
      for i = 1, 500, 2 do kept[i] = false end
      start()
      local before = majors()
      -- Finalizers are called in batches, which end earlier on a busy machine.
      for _ = 1, 1000000 do
        if majors() > before and #found >= 250 then break end
        local t = {}
        assert(#t == 0)
      end
      assert(#found == 250, #found)
      for i = 1, 250 do assert(found[i] == 501 - 2 * i, i) end
      kept = nil
      collectgarbage()
      assert(#found == 500)
      for i = 251, 500 do assert(found[i] == 1002 - 2 * i, i) end
    ]==], 1)
  end)

  it("is started again by a full collection, in any phase", function()
    for seed = 1, SEEDS do
      run([==[
        local live = {}
        for i = 1, 3000 do live[i] = {i, "text " .. i} end
        for round = 1, 60 do
          start()
          for _ = 1, math.random(400) do
            local i = math.random(3000)
            live[i] = {i, "text " .. i}
          end
          collectgarbage()
          if round % 10 == 0 then state.check() end
        end
        for i = 1, 3000 do assert(live[i][1] == i and live[i][2] == "text " .. i) end
      ]==], seed)
    end
  end)
end)

describe("memory of a heap that has become small", function()
  it("is given back, by full collections and by slices", function()
    for _, full in ipairs {true, false} do
      within(function(state, all)
        local t = {}
        for i = 1, 60000 do t[i] = {i, {}} end
        for i = 1, 20 do t[-i] = state.userdata(100000) end
        collectgarbage()
        assert(#t == 60000)
        local _, most = state.memory()
        t = nil  -- luacheck: ignore 311
        if all then for _ = 1, 3 do collectgarbage() end
        else
          local _, _, _, before = state.memory()
          -- Several collections are needed: freed memory is kept for up to two periods, which end when the
          -- program has allocated three times the largest heap (WHILE_HEAPS of major.c).
          local first = state.allocated()
          while select(4, state.memory()) < before + 12 or state.allocated() - first < 10 * most do
            for i = 1, 3000 do assert(#{i} == 1) end
            collectgarbage("incremental")
            collectgarbage("step", 100)
            collectgarbage("generational")
          end
        end
        local used, held = state.memory()
        assert(held == state.bytes())
        assert(used < 400000, used)
        assert(held < most // 3, ("%d of %d"):format(held, most))
      end, full)
    end
  end)

  -- A former bug: when a program repeatedly created a heap and dropped it, each page was returned to the
  -- system and cleared every time. That took half of the time: 50,000 system calls for sixty heaps of 16
  -- MB.
  it("is kept where it is needed again soon", function()
    local status, out = process.code[[
      local run = dofile "bench/load/batches.lua".run
      local function faults()
        return tonumber(io.open("/proc/self/stat"):read("a"):match("%) %S" .. (" %S+"):rep(6) .. " (%d+)"))
      end
      run(5)
      local before = faults()
      run(20)
      print((faults() - before) // 20)]]
    assert.equal(0, status)
    -- number of page faults of a round; with the former bug it was 2,800
    assert.is_true(tonumber(out) < 1200, out)
  end)

  -- A former bug: when a sweep freed the end of malloc's heap, malloc returned its pages to the system,
  -- which then had to clear them again: 90 page faults for each string. Only large strings come from
  -- malloc; chunks of the heap are mapped.
  for _, case in ipairs {{200000, 1, 100}, {30000, 30, 8}, {10000000, 3, 2000}} do
    local size, kept, most = table.unpack(case)
    it(("is kept where strings of %d bytes are made and dropped #plain"):format(size), function()
      local status, out = process.code(([[
        local size, kept = %d, %d
        local function faults()
          local stat = io.open("/proc/self/stat"):read("a")
          return tonumber(stat:match("%%) %%S" .. (" %%S+"):rep(6) .. " (%%d+)"))
        end
        local text, ring = ("z"):rep(size), {}
        local function make(n) for i = 1, n do ring[i %% kept] = text .. i end end
        local n = size > 1000000 and 20 or 2000
        make(4 * n)  -- until malloc's heap has its final length
        local before = faults()
        make(n)
        print((faults() - before) * 20 // n)]]):format(size, kept))
      assert.equal(0, status)
      -- number of page faults for 20 strings; with the bug it was 900, 15 and 9,703
      assert.is_true(tonumber(out) < most, out)
    end)
  end

  -- A former bug: the collector's lists of finalizable objects, remembered objects and weak tables
  -- kept their maximal size for ever.
  it("is given back by the collector's own lists", function()
    local function held(how)
      return within(function(state, kind)
        local metas = {
          finalizers = {__gc = function(o) o[1] = o[1] + 1 end}, weak = {__mode = "k"},
          remembered = {}, plain = {},
        }
        local t = state.table(200000, 0)
        for i = 1, 200000 do t[i] = setmetatable({i}, metas[kind]) end
        collectgarbage()
        if kind == "remembered" then
          collectgarbage("nursery", 100 << 20)
          for i = 1, 200000 do t[i][1] = {} end
          collectgarbage("nursery", 0)
        end
        t = nil  -- luacheck: ignore 311
        for _ = 1, 12 do collectgarbage() end
        return select(2, state.memory())
      end, how)
    end
    local plain = held "plain"
    for _, how in ipairs {"finalizers", "remembered", "weak"} do
      -- a list that did not shrink would have 2 MiB; the heap may have one chunk more
      local more = held(how) - plain
      assert.is_true(more < 5 << 18, ("%s: %d bytes more"):format(how, more))
    end
  end)

  it("does not include the list of pending finalizers", function()
    within(function(state)
      local called, n = {}, 0
      local mt = {}
      function mt.__gc(o)
        n = n + 1
        called[n] = o[1]
        -- this finalizer runs a full collection while the collector traverses the list of finalizable
        -- objects
        if o[1] > 0 and o[1] % 1000 == 0 then
          local _, _, _, before = state.memory()
          state.fail(1)
          local u = state.userdata(20000)
          local _, _, _, after = state.memory()
          assert(state.intact(u) and after == before + 1)
          setmetatable({-o[1]}, mt)
        end
      end
      local t = state.table(20000, 0)
      for i = 1, 20000 do t[i] = setmetatable({i}, mt) end
      -- all objects are alive during these collections, so that the list has capacity for each
      for _ = 1, 8 do collectgarbage() end
      assert(n == 0 and #t == 20000)
      for i = 2001, 20000 do t[i] = nil end
      collectgarbage()
      t = nil  -- luacheck: ignore 311
      for _ = 1, 8 do collectgarbage() end
      state.check()
      local seen = {}
      for i = 1, n do
        assert(not seen[called[i]], called[i])
        seen[called[i]] = true
      end
      for i = 1, 20000 do assert(seen[i], i) end
      for i = 1000, 20000, 1000 do assert(seen[-i], i) end
    end)
  end)

  it("is given back by an emergency, to the last chunk that is empty", function()
    local states = require "states"
    local s = states.open {limit = 12 << 20}
    local status, e = s:run(function(state)
      local t = {}
      for i = 1, 60000 do t[i] = {i} end
      assert(#t == 60000)
      collectgarbage()
      t = nil  -- luacheck: ignore 311
      collectgarbage("stop")
      -- this block of 10 MiB fits into the limit only if the collector has returned all chunks
      local u = state.userdata(10 << 20)
      assert(state.intact(u))
      state.check()
    end)
    assert.same({"ok", nil}, {status, e})
    assert.is_true(s:stats().refused > 0)
    assert.equal(0, s:close())
  end)
end)

describe("chunks that are given back", function()
  it("are not the ones that the next sweep has come to: a sweep's cursor stood in a freed chunk", function()
    -- In each step the heap returns two chunks, while the sweep of the next cycle starts at the first chunk.
    -- A former bug: the sweep then read freed memory, which the ASan build detects.
    for _, kilobytes in ipairs {16, 24, 32, 48} do
      within(function(state, n)
        collectgarbage("incremental", 100, 100, 13)
        for _ = 1, 2 do
          do
            local t = {}
            for i = 1, 200000 do t[i] = {i} end
            assert(#t == 200000)
          end
          for _ = 1, 300 do collectgarbage("step", n) end
        end
        state.check()
      end, kilobytes)
    end
  end)
end)
