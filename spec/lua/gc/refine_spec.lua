-- SPDX-License-Identifier: MIT
--
-- If the remembered set is large, stores and safepoints process it in slices before the minor collection
-- (lua/gc/remset/refine.c). At any progress of the slices, no store may be missed, and the set must stay
-- small. Former bugs: beyond a number of separately remembered slots, the whole table was remembered,
-- however large it was. Tables with weak keys and values, and tables that received a metatable, were always
-- remembered as a whole.

local stressed = require "spec.lua.gc.stressed"
local within = require "spec.lua.gc.within"

describe("stores into old objects, without a safepoint between", function()
  it("are processed as they come, and not listed", function()
    within(function(state)
      collectgarbage("stop")
      local n, objects, small = 100000, {}, {}
      local big, weak = state.table(n, 0), setmetatable({}, {__mode = "k"})
      for i = 1, n do
        small[i], big[i] = {false}, false
        if i % 10 == 0 then weak[small[i]] = false end
      end
      for i = 1, 40 do objects[i] = {{i}} end
      collectgarbage()
      for i = 1, 40 do objects[i] = {{i}} end
      local _, held = state.memory()
      for i = 1, n do
        local object = objects[i % 40 + 1]
        big[i], small[i][1] = object, object
        if i % 10 == 0 then weak[small[i]] = object end
      end
      local _, later = state.memory()
      assert(later - held < 1 << 20, later - held)
      objects = nil  -- luacheck: ignore 311
      state.check()
      collectgarbage("generational")
      collectgarbage("step")
      for i = 1, 3000 do objects = {{i}} end  -- luacheck: ignore 311
      for i = 1, n do
        local object = small[i][1]
        assert(big[i] == object and object[1][1] == i % 40 + 1)
        assert(i % 10 ~= 0 or weak[small[i]] == object)
      end
    end)
  end)
end)

