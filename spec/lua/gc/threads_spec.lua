-- SPDX-License-Identifier: MIT
--
-- Threads and the collector (lua/gc/mark/scan.c, thread.c). A minor collection scans only the changed part
-- of a stack, and does not scan suspended threads at all. Nevertheless their objects must stay alive, and a
-- collection must not find values of finished frames again.

local shell = require "spec.support.shell"
local states = require "states"
local within = require "spec.lua.gc.within"

describe("a coroutine that runs", function()
  it("is alive though nobody holds it", function()
    within(function(state)
      local main = coroutine.running()
      local ok, n = coroutine.resume(coroutine.create(function()
        -- clears the argument of coroutine.resume on the stack
        assert(debug.setlocal(main, 0, 1, nil))
        local held = {}
        for i = 1, 200 do
          held[i] = {i}
          if i % 50 == 0 then collectgarbage("step") end
        end
        collectgarbage()
        for i = 1, 200 do assert(held[i][1] == i) end
        state.check()
        return #held
      end))
      assert(ok and n == 200, n)
    end)
  end)

  -- The bytecode loop stores values without marking its thread as dirty, so that an emergency collection
  -- must leave the running thread dirty.
  it("is dirty after an emergency collection", function()
    within(function(state)
      collectgarbage("nursery", 50000)
      local kept = state.table(30000, 0)
      local minors, majors = select(3, state.memory())
      local ok, message = coroutine.resume(coroutine.create(function()
        state.fail(1)
        local b, c = {2}, {3}
        for i = 4, 30000 do
          local a = b
          b, c = c, {i}
          if a[1] ~= i - 2 or b[1] ~= i - 1 then error "a local is lost" end
          kept[i] = i % 2 == 0 and a
        end
      end))
      assert(ok, message)
      local later, full = select(3, state.memory())
      assert(full > majors and later > minors + 10, later)
      for i = 4, 30000, 2 do assert(kept[i][1] == i - 2) end
    end)
  end)
end)

