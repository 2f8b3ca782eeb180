-- SPDX-License-Identifier: MIT
--
-- The collector visits its own lists in slices, so that no pause grows with their length: lists of
-- coroutines, of objects with finalizers, of tables with large vectors, and of large objects. The spec
-- measures the number of entries that one pause visits (collectgarbage "statistics") and not its time.

local doubling = require "spec.lua.gc.doubling"
local within = require "spec.lua.gc.within"

-- Largest number of entries that a pause may visit when minor collections run every 32 KiB.
local MOST = 4096

-- 'code' returns a function make(i). Runs it in a separate state and calls make for n objects. Then waits
-- until two major collections have ended while these objects are alive, and two more while they are dead.
-- No pause may visit more than MOST entries.
local function run(code, n)
  return within(function(state, text, count)
    local make = assert(load(text, "=make"))(state)
    collectgarbage("nursery", 32768)
    local function cycles(k)
      local most, _, _, _, before = 0, state.memory()
      repeat
        for i = 1, 1000 do local _ = {i} end
        most = math.max(most, collectgarbage("statistics").work)
      until select(4, state.memory()) >= before + k
      return most
    end
    local live = state.table(count, 0)
    for i = 1, count do live[i] = make(i) end
    local alive = cycles(2)
    for i = 1, count, 2 do live[i] = false end
    local half = cycles(2)
    for i = 1, count do live[i] = nil end
    local dead = cycles(2)
    state.check()
    return alive, half, dead
  end, code, n)
end

describe("no pause goes through all", function()
  local THINGS = {
    coroutines = [[
      return function(i)
        return coroutine.create(function() return i end)
      end]],
    ["tables with large vectors"] = [[
      return function() return table.move({}, 1, 520, 1, {[520] = 1, n = 1}) end]],
    ["large objects"] = [[return function() return load("return 1") end]],
    ["objects with finalizers"] = [[
      local mt = {__gc = function() end}
      return function(i) return setmetatable({{i}}, mt) end]],
    userdata = [[
      local state = ...
      return function()
        local u = state.userdata(16)
        state.outside(u, 1)
        return u
      end]],
  }
  for name, code in pairs(THINGS) do
    it(name, function()
      local alive, half, dead = run(code, 10000)
      assert.is_true(alive <= MOST and half <= MOST and dead <= MOST,
        ("%d, %d, %d"):format(alive, half, dead))
    end)
  end
end)

-- A minor collection visits a whole stack once, because of its new slots. Later minor collections visit
-- only the changed part, and major collections visit the stack in slices.
it("no pause goes through a deep stack", function()
  for _, frames in ipairs {"in a coroutine", "in the main thread"} do
    local most = within(function(state, where)
      collectgarbage("nursery", 32768)
      local function allocate(n)
        for i = 1, n do local _ = {i} end
      end
      local function dive(depth)
        local own = {depth}
        if depth == 0 then
          local most, _, _, _, before = 0, state.memory()
          repeat
            allocate(1000)
            most = math.max(most, collectgarbage("statistics").work)
          until select(4, state.memory()) == before + 2
          state.check()
          return most
        end
        local most = dive(depth - 1)
        assert(own[1] == depth)
        return most
      end
      if where == "in the main thread" then return dive(30000) end
      return select(2, assert(coroutine.resume(coroutine.create(dive), 30000)))
    end, frames)
    assert.is_true(most < 20000, ("%s: %d"):format(frames, most))
  end
end)

