-- SPDX-License-Identifier: MIT
--
-- The core's memory interface (lua/gc/alloc/mem.c and the slow path of allocation): the arguments of
-- lua_Alloc, the counts of bytes, and the behavior without memory. Memory is refused at each place in turn:
-- at each request to lua_Alloc (for a chunk or a large block), and at each line of a heap that is full
-- except for a few holes.

local actions = require "spec.lua.gc.actions"
local fewer = require "spec.support.fewer"
local process = require "spec.support.process"
local programs = require "spec.lua.gc.programs"
local shell = require "spec.support.shell"
local states = require "states"
local within = require "spec.lua.gc.within"

-- Checks the result of a run in which memory was refused. It must be the expected result, or a memory
-- error.
local function fair(status, result, want, note)
  if status == "ok" then
    assert.equal(want, result, note)
  else
    assert.is_truthy(tostring(result):find("not enough memory$"), note .. ": " .. tostring(result))
  end
end

local function whole(s, note)
  assert.is_nil(s:check(), note)
  assert.is_nil(s:stats().wrong, note)
end

local function closed(s, note)
  assert.equal(0, s:close(), note .. ": bytes left")
  assert.is_nil(s:stats().wrong, note)
end

-- Returns the number of the next request to refuse. A run for each of thousands of requests would take
-- minutes. So the first 60 requests are refused, and fewer and fewer of the later ones, different ones in
-- each variant. With ASAMP_EVERY=1 in the environment, all are refused.
local every = os.getenv "ASAMP_EVERY"
local odd = #(os.getenv "ASAMP_VARIANT" or "")
local function nextrequest(n)
  return n < 60 and n + 1 or every and n + 1 or n + 1 + (n + odd) // 40
end