describe("a coroutine that is suspended", function()
  it("keeps its objects, one of 30,000", function()
    within(function(state)
      local all = {}
      for i = 1, 30000 do
        local co = coroutine.wrap(function(a)
          local b = {a[1], "held"}
          while true do a = coroutine.yield(b[1] == a[1] and b[2] == "held") end
        end)
        co {i}
        all[i] = co
      end
      local _, _, minors = state.memory()
      -- each of these coroutines receives a new object, so that its stack must be scanned again
      for i = 1, 30000, 7 do
        assert(all[i] {i} == true, i)
        if i % 49 == 1 then collectgarbage("step") end
      end
      assert(select(3, state.memory()) - minors >= 600)
      for i = 1, 30000 do assert(all[i] {i} == true, i) end
      state.check()
    end)
  end)

  it("that is dropped is freed, with all that it alone has held", function()
    within(function(state)
      local held = setmetatable({}, {__mode = "v"})
      local function turn()
        local all = {}
        for i = 1, 2000 do
          local co = coroutine.wrap(function()
            local a = {}
            held[i] = a
            coroutine.yield()
            return a
          end)
          co()
          all[i] = co
        end
        collectgarbage("step")
        for i = 1, 2000 do assert(held[i] and all[i]) end
      end
      turn()
      collectgarbage()
      collectgarbage()
      local first = state.memory()
      assert(next(held) == nil)
      for _ = 1, 4 do turn() end
      collectgarbage()
      collectgarbage()
      assert(next(held) == nil)
      assert(state.memory() <= first + 4000, state.memory() - first)
    end)
  end)

  it("leaves its open upvalues to the closures that share them when it dies", function()
    within(function(state)
      -- returns closures over variables of a coroutine
      local function born(n)
        local get, set
        local co = coroutine.create(function()
          local a, b = {n}, {-n}
          get = function() return a, b end
          set = function(x, y) a, b = x, y end
          coroutine.yield()
        end)
        coroutine.resume(co)
        return get, set, co
      end
      -- the coroutine is old, or young, when it dies
      for _, old in ipairs {true, false} do
        local all, kept = {}, {}
        for i = 1, 600 do
          local get, set, co = born(i)
          all[i] = {get, set}
          if old then kept[i] = co end
        end
        if old then collectgarbage("step") end
        assert(not old or #kept == 600)
        kept = nil  -- luacheck: ignore 311
        local function look()
          for i = 1, 600 do
            local a, b = all[i][1]()
            assert(a[1] == i and b[1] == -i, i)
          end
        end
        for round = 1, 6 do
          if round == 4 then collectgarbage() else collectgarbage("step") end
          look()
          for i = 1, 600 do all[i][2]({i}, {-i}) end
          for i = 1, 500 do assert(#{i, {i}} == 2) end
          state.check()
          look()
        end
      end
    end)
  end)

  it("dies between two slices of a major collection, and its upvalues live on", function()
    within(function(state)
      local ballast, get, set = {}, {}, {}
      for i = 1, 4000 do ballast[i] = {i} end
      collectgarbage("nursery", 1000)
      for round = 1, 30 do
        local all = {}
        for i = 1, 20 do
          all[i] = coroutine.create(function()
            local a = {round}
            get[i] = function() return a end
            set[i] = function(v) a = v end
            coroutine.yield()
          end)
          coroutine.resume(all[i])
        end
        collectgarbage("step")
        collectgarbage("incremental")
        collectgarbage("step")  -- starts a major collection
        collectgarbage("generational")
        assert(#all == 20)
        all = nil  -- luacheck: ignore 311
        for _ = 1, 60 do
          for i = 1, 20 do
            assert(get[i]()[1] == round)
            set[i] {round}
          end
        end
        state.check()
      end
      assert(ballast[4000][1] == 4000)
    end)
  end)
end)

describe("a deep stack", function()
  it("of 150,000 frames keeps young objects at every depth", function()
    within(function(state)
      local _, _, minors = state.memory()
      local function down(n)
        local young = {n}
        if n > 0 then
          assert(down(n - 1) == n - 1)
        end
        return young[1]
      end
      assert(down(150000) == 150000)
      assert(select(3, state.memory()) - minors > 20)
      state.check()
    end)
  end)

  it("that goes up and down keeps the objects that its frames hold now", function()
    within(function(state)
      math.randomseed(5, 0)
      local function walk(depth, budget)
        local a = {depth}
        while budget > 0 do
          local b = {depth, {budget}}
          if math.random(5) == 1 then return budget - 1 end
          budget = walk(depth + 1, budget - 1)
          assert(a[1] == depth and b[1] == depth)
        end
        return 0
      end
      collectgarbage("nursery", 2000)
      for _ = 1, 30 do walk(0, 600) end
      state.check()
    end)
  end)

  it("gives no value back that has been above its top", function()
    within(function(state)
      local weak = setmetatable({}, {__mode = "v"})
      local function leaf(n)
        local a, b, c = {n}, {n}, {n}
        weak[#weak + 1], weak[#weak + 2], weak[#weak + 3] = a, b, c
        return a[1] + b[1] + c[1]
      end
      local function down(n)
        if n == 0 then return leaf(n) end
        return (down(n - 1))
      end
      for depth = 0, 300, 20 do
        down(depth)
        collectgarbage("step")
        collectgarbage()
        assert(next(weak) == nil, "a slot above the top keeps an object alive")
        -- a new frame at this depth of the stack must find only nil in its variables
        local function fresh(n)
          local a, b, c  -- luacheck: ignore 221
          if n > 0 then return fresh(n - 1) end
          assert(a == nil and b == nil and c == nil)
        end
        fresh(depth)
        state.check()
      end
    end)
  end)

  it("leaves nothing of before a collection to variables that a frame has not had yet", function()
    within(function(state)
      -- later lines of this chunk define 150 more local variables
      local lines = {"local a = 1", "a = a + 1"}
      for i = 1, 150 do lines[i + 2] = ("local v%d = %d"):format(i, i) end
      local wide = assert(load(table.concat(lines, "\n")))
      local function down(n)
        local a, b, c, d = {n}, {n, left = 1}, {n, left = 1}, {n, left = 1}
        if n > 0 then down(n - 1) end
        return a[1] + b[1] + c[1] + d[1]
      end
      local seen = 0
      for round = 1, 20 do
        -- leaves tables in the slots that the next frame uses
        down(40)
        collectgarbage(round % 2 == 0 and "step" or "collect")
        for i = 1, 1000 do assert(#{i, i, i} == 3) end
        debug.sethook(function()
          if debug.getinfo(2, "f").func ~= wide then return end
          collectgarbage("step")
          for i = 1, 200 do
            local name, v = debug.getlocal(2, i)
            if not name then break end
            seen = seen + 1
            assert(type(v) ~= "table" or not v.left, "a slot that was above the top came back")
          end
          state.check()
        end, "l")
        wide()
        debug.sethook()
      end
      assert(seen > 1000, seen)
    end)
  end)

  -- A former bug: if a recursion grew over a long time, its CallInfos were scattered over the heap. A walk
  -- over 130,000 of them, to move the stack, had a cache miss at each (10 ms).
  it("gets the CallInfos of a deep recursion many at a time", function()
    within(function()
      local left = 0
      local function dive(depth)
        if left == 0 then left = coroutine.yield() end
        left = left - 1
        return (dive(depth + 1))
      end
      local deeper = coroutine.wrap(dive)
      deeper(1)
      deeper(4000)
      collectgarbage()
      collectgarbage("stop")
      local rises, before = 0, collectgarbage("count")
      for _ = 1, 1000 do
        deeper(1)
        local after = collectgarbage("count")
        if after > before then rises = rises + 1 end
        before = after
      end
      collectgarbage("restart")
      assert(rises > 0 and rises < 20, rises)
    end)
  end)

  -- A former bug: the used part of a stack was computed from the CallInfos, but a CallInfo describes only
  -- its last call. Slots that an earlier and larger call had used kept their values, although a collection
  -- had freed the objects. When a later frame used these slots and called a hook or a metamethod, the next
  -- collection found the values.
  it("forgets a call that went further than the ones which came after it", function()
    within(function(state)
      local function wide(first, each)  -- 150 variables
        local lines = {first}
        for i = 1, 150 do lines[i + 1] = ("local v%d = %s"):format(i, each) end
        return assert(load(table.concat(lines, "\n")))
      end
      local far, near = wide("local a = ...", "{left = 1}"), function() end
      local late = wide("local a = ...; a = a + 1", "1")
      local seen, stale = 0, 0
      -- this metamethod is called in the function 'late', before it has set its variables
      local meta = setmetatable({}, {__add = function()
        collectgarbage("step")
        for i = 1, 152 do
          local name, v = debug.getlocal(2, i)
          if not name then break end
          seen = seen + 1
          if type(v) == "table" and rawget(v, "left") then stale = stale + 1 end
        end
        state.check()
        return 1
      end})
      local function rounds()
        for _ = 1, 20 do
          far()
          near()  -- this call reuses the CallInfo of 'far'
          collectgarbage("step")
          for i = 1, 300 do assert(#{i, i} == 2) end
          late(meta)
        end
      end
      -- keeps the stack so large that 'far' need not make it grow
      local function low(n)
        if n > 0 then return (low(n - 1)) end
        rounds()
      end
      for depth = 0, 60, 20 do low(depth) end
      assert(seen > 1000, seen)
      assert(stale == 0, stale)
    end)
  end)

  -- A former bug: a tail call left the flag CIST_CLEAN set. So a collection treated the extra arguments of
  -- the call, which are in slots below its function, as those of the previous call, which it had already
  -- scanned. It freed them.
  it("keeps the extra arguments of a tail call in a frame that a collection has seen", function()
    within(function(state)
      local calls = 0
      local function call(n, ...)
        -- scans this frame
        collectgarbage("step")
        for i = 1, 300 do assert(#{i, i} == 2) end
        for i, v in ipairs {...} do
          assert(rawequal(type(v), "table") and v[1] == n and v[2] == i)
          calls = calls + 1
        end
        state.check()
        if n == 50 then return ... end
        return call(n + 1, {n + 1, 1}, {n + 1, 2}, {n + 1, 3})
      end
      assert(select("#", call(0)) == 3)
      assert(calls == 150)
    end)
  end)

  it("is given back when minor collections go on without it", function()
    within(function(state)
      collectgarbage("generational")
      local function down(n)
        if n > 0 then return 1 + down(n - 1) end
        -- after this, no major collection is due for some time
        collectgarbage()
        return 0
      end
      for _ = 1, 2 do
        assert(down(100000) == 100000)
        local deep, _, minors, majors = state.memory()
        for _ = 1, 200 do collectgarbage("step") end
        local low, _, minors2, majors2 = state.memory()
        assert(minors2 - minors >= 200 and majors2 == majors)
        assert(deep - low > 100000 * 3 * 16, deep - low)
      end
      state.check()
    end)
  end)

  it("is there for the next recursion without being made again", function()
    within(function(state)
      local function down(n) return n > 0 and 1 + down(n - 1) or 0 end
      local function allocated() return collectgarbage("statistics").allocated end
      assert(down(100000) == 100000)
      local before = allocated()
      for _ = 1, 20 do
        for _ = 1, 5 do collectgarbage("step") end
        state.check()
        assert(down(100000) == 100000)
      end
      assert(allocated() - before < 100000, allocated() - before)
    end)
  end)

  it("of any depth keeps its values, whatever calls, errors and collections come and go", function()
    within(function(state)
      collectgarbage("nursery", 5000)
      -- 'nested' limits the depth of C calls
      local calls, nested = 0, 0
      local dive
      -- Runs one frame. It recurses, raises an error, continues in a coroutine, has many variables, or
      -- collects, at random.
      local function frame(n)
        local mine = {n}
        calls = calls + 1
        local what = math.random(40)
        if what == 1 then collectgarbage("step")
        elseif what == 2 and nested < 40 then
          nested = nested + 1
          local ok, e = pcall(function() dive(math.random(60)); error({n}) end)
          nested = nested - 1
          assert(not ok and e[1] == n, e)
        elseif what == 3 and nested < 40 then
          nested = nested + 1
          local inner = coroutine.wrap(function(m)
            dive(math.random(400)); coroutine.yield(m); dive(math.random(2000)); return {m}
          end)
          assert(inner(mine) == mine)
          dive(math.random(50))
          assert(inner()[1] == mine)
          nested = nested - 1
        elseif what == 4 then
          local k = math.random(3000)
          assert(select("#", table.unpack({}, 1, k)) == k)
        end
        if n > 0 then assert(frame(n - 1) == n - 1) end
        assert(mine[1] == n)
        return n
      end
      dive = function(n) return frame(math.min(n, math.max(0, 20000 - calls))) end
      for seed = 1, 4 do
        math.randomseed(seed)
        for _ = 1, 6 do calls = 0; dive(math.random(10 ^ math.random(3))) end
        collectgarbage(seed % 2 == 0 and "step" or "collect")
        state.check()
      end
    end)
  end)

  it("that overflows ends where it did, however often, and returns the reserve for errors", function()
    within(function(state)
      local function endless(n, depth) depth[1] = n; return 1 + endless(n + 1, depth) end
      local first
      collectgarbage()
      local least = state.memory()
      for turn = 1, 6 do
        local depth = {}
        local ok, message = pcall(endless, 1, depth)
        assert(state.memory() - least > 16000000)
        assert(not ok and message:find("stack overflow", 1, true), message)
        first = first or depth[1]
        assert(depth[1] == first, depth[1])
        if turn % 2 == 0 then collectgarbage("step") end
        if turn == 4 then collectgarbage() end
        state.check()
      end
      assert(not pcall(table.unpack, {}, 1, 999999))
      assert(select("#", table.unpack({}, 1, 200000)) == 200000)
      collectgarbage("step")
      assert(select("#", table.unpack({}, 1, 200000)) == 200000)
      state.check()
      local depth = {}
      assert(not pcall(endless, 1, depth))
      local high = state.memory()
      -- frees a million slots, and the CallInfos
      collectgarbage()
      -- frees the blocks of the heap in which the CallInfos were
      collectgarbage()
      local inuse, held = state.memory()
      assert(high - inuse > 20000000, high - inuse)
      assert(inuse - least < 5000, inuse - least)
      assert(held < 6 << 20, held)
    end)
  end)

  it("shows only live objects to lua_getlocal and the traceback", function()
    within(function(state)
      collectgarbage("nursery", 500)
      local function down(n)
        local here = {n}
        if n > 0 then down(n - 1) end
        local level = 1
        -- checks every temporary value of every frame
        while debug.getinfo(level, "f") do
          local i = 1
          while true do
            local name, v = debug.getlocal(level, i)
            if not name then break end
            assert(name ~= "here" or type(v[1]) == "number")
            i = i + 1
          end
          level = level + 1
        end
        assert(#debug.traceback() > 10)
        return here
      end
      assert(down(40)[1] == 40)
      state.check()
    end)
  end)
end)

-- Code that runs a whole major collection in slices. It uses the incremental mode to start it.
local SLICED = [[
  local majors = select(4, state.memory())
  while select(4, state.memory()) == majors do
    collectgarbage("incremental")
    collectgarbage("step", 100)
    collectgarbage("generational")
  end
]]

-- Before a collection calls finalizers, it allocates CallInfos, as upstream does since 5.4.9. They are used
-- later, or never. A former bug: their memory could have contents that looked like CallInfos which an
-- earlier collection had marked.
describe("CallInfos that a collection has made for finalizers", function()
  it("are there when they are used, however many collections later", function()
    within(function(state)
      local function deep(n) return n == 0 and 0 or 1 + deep(n - 1) end
      local called = 0
      local mt = {__gc = function() called = called + 1 end}
      for _ = 1, 20 do
        -- leaves CallInfos that a collection has marked
        coroutine.wrap(function()
          deep(200)
          collectgarbage("step")
          coroutine.yield()
        end)()
        collectgarbage()
        collectgarbage()
        local all = {}
        for i = 1, 50 do
          all[i] = coroutine.wrap(function()
            for _ = 1, 3 do
              setmetatable({}, mt)
              collectgarbage("step")
              coroutine.yield()
            end
            return deep(3)
          end)
        end
        for k = 1, 4 do
          for i = 1, 50 do assert(all[i]() == (k == 4 and 3 or nil)) end
          state.check()
        end
      end
      assert(called > 2900, called)
    end)
  end)
end)

describe("the stack of a coroutine", function()
  -- A former bug: when a deep stack had become short again, no collection visited the thread any more, and
  -- a part of its CallInfos stayed as long as the thread.
  it("that was deep and is suspended is given back by two major collections, and the CallInfos", function()
    for _, full in ipairs {false, true} do
      within(function(state, whole, sliced)
        local major = whole and collectgarbage or load("local state = ...\n" .. sliced)
        for _ = 1, 3 do major(not whole and state or nil) end
        local least = state.memory()
        local co = coroutine.wrap(function(n)
          local function down(m) return m > 0 and 1 + down(m - 1) or 0 end
          local mine = {n}
          while true do
            coroutine.yield(down(n))
            assert(mine[1] == n)
          end
        end)
        for _ = 1, 2 do
          assert(co(50000) == 50000)
          local deep = state.memory()
          assert(deep - least > 50000 * (16 + 64), deep - least)
          major(not whole and state or nil)
          -- The first major collection does not shrink the stack, because it may be unused only for a short
          -- time. The second one does.
          if not whole then
            assert(deep - state.memory() < 50000, deep - state.memory())
            major(state)
          end
          assert(state.memory() - least < 50000 * 64, state.memory() - least)
          for _ = 1, 12 do major(not whole and state or nil) end
          assert(state.memory() - least < 6000, state.memory() - least)
        end
        assert(co() == 50000)
        state.check()
      end, full, SLICED)
    end
  end)

  it("is returned after coroutine.close, at any depth, with its objects", function()
    within(function(state)
      collectgarbage()
      local least = state.memory()
      local co
      do
        local weak = setmetatable({}, {__mode = "k"})
        local closed = {}
        local meta = {__close = function(v)
          closed[#closed + 1] = v[1]
          if v[1] % 4000 == 0 then collectgarbage("step") end
        end}
        co = coroutine.create(function(n)
          local function down(m)
            local held = {m}
            weak[held] = true
            if m % 1000 == 0 then
              local _ <close> = setmetatable({m}, meta)
              return (down(m - 1)) + #held
            elseif m == 1 then return coroutine.yield() end
            return down(m - 1) + #held
          end
          return down(n)
        end)
        coroutine.resume(co, 40000)
        collectgarbage()
        local deep = state.memory()
        assert(deep - least > 40000 * (3 * 16 + 64))
        assert(coroutine.close(co) and coroutine.status(co) == "dead")
        assert(#closed == 40)
        for i = 1, 40 do assert(closed[i] == 1000 * i, i) end
        state.check()
        for _ = 1, 12 do collectgarbage() end
        assert(next(weak) == nil)
      end
      collectgarbage()
      assert(state.memory() - least < 20000, state.memory() - least)
      assert(coroutine.status(co) == "dead")
    end)
  end)

  it("keeps the room that lua_checkstack has promised, whatever collections come", function()
    within(function(state)
      local new = coroutine.create(function(...) return select("#", ...) end)
      local asleep = coroutine.create(function()
        local function down(n)
          if n > 0 then return 1 + down(n - 1) end
          return (select("#", coroutine.yield()))
        end
        return down(30)
      end)
      coroutine.resume(asleep)
      for _, co in ipairs {new, asleep} do
        assert(state.reserve(co, 5000))
        for i = 1, 30 do
          if i % 10 == 0 then collectgarbage() else collectgarbage("step") end
          if i % 5 == 0 then state.fill(co, 5000) end
        end
        collectgarbage("incremental")
        for _ = 1, 30 do collectgarbage("step", 100) end
        collectgarbage("generational")
        state.fill(co, 5000)
        state.check()
      end
      assert(select(2, coroutine.resume(new, 1, 2, 3)) == 3)
      assert(select(2, coroutine.resume(asleep, 1, 2)) == 32)
    end)
  end)

  -- The list of variables to be closed has links of 16 bits. For a longer distance it has nodes without a
  -- variable, which are in slots that collections scan.
  it("closes variables that lie more than 65,535 slots apart, in order", function()
    within(function(state)
      for _, how in ipairs {"return", "error", "close"} do
        local closed = {}
        local function due(n)
          return setmetatable({n}, {__close = function(v, e)
            assert((e ~= nil) == (how == "error"))
            closed[#closed + 1] = v[1]
            collectgarbage(n % 2 == 0 and "step" or "collect")
          end})
        end
        local function level(n, ...)
          local a <close> = due(2 * n)
          collectgarbage("step")
          local b <close> = due(2 * n + 1)
          if n < 3 then
            local far = {}
            for i = 1, 10 do far[60000 * (n + 1) + i] = {} end
            local last = level(n + 1, table.unpack(far, 1, 60000 * (n + 1) + 10))
            return a[1] + b[1] + last
          end
          collectgarbage()
          for i = 1, 200 do assert(#{i, i} == 2) end
          state.check()
          if how == "error" then error "thrown" elseif how == "close" then coroutine.yield() end
          return a[1] + b[1] + select("#", ...)
        end
        local co = coroutine.create(level)
        local ok, result = coroutine.resume(co, 0)
        collectgarbage("step")
        state.check()
        if how == "return" then assert(ok and result == 180010 + 28, result)
        elseif how == "error" then
          assert(not ok and result:find "thrown")
          assert(not coroutine.close(co))
        else
          assert(ok and #closed == 0)
          assert(coroutine.close(co))
        end
        assert(#closed == 8, #closed)
        for i = 1, 8 do assert(closed[i] == 8 - i, i) end
        state.check()
      end
    end)
  end)
end)

-- A former bug: if there was no memory for the stack of a new thread, an emergency collection tenured the
-- thread, which had no stack yet. The thread was then old and dirty, but in no list (T1). So no minor
-- collection visited it, and the lines of its stack were allocated again.
describe("a thread that an emergency collection meets before it has a stack", function()
  it("is remembered until it was scanned", function()
    local met = 0
    for room = 0, 60 do
      local s = states.open()
      local status, e = s:run(function(state, n)
        local kept, threads = state.table(4000, 0), state.table(100, 0)
        local body = function(a)
          local b = {a[1]}
          coroutine.yield()
          return a, b
        end
        -- this gives the collector's lists enough capacity for the coroutines that are created later
        for i = 1, 60 do threads[i] = coroutine.create(body) end
        for i = 1, 60 do threads[i] = nil end
        for i = 1, 600 do kept[i] = state.userdata(300) end
        collectgarbage()
        collectgarbage("stop")
        state.failall(0)
        local at = 600
        pcall(function()
          while at < 3900 do kept[at + 1] = state.userdata(300); at = at + 1 end
        end)
        -- leaves holes, which the emergency collection finds
        for i = 1, at do
          if i % 8 < 4 then kept[i] = false end
        end
        local last
        pcall(function() for _ = 1, n do last = {last} end end)
        for i = 1, 60 do
          local made, co = pcall(coroutine.create, body)
          if made and coroutine.resume(co, {i}) then threads[#threads + 1] = co end
        end
        state.failall()
        collectgarbage("restart")
        for _ = 1, 3 do
          collectgarbage("step")
          for i = 1, 300 do assert(#{i, {i}} == 2) end
          state.check()
        end
        for i = 1, #threads do
          local _, a, b = coroutine.resume(threads[i])
          assert(type(a) == "table" and a[1] == b[1])
        end
        return #threads
      end, room)
      assert.equal("ok", status, ("room %d: %s"):format(room, tostring(e)))
      if s:stats().refused > 0 and e > 0 then met = met + 1 end
      assert.is_nil(s:check())
      assert.equal(0, s:close())
    end
    assert.is_true(met > 10, met)
  end)
end)

describe("a deep thread", function()
  -- A major collection scans the stack of a running deep recursion in slices. A former bug: these slices
  -- started again at every 64th minor collection. With a small nursery no major collection ended, and the
  -- heap grew as long as the recursion lasted.
  it("that runs keeps no major collection from its end", function()
    local before, after = within(function()
      collectgarbage("nursery", 1 << 14)
      local live = {}
      for i = 1, 20000 do live[i] = {i} end
      collectgarbage()
      local before, after
      local function work()
        before = collectgarbage("statistics").majors
        local ring, n = {}, 0
        for i = 1, 1500000 do
          n = n % 20000 + 1
          ring[n] = {i, {}}
        end
        after = collectgarbage("statistics").majors
        return #ring
      end
      local function dive(n)
        if n == 0 then return work() end
        local deeper = dive(n - 1)
        return deeper
      end
      assert(dive(60000) == 20000 and #live == 20000)
      return before, after
    end)
    assert.is_true(after - before > 5, after - before)
  end)

  -- lua_xmove takes values from a stack and leaves their slots unchanged. Former bugs: the slices of a
  -- major collection did not erase the slots above the top, so that later frames contained freed objects.
  -- If there was no memory for the table of its lines, lua_getinfo left the function on the stack.
  it("that a host takes values from has nothing dead above its top", function()
    local variant = os.getenv "ASAMP_VARIANT" or "fork"
    local prefix = variant == "fork" and "build" or "build/" .. variant
    local program = os.tmpname()
    local flags = variant == "asan" and "-fsanitize=address,undefined" or ""
    shell.output("gcc -std=gnu99 -g %s -I%s/include/lua5.4 -Ilua spec/support/hosts/deepmove.c " ..
      "-o %s %s/lib/liblua.a -lm -ldl", flags, prefix, program, prefix)
    local status, said, err = shell.run(program)
    os.remove(program)
    assert.same({0, "whole\ngone\n", ""}, {status, said, err})
  end)
end)