describe("a big old table", function()
  -- exchange(t, n, times): 'times' times, exchanges two random slots of t, which has n slots. After many
  -- stores, the collector remembers t as a whole instead of single slots.
  local function setup()
    local function exchange(t, n, times)
      local x = 1
      for _ = 1, times do
        x = (x * 1103515245 + 12345) & 0x7FFFFFFF
        local i, k = x % n + 1, (x >> 8) % n + 1
        t[i], t[k] = t[k], t[i]
      end
    end
    return exchange
  end

  it("that is remembered as a whole is visited in slices, before the collection", function()
    within(function(state, text)
      local exchange = load(text, "setup", "b")()
      local n, kept = 300000, {}
      local t = state.table(n, 0)
      for i = 0, 15 do kept[i] = {}; kept[kept[i]] = true end
      for i = 1, n do t[i] = kept[i % 16] end
      collectgarbage("generational")
      collectgarbage("nursery", 1 << 16)
      collectgarbage()
      exchange(t, n, n)
      local _, _, minors = state.memory()
      local _, allocated = collectgarbage("count"), 0
      -- in bytes; the limit is nearly two nurseries
      while allocated < 120000 do
        local i = allocated % n + 1
        t[i] = {i}
        allocated = allocated + 72
        if i % 16 == 0 then state.check() end
      end
      local _, _, later = state.memory()
      assert(later == minors, "a minor collection came in the midst of it")
      for i = 1, 20000 do local garbage = {i}; assert(garbage) end
      _, _, later = state.memory()
      assert(later > minors)
      for i = 1, n do assert(kept[t[i]] or t[i][1] == i) end
    end, string.dump(setup))
  end)

  it("may become weak, or get other vectors, in the midst of that", function()
    within(function(state, text)
      local exchange = load(text, "setup", "b")()
      for round = 1, 12 do
        local n, kept, held = 120000, {}, {}
        local t = state.table(n, 0)
        for i = 1, n do t[i] = kept end
        collectgarbage("generational")
        collectgarbage("nursery", 1 << 16)
        collectgarbage()
        exchange(t, n, n)
        -- number of the store at which the test intervenes; a nursery has 900 objects
        local event = 950 + 250 * (round // 2)
        for i = 1, 4000 do
          local at = i * 7919 % n + 1
          held[i] = {at}
          t[at] = held[i]
          if i == event and round % 2 == 0 then setmetatable(t, {__mode = "v"}) end
          if i == event and round % 2 == 1 then t[2 * n] = kept; t.key = kept end
          if i % 100 == 0 then state.check() end
        end
        for i = 1, 4000 do assert(t[held[i][1]] == held[i]) end
      end
    end, string.dump(setup))
  end)

  it("is not visited because it gets a metatable", function()
    within(function(state)
      local n, mt = 300000, nil
      local t = state.table(n, 0)
      for i = 1, n do t[i] = state end
      collectgarbage("generational")
      collectgarbage("nursery", 1 << 16)
      collectgarbage()
      local _, _, minors = state.memory()
      -- allocates tables of 150 bytes, which fill seven nurseries
      for i = 1, 3000 do
        mt = {__index = {i}}
        setmetatable(t, mt)
      end
      local _, _, later = state.memory()
      assert(later - minors >= 5, "slices put the collections off: " .. later - minors)
      assert(getmetatable(t) == mt and mt.__index[1] == 3000)
      state.check()
    end)
  end)
end)

-- A former bug: the barriers tenured the closure and then its variable, and treated the variable as
-- processed. So later stores of the coroutine into the variable had no barrier. The coroutine was young and
-- dead, so that no collection reached it. The closure's variable then referred to a freed object.
describe("a variable that a closure shares with a young coroutine", function()
  it("has the value written last when much was stored meanwhile", function()
    within(function(state)
      collectgarbage("generational")
      for _ = 1, 3 do
        local n, olds, keep = 40000, {}, {get = false}
        for i = 1, n do olds[i] = {x = false} end
        collectgarbage()
        local co = coroutine.wrap(function()
          local v = {"first"}
          keep.get = function() return v end
          -- three rounds, because each finds the objects that the previous round has tenured
          for _ = 1, 3 do
            local y = {}
            for _, old in ipairs(olds) do old.x = y end
          end
          v = {"last"}  -- a register
          state.check()
          coroutine.yield()
        end)
        co()
        co = nil  -- luacheck: ignore 311
        for i = 1, 30000 do local t = {i, i}; assert(t) end
        assert(keep.get()[1] == "last")
        state.check()
      end
    end)
  end)
end)

-- A former bug: each of these stores remembered its slot, so that filling a table with few different
-- objects took a quarter more instructions than with upstream's Lua.
describe("an object that is stored into a vast table again and again", function()
  local function fill(state, mode)
    local n, x = 300000, 1
    local t, objects = setmetatable(state.table(n, 0), mode and {__mode = mode}), {}
    for i = 1, n do t[i] = false end
    collectgarbage("generational")
    collectgarbage("nursery", 1 << 20)
    collectgarbage()
    collectgarbage("step")
    local _, _, _, _, before = state.memory()
    for i = 1, 40 do
      local object = {{i}}
      for _ = 1, 30 do
        x = (x * 1103515245 + 12345) & 0x7FFFFFFF
        local slot = x % n + 1
        t[slot], objects[slot] = object, i
      end
    end
    state.check()
    collectgarbage("step")
    local _, _, _, _, after = state.memory()
    for slot, i in pairs(objects) do
      if not mode then assert(t[slot][1][1] == i)
      -- object number 40, the last one, may still be in a register
      else assert(t[slot] == nil or i == 40) end
    end
    return after - before
  end

  it("is remembered twice at most", function()
    local n = within(fill)
    assert(n >= 40 and n < 200, n)
  end)

  it("dies young, if the table is weak", function()
    within(fill, "v")
  end)
end)

-- A former bug: if the program made over 16,384 stores into huge tables during a nursery of 900 KiB or
-- more, all stored objects were tenured.
describe("a cache of weak values", function()
  it("loses dead entries at minor collections, however large the nursery is", function()
    within(function(state)
      collectgarbage("generational")
      collectgarbage("nursery", 8 << 20)
      local cache, kept = setmetatable(state.table(0, 65536), {__mode = "v"}), {}
      collectgarbage()
      local _, _, minors = state.memory()
      for i = 1, 50000 do
        local entry = {i}
        cache["entry" .. i] = entry
        if i % 100 == 0 then kept[i] = entry end
      end
      local _, _, later = state.memory()
      assert(later - minors >= 2, "no minor collection was requested")
      state.check()
      collectgarbage("step")
      local left = 0
      for name, entry in pairs(cache) do
        left = left + 1
        assert(name == "entry" .. entry[1])
      end
      assert(left >= 500 and left < 600, left)
      for i, entry in pairs(kept) do assert(cache["entry" .. i] == entry) end
    end)
  end)

  it("is processed if no minor collection comes", function()
    within(function(state)
      local cache = setmetatable(state.table(0, 131072), {__mode = "v"})
      collectgarbage "stop"
      collectgarbage()
      local _, held = state.memory()
      for i = 1, 100000 do cache[i] = state end
      for i = 1, 100000 do cache[i] = {} end
      local _, later = state.memory()
      -- the limit is above the bytes of 100,000 tables, and below their sum with a long list of slots
      assert(later - held < 12 << 20, later - held)
      state.check()
    end)
  end)
end)

describe("a table with weak keys and values", function()
  it("loses young dead entries at minor collections, one by one", function()
    within(function(state)
      collectgarbage("generational")
      collectgarbage("nursery", 1 << 20)
      local pairs_ = setmetatable(state.table(200, 1500), {__mode = "kv"})
      local keys, values = {}, {}
      for i = 1, 1000 do
        keys[i], values[i] = {}, {}
        pairs_[keys[i]] = values[i]
      end
      collectgarbage()
      -- the stores are in a function, so that no value stays in a register
      local function store()
        for i = 1, 400 do
          local key, value = {i}, {i}
          pairs_[key] = value
          if i % 4 < 2 then keys[1000 + i] = key end
          if i % 2 < 1 then values[1000 + i] = value end
          pairs_["name" .. i] = value
          pairs_[i] = key
        end
        for i = 1, 1000, 3 do pairs_[keys[i]] = {i} end
      end
      store()
      local junk  -- luacheck: ignore 231
      for i = 1, 20 do junk = {i} end
      collectgarbage("step")
      state.check()
      for i = 1, 399 do
        local key, value = keys[1000 + i], values[1000 + i]
        assert((pairs_["name" .. i] ~= nil) == (value ~= nil), i)
        assert((pairs_[i] ~= nil) == (key ~= nil), i)
        assert(key == nil or pairs_[key] == value, i)
      end
      local n = 0
      for key, value in pairs(pairs_) do
        if type(key) == "table" and #key == 1 then
          n = n + 1
          assert(keys[1000 + key[1]] == key and values[1000 + key[1]] == value)
        end
      end
      assert(n == 100, n)
      for i = 1, 1000 do
        assert((pairs_[keys[i]] ~= nil) == (i % 3 ~= 1), i)
      end
    end)
  end)

  it("keeps a key that its finalizer brings back, and not the value", function()
    within(function(state)
      collectgarbage("generational")
      collectgarbage("nursery", 1 << 20)
      local pairs_, back, kept = setmetatable(state.table(0, 100), {__mode = "kv"}), {}, {}
      for i = 1, 60 do pairs_["old" .. i] = kept end
      collectgarbage()
      do
        local mt = {__gc = function(o) back[#back + 1] = o end}
        for i = 1, 10 do
          pairs_[setmetatable({i}, mt)] = kept
          pairs_[i] = setmetatable({i}, mt)
        end
        for i = 1, 20 do mt = {i} end  -- luacheck: ignore 311
      end
      collectgarbage("step")
      state.check()
      assert(#back >= 18, #back)
      for _, o in ipairs(back) do
        assert(pairs_[o] == kept or pairs_[o] == nil)
        assert(pairs_[o[1]] == nil or o[1] == 10)
      end
    end)
  end)
end)

-- A former bug: processing of the remembered set skipped a young key whose value was nil, and forgot it. When
-- the key received a value again, the barrier remembered only the value. The next minor collection freed the
-- key, although the table still contained it.
describe("a young key of an old table that goes and comes back", function()
  for name, vast in pairs {vast = true, small = false} do
    it("lives when much has been stored between: " .. name, function()
      within(function(state, isvast)
        local t, others, n, y = {}, {}, isvast and 20000 or 33000, {}
        for i = 1, isvast and 100 or 6 do t["k" .. i] = i end
        for i = 1, n do others[i] = isvast and i or {a = 1, b = 2, c = 3} end
        collectgarbage()
        collectgarbage()
        do
          local key = {7}
          t[key] = 1
          t[key] = nil
          for i = 1, n do
            if isvast then others[i] = y else others[i].a = y end
          end
          t[key] = 5
        end
        state.check()
        local x
        for i = 1, 200000 do x = {i, "a" .. i} end
        local found = 0
        for k, v in pairs(t) do
          if type(k) == "table" then
            assert(k[1] == 7 and v == 5)
            found = found + 1
          end
        end
        assert(found == 1 and x and others[n])
      end, vast)
    end)
  end

  it("is no trap for a program of such keys, in tables of all kinds", function()
    stressed("tablekeys", 2, 10000, {"nursery=60000,remember=8,verify=1",
                                     "nursery=20000,remember=8,slice=100,major,verify=4"})
  end)
end)