describe("the dead with finalizers, found in slices,", function()
  -- Code at the start of each program. It drops n objects, each with a number, when a major collection
  -- starts, and allocates 'bytes' bytes after that.
  local PRELUDE = [==[
    local state, n, bytes = ...
    collectgarbage("nursery", 8192)
    local called, alive = {}, {}
    local values, keys = setmetatable({}, {__mode = "v"}), setmetatable({}, {__mode = "k"})
    local wrong, report
    local mt = {__gc = function(o)
      called[#called + 1] = o.i
      if values[o.i] then wrong = "still in a table with weak values" end
      if keys[o] ~= o.i then wrong = "no more a weak key" end
      if o.held.i ~= o.i or keys[o.held] ~= -o.i then wrong = "what it holds is gone" end
      if report and o.i == 1 then report() end
    end}
    local function make(i)
      local o = setmetatable({i = i, held = {i = i}}, mt)
      values[i], keys[o], keys[o.held] = o, i, -i
      return o
    end
    for i = 1, n do alive[i] = make(i) end
    collectgarbage()
    for i = 1, n do alive[i] = nil end
    collectgarbage("incremental", 200, 4, 1)
    collectgarbage("step")  -- a major collection starts
    collectgarbage("generational")
    local function allocate(count)
      local start = collectgarbage("statistics").allocated
      while collectgarbage("statistics").allocated - start < count do local _ = {{}} end
    end
    local function ordered()
      for k, i in ipairs(called) do
        if i ~= n - k + 1 then return ("%d is number %d to be called"):format(i, k) end
      end
    end
    allocate(bytes)
  ]==]

  local function run(n, bytes, code)  -- luacheck: ignore 431
    return within(function(state, text, ...)
      return assert(load(text, "=code"))(state, ...)
    end, PRELUDE .. code, n, bytes)
  end

  it("are called once each, newest first, without a full collection", function()
    run(5000, 0, [==[
      for _ = 1, 100 do
        allocate(1 << 18)
        if #called == n then break end
      end
      assert(#called == n, #called)
      assert(not ordered() and not wrong, ordered() or wrong)
      assert(not next(values))
    ]==])
  end)

  it("are called all, newest first, when a full collection comes in the midst", function()
    local seen = {}
    for k = 0, 40 do
      local before = run(3000, k * 12000, [==[
        local before = #called
        state.check()
        collectgarbage()
        assert(#called == n, #called)
        assert(not ordered() and not wrong, ordered() or wrong)
        return before
      ]==])
      seen[before > 0] = true
    end
    assert.same({[false] = true, [true] = true}, seen)
  end)

  it("are called all, newest first, when the state is closed in the midst", function()
    local name = os.tmpname()
    for k = 0, 40 do
      within(function(state, text, count, bytes, file)
        assert(load(text, "=code"))(state, count, bytes, file)
      end, PRELUDE .. [==[
        local file = select(4, ...)
        function report()
          local out = assert(io.open(file, "w"))
          out:write(#called, " ", tostring((ordered())))
          out:close()
        end
        if #called == n then report() end
      ]==], 3000, k * 12000, name)
      local file = assert(io.open(name))
      assert.equal("3000 nil", file:read "a")
      file:close()
    end
  end)

  it("may be got at through a weak key, or get another finalizer, meanwhile", function()
    run(3000, 0, [==[
      local kept, again = {}, {}
      local other = {__gc = function(o) again[o.i] = (again[o.i] or 0) + 1 end}
      for _ = 1, 400 do
        allocate(4096)
        local k = 0
        for o, i in pairs(keys) do
          k = k + 1
          if i < 0 and k % 7 == 0 then kept[-i] = o end
          if i < 0 and k % 11 == 0 and not getmetatable(o) then setmetatable(o, other) end
          if k > 50 then break end
        end
      end
      state.check()
      collectgarbage()
      collectgarbage()
      for i, o in pairs(kept) do assert(o.i == i) end
      for i, times in pairs(again) do assert(times == 1, i) end
      assert(#called == n)
    ]==])
  end)
end)

-- A former bug: the work debt of a large block was done completely right after the next allocation. The
-- pause was 26 ms if a deep recursion made its stack grow, and 26 ms if the string table grew.
it("one large block does not pay for the rest of a major collection at once", function()
  local pauses, bytes = within(function(state)
    local live = {}
    for i = 1, 150000 do live[i] = {i} end
    local function majors() return (select(4, state.memory())) end
    collectgarbage()
    -- starts a cycle and marks almost nothing
    collectgarbage("incremental", 200, 4, 1)
    collectgarbage("step")
    collectgarbage("generational")
    local before, minors = majors(), collectgarbage("statistics").minors
    local start = state.allocated()
    local block = state.string(3 << 20, 65)
    repeat local _ = {} until majors() > before
    local pauses = collectgarbage("statistics").minors - minors
    return pauses, state.allocated() - start - #block, #live
  end)
  assert.is_true(pauses >= 4, pauses)
  -- the work debt was done in slices
  assert.is_true(bytes < 3 << 20, bytes)
end)

-- A former bug: the next pause did all work debt of the growth of the string table: 16 ms, caused by one
-- string, in a heap of 64 MB.
it("the string table grows without a collection", function()
  local before, after, grown = within(function(_, text)
    collectgarbage("nursery", 1 << 19)
    local kept = {}
    for i = 1, 1 << 20 do kept[i] = true end
    local double = load(text, "doubling", "b")(kept)
    collectgarbage()
    local before = collectgarbage("statistics").minors
    local last = double()
    for i = 1, 500 do local _ = {i} end
    assert(#kept == 1 << 20)
    return before, collectgarbage("statistics").minors, last
  end, doubling)
  assert.truthy(grown)
  assert.equal(before, after)
end)