describe("memory that is refused", function()
  for _, p in ipairs(programs) do
    local name, want, f = p[1], p[2], p[3]

    it("once, at each request in turn, costs nothing but a collection: " .. name, function()
      local n, done = 0, false
      while not done do
        n = nextrequest(n)
        local note = ("%s, request %d"):format(name, n)
        local s, opened = states.open {fail = n}
        if opened == "ok" then
          local status, result = s:run(f)
          assert.same({"ok", want}, {status, result}, note)
          done = s:stats().refused == 0
          whole(s, note)
          s:refuse {}
          assert.same({"ok", want}, {s:run(f)}, note)
        else
          assert.is_true(opened == "none" or opened == "memory", note)
          assert.equal(1, s:stats().refused, note)
        end
        closed(s, note)
      end
      assert.is_true(n > 4, n)
    end)

    it("for good, from each request on, ends in a memory error: " .. name, function()
      local n, done, errors = 0, false, 0
      while not done do
        local note = ("%s, from request %d on"):format(name, n + 1)
        local s, opened = states.open {failall = n}
        if opened == "ok" then
          local status, result = s:run(f)
          fair(status, result, want, note)
          if status ~= "ok" then errors = errors + 1 end
          done = s:stats().refused == 0
          whole(s, note)
          s:refuse {}
          assert.same({"ok", want}, {s:run(f)}, note)
        end
        closed(s, note)
        n = nextrequest(n)
      end
      assert.is_true(n > 3, n)
    end)

    it("by a full heap, with ever more room, ends in a memory error or well: " .. name, function()
      local s, opened = states.open()
      assert.equal("ok", opened)
      assert.same({"ok", want}, {s:run(f)})
      assert.equal("ok", s:run(function(state)
        collectgarbage()
        state.failall(0)
        local last
        local function fill(size)
          while true do
            local u = state.userdata(size, 1)
            debug.setuservalue(u, last, 1)
            last = u
          end
        end
        pcall(fill, 4000)
        pcall(fill, 40)
        _G.last = last
      end))
      local status, result
      local room, errors, wells = 0, 0, 0
      -- each round frees more memory, by dropping links of the chain, of about 100 or 4,000 bytes each
      repeat
        local note = ("%s, room %d"):format(name, room)
        s:run(function(_, n)
          for _ = 1, n do
            _G.last = _G.last and debug.getuservalue(_G.last, 1)
          end
          collectgarbage()
        end, 1 + room // 20)
        room = room + 1 + room // 20
        status, result = s:run(f)
        fair(status, result, want, note)
        whole(s, note)
        if status == "ok" then wells = wells + 1 else errors = errors + 1 end
      until wells == 5 or room > 5000
      assert.is_true(errors > 0, "never short of memory")
      s:refuse {}
      assert.same({"ok", want}, {s:run(f)})
      whole(s, name)
      closed(s, name)
    end)
  end

  it("leaves states with little memory whole, whatever they do", function()
    for _, limit in ipairs {200000, 300000, 450000, 700000} do
      actions.property(1, fewer(20, 5), 400, limit)
    end
  end)

  -- A former bug: when the string table was shrunk at the end of a collection, its strings were moved
  -- before the smaller vector was requested. If there was no memory for it, an emergency collection
  -- searched dead strings in the wrong buckets.
  it("does not collect while the string table is being shrunk", function()
    local status, text = process.code [[
      local s = require "states".open()
      print(s:run(function(state)
        local old, young, stays = {}, state.table(700, 0), state.table(3000, 0)
        collectgarbage("generational")  -- a step is a minor collection
        collectgarbage("stop")
        for i = 1, 200 do old[i] = "old " .. i end  -- numbers are strings too
        for i = 1, 3000 do stays[i] = state.userdata(352) end
        state.failall(0)  -- from now on, lua_Alloc refuses requests; the loop below fills the heap
        local last
        pcall(function() while true do last = {state.table(500, 0), last} end end)
        state.failall()
        for i = 1, 3000, 2 do stays[i] = false end
        collectgarbage()  -- this collection leaves holes of a few lines in the heap
        local bytes = state.bytes()
        for i = 1, 700 do young[i] = "young " .. i end
        local grown = state.bytes() - bytes  -- growth of the string table to 2,048 buckets
        for i = 1, 40 do old[i] = false end
        for i = 1, 700 do young[i] = false end
        state.failall(0)
        local _, _, _, majors = state.memory()
        for _ = 1, 10 do
          collectgarbage("step")
          state.check()
        end
        for _ = 1, 3 do
          collectgarbage()
          state.check()
        end
        majors = select(4, state.memory()) - majors
        state.failall()
        for i = 41, 200 do assert(old[i] == "old " .. i) end
        return grown >= 8192, majors, last ~= nil
      end))
      print(s:check(), s:close())]]
    assert.equal(0, status, text)
    assert.equal("ok\ttrue\t3\ttrue\nnil\t0\n", text)
  end)

  it("is distinguished from other errors by its status and message", function()
    local s = states.open {limit = 400000}
    assert.same({"memory", "not enough memory"}, {s:run("local t = {} while true do t = {t} end")})
    assert.same({"memory", "not enough memory"}, {s:run("return ('x'):rep(1000000)")} and
                {s:run("local s = 'x' while true do s = s .. s end")})
    local status, ok, message = s:run("return pcall(function() local t = {} while true do t = {t} end end)")
    assert.same({"ok", false, "not enough memory"}, {status, ok, message})
    closed(s, "limit")
  end)
end)

describe("an emergency collection", function()
  it("finds the garbage of a state that has stopped its collector", function()
    for _, mode in ipairs {"incremental", "generational"} do
      local s = states.open {limit = 600000}
      local status, n = s:run(function(_, m)
        collectgarbage(m)
        collectgarbage("stop")
        local n = 0
        for i = 1, 20000 do
          local t = {i, {}, "text " .. i}
          n = n + #t
        end
        for i = 1, 200 do n = n + #("x"):rep(20000 + i) // 20000 end
        return n
      end, mode)
      assert.same({"ok", 60200}, {status, n}, mode)
      assert.is_true(s:stats().refused > 5)
      assert.is_true(s:stats().peak <= 600000)
      whole(s, mode)
      closed(s, mode)
    end
  end)

  -- A former bug: after a memory error was caught, unused registers still referred to the list that had
  -- exhausted the memory. So the next allocation of a closure failed.
  it("finds no values that a caught memory error has left in free registers", function()
    local names = {}
    for i = 1, 180 do names[i] = "a" .. i end
    local FUNCTIONS = ([[
      do local NAMES end  -- this function has many local variables, so that its frame has many registers
      local function own()  -- the list is a variable of the function that catches the error
        local NAMES
        local t = {}
        pcall(function() while true do t[#t + 1] = {} end end)
      end
      local function inner()
        pcall(function()
          local NAMES
          local t = {}
          while true do t[#t + 1] = {} end
        end)
      end
      local v1, v2 = {1}, {2}
    ]]):gsub("NAMES", table.concat(names, ", ", 1, 180), 1)
       :gsub("NAMES", table.concat(names, ", ", 1, 100))
    for _, use in ipairs {
      "own() local g = function() return v1, v2 end return #g()",
      "inner() local g = function() return v1, v2 end return #g()",
      "inner() v1.a, v1.b, v1.c = 1, 2, 3 return v1.a",
    } do
      local text = FUNCTIONS .. use
      for limit = 300000, 500000, 10000 do
        local s = states.open {limit = limit}
        assert.same({"ok", 1}, {s:run(text)}, use .. ", limit " .. limit)
        closed(s, use)
      end
    end
  end)

  it("runs no finalizer", function()
    local s = states.open {limit = 400000}
    local status, during, after = s:run(function(state)
      collectgarbage("stop")
      local finalized = 0
      local mt = {__gc = function() finalized = finalized + 1 end}
      for _ = 1, 100 do setmetatable({}, mt) end
      -- each string is one request; a luaL_Buffer would fail at the first refusal
      for i = 1, 300 do assert(#state.string(5000 + i, 120) > 0) end
      local during = finalized
      collectgarbage()
      return during, finalized
    end)
    assert.same({"ok", 0, 100}, {status, during, after})
    assert.is_true(s:stats().refused > 0)
    closed(s, "finalizers")
  end)

  it("does not happen where memory is there", function()
    local s = states.open()
    local status, n = s:run(function(state)
      collectgarbage("stop")
      local _, _, minors, majors = state.memory()
      for i = 1, 20000 do assert(#{i, {}} == 2) end
      local _, _, minors2, majors2 = state.memory()
      return minors2 - minors + majors2 - majors
    end)
    assert.same({"ok", 0}, {status, n})
    closed(s, "no emergency")
  end)
end)

describe("a request that is too big", function()
  -- Programs that reach a limit of the language, and upstream's message for each. A spec below compares
  -- them with upstream's Lua.
  local SAID = {
    {"local t = {} for i = 1, 32768 do t[i] = 'do local a end' end "
     .. "return load(table.concat(t, '\\n'))", "too many local variables (limit is 32767)"},
    {"local t = {} for i = 1, 256 do t[i] = 'local a' .. i .. ' = 1' end "
     .. "return load(table.concat(t, '\\n'))", "too many local variables (limit is 200)"},
    {"return pcall(string.rep, 'xxx', 1 << 62)", "resulting string too large"},
    {"return pcall(table.concat, {('x'):rep(1 << 10)}, '', 1, 1 << 40)", "invalid value"},
    {"return load('return ' .. ('{'):rep(300))", "C stack overflow"},
    {"return pcall(function() local function f() return 1 + f() end return f() end)",
     "stack overflow"},
    {"return pcall(string.format, '%99999d', 1)", "invalid conversion"},
    {"return pcall(table.unpack, {}, 1, 1 << 30)", "too many results to unpack"},
  }

  local SCRIPT = [[
    for code in io.lines(...) do
      local _, a, b = pcall(load(code))
      print(tostring(b or a))
    end]]

  local function messages(interpreter)
    local lines = {}
    for i, pair in ipairs(SAID) do lines[i] = pair[1] .. "\n" end
    local list = process.file(table.concat(lines))
    local _, text = process.run{program = interpreter, code = SCRIPT, list}
    return text
  end

  it("is refused in upstream's words", function()
    for _, pair in ipairs(SAID) do
      local s = states.open {limit = 256 << 20}
      local status, ok, message = s:run(pair[1])
      assert.equal("ok", status, ok)
      assert.is_true(not ok, pair[1])
      assert.is_truthy(message:find(pair[2], 1, true), pair[1] .. ": " .. message)
      whole(s, pair[1])
      closed(s, pair[1])
    end
  end)

  it("is refused in the very words of pristine Lua #plain", function()
    local plain = messages("build/plain/bin/lua")
    assert.is_truthy(plain:find("too many local variables (limit is 32767)", 1, true), plain)
    assert.equal(plain, messages("build/bin/lua"))
  end)

  it("is refused by the API too, and nothing is lost", function()
    within(function(state)
      local _, message = pcall(state.userdata, 1 << 60)
      assert(message == "not enough memory", message)
      for _, n in ipairs {math.maxinteger, math.maxinteger - 31, -1, -100} do  -- -1 is the largest size_t
        _, message = pcall(state.userdata, n)
        assert(message == "memory allocation error: block too big", message)
      end
      for n = 32, 64 do
        _, message = pcall(state.userdata, math.maxinteger - n)
        assert(message == "not enough memory", message)
      end
      _, message = pcall(state.table, 0, math.maxinteger & 0x7fffffff)
      assert(message == "table overflow", message)
      _, message = pcall(state.table, 0x7fffffff, 0)
      assert(message == "not enough memory", message)
    end)
  end)
end)

describe("the count of bytes", function()
  it("follows the known size of every kind of object, to the byte", function()
    within(function(state)
      collectgarbage("stop")
      local function round(n) return n + 7 & ~7 end
      local function grown(want, what, make, ...)
        -- the first call allocates objects that exist only once, such as the stack and names
        make(...)
        local inuse, allocated = state.memory(), state.allocated()
        local made = make(...)
        local now, all = state.memory(), state.allocated()
        assert(now - inuse == want, ("%s: %d bytes counted, not %d"):format(what, now - inuse, want))
        assert(all - allocated == want, what .. ": allocated")
        return made
      end
      for _, n in ipairs {0, 1, 7, 8, 9, 100, 8000, 8160, 8161, 8192, 9000, 100000} do
        -- an empty userdata has one byte, so that its address is unique
        local some = math.max(n, 1)
        grown(round(32 + some), "userdata of " .. n, state.userdata, n)
        for values = 1, 3 do
          grown(round(32 + 16 * values + some), ("userdata of %d values and %d"):format(values, n),
                state.userdata, n, values)
        end
        grown(n <= 40 and 0 or round(17 + n), "string of " .. n, state.string, n, 65)
        grown(40 + 16 * n, "table of " .. n, state.table, n, 0)
        grown(40 + 16 * n + 96, "table of keys and " .. n, state.table, n, 4)
      end
      for n, nodes in pairs {[0] = 0, 1, 2, 4, 4, 8, 8, 8, 8, 16, [1000] = 1024} do
        grown(40 + 24 * nodes, "table of keys " .. n, state.table, 0, n)
      end
      -- With up to 32 slots each, the table, its array part and its hash part are one block. With more
      -- slots they are three blocks.
      for _, n in ipairs {31, 32, 33, 64} do
        grown(40 + 16 * n + 24 * (n <= 32 and 32 or 64), "table of both " .. n, state.table, n, n)
      end
      for n = 1, 200, 13 do
        grown(16 + 16 * n, "C closure of " .. n, state.closure, n)
      end
      grown(16 + 8 + 32, "closure with its upvalue", function(x) return function() return x end end)
    end)
  end)

  it("are the live bytes, by a model, whatever was made and dropped before", function()
    within(function(state)
      math.randomseed(20)
      local live, sizes, sum = state.table(200, 0), state.table(200, 0), 0
      for i = 1, 200 do live[i], sizes[i] = false, 0 end
      local make = {
        function(n) return state.userdata(n), 32 + math.max(n, 1) + 7 & ~7 end,
        function(n) return state.table(n // 16, 0), 40 + n // 16 * 16 end,
        function(n) return state.string(n + 41, 65), 17 + n + 41 + 7 & ~7 end,
      }
      local before
      for round = 0, 40 do
        for _ = 1, 60 do
          local i = math.random(200)
          sum = sum - sizes[i]
          live[i], sizes[i] = make[math.random(3)](math.random(0, 1 << math.random(4, 15)))
          sum = sum + sizes[i]
          i = math.random(200)
          sum = sum - sizes[i]
          live[i], sizes[i] = false, 0
        end
        if round == 20 then collectgarbage("generational") end
        collectgarbage()
        before = before or state.memory() - sum
        assert(state.memory() - before == sum,
               ("round %d: %d bytes counted, not %d"):format(round, state.memory() - before, sum))
      end
    end)
  end)

  it("sees a table grow and shrink", function()
    within(function(state)
      collectgarbage("stop")
      local t = state.table(0, 0)
      local before, allocated = state.memory(), state.allocated()
      for i = 1, 4096 do t[i] = i end
      assert(state.memory() - before == 4096 * 16)
      assert(state.allocated() - allocated == 4096 * 16, "only growth is allocated")
      for i = 4096, 1000, -1 do t[i] = nil end
      allocated = state.allocated()
      -- the table has no free node, so that this store rehashes it, with the best size for its keys
      t.x = 1
      assert(state.memory() - before == 1024 * 16 + 24, state.memory() - before)
      assert(state.allocated() - allocated == 24, "shrinking allocates nothing")
    end)
  end)

  it("is matched by lines when a vector shrinks where it lies", function()
    within(function(state)
      for _ = 1, 4000 do
        local t = state.table(400, 0)
        t[1], t[2], t[3] = 1, 2, 3
        -- no node is free, so that this store rehashes the table, which shrinks the array to four elements
        t.x = 4
      end
      collectgarbage()
      local _, held = state.memory()
      assert(held < 4 << 20, held)
    end)
  end)

  it("are those of pristine Lua, except for rounding and removed links #plain", function()
    local SCRIPT = [[
      collectgarbage() collectgarbage("stop")
      local function count() return collectgarbage("count") * 1024 end
      local function row(f) f() local c = count() local x = f() print(count() - c) return x end
      row(function() local t = {} for i = 1, 1000 do t[i] = {} end return t end)
      row(function() local t = {} for i = 1, 1000 do t[i] = {x = i, y = {}} end return t end)
      row(function() local t = {} for i = 1, 1000 do t[i] = function() return t end end return t end)
      row(function() local t = {} for i = 1, 100 do t[i] = coroutine.wrap(print) end return t end)
      row(function() return ("x"):rep(100000) end)
      row(function() return load(("local a = 1 "):rep(100)) end)
    ]]
    local function rows(interpreter)
      local list = shell.lines(select(2, process.run{program = interpreter, code = SCRIPT}))
      for i, line in ipairs(list) do list[i] = tonumber(line) end
      return list
    end
    local plain, fork = rows "build/plain/bin/lua", rows "build/bin/lua"
    -- Expected difference to upstream in bytes for each row: the number of objects times the 8 bytes of
    -- each of the fields 'next' and 'gclist', which the fork's objects lack. A coroutine with its C closure
    -- and its stack is four objects.
    local saved = {1001 * 16, 2001 * 16, 1001 * 16, 100 * 32, 8, 0}
    assert.equal(#saved, #plain)
    for i, n in ipairs(plain) do
      assert.near(n - saved[i], fork[i], n / 40 + 64, "row " .. i)
      assert.is_true(fork[i] <= n, ("row %d: %d bytes, in pristine Lua %d"):format(i, fork[i], n))
    end
  end)
end)
