-- SPDX-License-Identifier: MIT
--
-- Many small states, and states with little memory (lua/gc/memory/chunks.c, pace.c): the memory of one
-- state, the effect of a limit in lua_Alloc, and memory that is returned to the system. The spec measures
-- bytes and not time. bench/states prints the same numbers for upstream's Lua.

-- luacheck: ignore 241 331 (variables that only keep objects alive)

local process = require "spec.support.process"
local shell = require "spec.support.shell"
local states = require "states"
local within = require "spec.lua.gc.within"

-- factor for the debug build, which has larger headers of blocks and a larger collector state
local SPARE = os.getenv "ASAMP_VARIANT" == "debug" and 1.07 or 1.04

-- Returns the smallest limit in bytes, with an error of up to 256, for which try(limit) is true.
local function least(try)
  local low, high = 0, 1 << 20
  while high - low > 256 do
    local middle = (low + high) // 2
    if try(middle) then high = middle else low = middle end
  end
  return high
end

local function plugin()
  local Account = {}
  Account.__index = Account
  function Account.new(name, n) return setmetatable({name = name, n = n}, Account) end
  function Account:deposit(n) self.n = self.n + n; return self end
  local all = {}
  for i = 1, 50 do all[i] = Account.new(("account %03d"):format(i), i):deposit(i * 7 % 13) end
  table.sort(all, function(a, b) return a.n < b.n end)
  local out = {}
  for i, a in ipairs(all) do out[i] = a.name .. "=" .. a.n end
  return #table.concat(out, ",")
end

describe("a small state", function()
  -- A former bug: the first chunk of a state had 64 KiB, half of it for alignment. lua_newstate took 70 KB,
  -- and a script with libraries 145 KB.
  it("can be made in 9 KB, have libraries in 28 KB and run a script in 48 KB", function()
    local bare = least(function(limit)
      local s = states.open{libs = false, limit = limit}
      if s then s:close() end
      return s ~= nil
    end)
    assert.is_true(bare < 8700 * SPARE, bare)
    local open = least(function(limit)
      local s, status = states.open{limit = limit}
      if s then s:close() end
      return s ~= nil and status == "ok"
    end)
    assert.is_true(open < 27000 * SPARE, open)
    local whole = least(function(limit)
      local s, status = states.open{limit = limit}
      if s and status == "ok" then status = s:run(plugin) end
      if s then s:close() end
      return s ~= nil and status == "ok"
    end)
    assert.is_true(whole < 48000 * SPARE, whole)
  end)

  -- A former bug: if a state needed memory, it requested at least two blocks of 32 KiB, and failed if it
  -- received none. In 128 KiB it could keep 151 rows; upstream's Lua keeps 823.
  it("uses a limit in lua_Alloc to its end before a request fails", function()
    local function rows(limit)
      local s = states.open{limit = limit}
      local status, n = s:run(function()
        local kept, n = {}, 0
        pcall(function()
          while true do kept[n + 1] = {id = n, name = "row " .. n}; n = n + 1 end
        end)
        kept = nil  -- luacheck: ignore 311
        return n
      end)
      assert.equal("ok", status)
      assert.is_nil(s:check())
      s:close()
      return n
    end
    -- by limit, the number of rows that upstream's Lua keeps
    for limit, want in pairs {[128 << 10] = 577, [256 << 10] = 1298, [1 << 20] = 6081} do
      local n = rows(limit)
      assert.is_true(n >= want, ("%d rows in %d, not %d"):format(n, limit, want))
    end
  end)

  -- A former bug: lua_Alloc refused every chunk that a program near its limit requested: 38,757 refusals in
  -- 20 MB.
  it("keeps its nursery within the memory that lua_Alloc gives it", function()
    for _, limit in ipairs {100000, 131072} do
      local s = states.open{limit = limit}
      local before = s:stats().refused
      local status = s:run(function()
        local sum = 0
        for i = 1, 200000 do
          local t = {i, "text " .. i}
          sum = sum + #t
        end
        return sum
      end)
      assert.equal("ok", status)
      local refused = s:stats().refused - before
      local minors = s:memory().minors
      assert.is_true(refused < 100, ("%d refused in %d"):format(refused, limit))
      assert.is_true(minors > 100, minors)
      -- it was 3,487 when each refusal before a full collection still halved the size of the next nurseries
      assert.is_true(minors < 1600, minors)
      s:close()
    end
  end)

  -- A former bug: if the mark stack could not grow, it requested memory again for each marked object. In a
  -- state without free memory, the fuzzer counted ten million refusals.
  it("requests no more after a refusal of that total, until a collection has ended", function()
    local s = states.open{limit = 400000}
    local status, got = s:run(function(state)
      local all = {}
      pcall(function()
        while true do
          local list = {}
          for i = 1, 20 do list[i] = {} end
          all[#all + 1] = list
        end
      end)
      all[#all] = nil
      local n = 0
      for _ = 1, 20 do
        pcall(function()
          for i = 1, 100 do n = n + #{{}, {}, {i}} end
        end)
        collectgarbage()
      end
      state.check()
      return n >= 0 and #all > 100
    end)
    assert.same({"ok", true}, {status, got})
    local refused = s:stats().refused
    assert.is_true(refused > 0 and refused < 600, refused)
    assert.equal(0, s:close())
  end)

  it("has a nursery as large as its old objects, although it was busy, among many states", function()
    local function nursery()
      local s = states.open()
      local status, n, bytes = s:run(function(state)
        local sum = 0
        for i = 1, 300000 do
          local t = {i, {}}
          sum = sum + #t
        end
        return collectgarbage("statistics").nursery, state.bytes()
      end)
      assert.equal("ok", status)
      s:close()
      return n, bytes
    end
    local alone, much = nursery()
    local many = {}
    for i = 1, 400 do many[i] = states.open() end
    local among, little = nursery()
    for _, s in ipairs(many) do s:close() end
    assert.is_true(alone > 200000, alone)
    assert.is_true(among < 60000, among)
    assert.is_true(little < 150000 and little < much // 2, ("%d, %d"):format(little, much))
    assert.equal(alone, (nursery()))
  end)
end)

describe("memory goes back", function()
  -- Objects do not move. So a chunk with one live object cannot be freed, but its free pages can be returned
  -- to the system. The spec excludes the ASan build, which maps no chunks.
  if not process.interpreter():find("/asan/", 1, true) then
    it("by the page where whole records of a state of luaL_newstate have died", function()
      local status, text = process.code [[
        local function resident()
          for l in io.lines("/proc/self/status") do
            local n = l:match("VmRSS:%s*(%d+)")
            if n then return n * 1024 end
          end
        end
        math.randomseed(1, 1)
        local t = {}
        for i = 1, 3000 do
          t[i] = {i}
          for j = 2, 150 do t[i][j] = {j, i} end
        end
        local before = resident()
        for i = 1, 3000 do if math.random() > 0.1 then t[i] = false end end
        collectgarbage()
        print(before, (resident()))
        for i = 1, 3000 do
          for j = 2, t[i] and 150 or 0 do assert(t[i][j][1] == j and t[i][j][2] == i) end
        end
      ]]
      assert.equal(0, status, text)
      local before, after = text:match("^(%d+)%s+(%d+)")
      assert.is_true(tonumber(before) > 30 << 20, text)
      assert.is_true(after * 2 < before * 1, text)
    end)

    -- A former bug: every major collection returned the free pages of a heap of two MiB to the system. The
    -- next nursery used these pages again, with 4,500 page faults instead of 700. This took a twentieth of
    -- the time of a program that splits and joins lines.
    it("but not from a small heap, which needs it again at once", function()
      local status, text = process.code [[
        arg = {[0] = "bench/load.lua", "strings", "12000"}
        local function faults()  -- returns the tenth field, minflt: page faults
          local line = io.open("/proc/self/stat"):read("a")
          return tonumber(line:match("%)" .. (" %S+"):rep(7) .. " (%d+)"))
        end
        local before = faults()
        dofile(arg[0])
        print(faults() - before)]]
      assert.equal(0, status, text)
      assert.is_true(tonumber(text:match("(%d+)%s*$")) < 800, text)
    end)
  end

  -- malloc by itself returns only the end of its heap to the system. A former bug: after 190 MB of large
  -- strings were dropped between live ones, nothing was returned. The ASan build has another malloc.
  if not process.interpreter():find("/asan/", 1, true) then
    local dropping = [[
      local function resident()
        return tonumber(io.open("/proc/self/statm"):read("a"):match("^%%d+ (%%d+)")) * 4
      end
      local kept, n = {}, %d
      for i = 1, n do kept[i] = {("x"):rep(20000 + i %% 100), "small " .. i} end
      local most = resident()
      for i = 1, n do if i %% 20 ~= 0 then kept[i] = false end end
      %s
      print(most, resident())
      for i = 20, n, 20 do assert(#kept[i][1] == 20000 + i %% 100 and kept[i][2] == "small " .. i) end
    ]]
    local function falls(n, rest)
      local status, text = process.code(dropping:format(n, rest))
      assert.equal(0, status, text)
      local most, after = text:match("^(%d+)%s+(%d+)")
      assert.is_true(most * 1 > n * 18, text)
      assert.is_true(after * 4 < most * 1, text)
    end

    it("from malloc's heap, too, by a full collection", function()
      falls(10000, "collectgarbage()")
    end)

    -- For a larger heap malloc_trim is not called, because it would be a pause of many milliseconds.
    it("from malloc's heap by a major collection of a heap that was small", function()
      falls(2400, "for i = 1, 3000000 do kept[0] = {i} end")
    end)

    -- A former bug: strings of 512 to 8,000 bytes came from malloc, too, and 200 MB of such strings stayed
    -- resident when they were dead.
    it("from lines where strings of 1,000 bytes lay, while the program goes on", function()
      local status, text = process.code [[
        local function resident()
          return tonumber(io.open("/proc/self/statm"):read("a"):match("^%d+ (%d+)")) * 4
        end
        local kept, rest = {}, ("x"):rep(992)
        for i = 1, 100000 do kept[i] = rest .. 10000000 + i end
        local most = resident()
        for i = 1, #kept do if i % 1000 ~= 0 then kept[i] = false end end
        for i = 1, 1200000 do local _ = rest .. i % 1000 end
        print(most, resident())
        for i = 1000, #kept, 1000 do assert(kept[i] == rest .. 10000000 + i) end
      ]]
      assert.equal(0, status, text)
      local most, after = text:match("^(%d+)%s+(%d+)")
      assert.is_true(most * 1 > 100000, text)
      assert.is_true(after * 3 < most * 1, text)
    end)

    -- Runs the program spec/support/hosts/closing.c with each of the given arguments. Returns its outputs.
    local function closing(...)
      local variant = os.getenv "ASAMP_VARIANT" or "fork"
      local prefix = variant == "fork" and "build" or "build/" .. variant
      local program, said = os.tmpname(), {}
      shell.output("gcc -std=gnu99 -I%s/include/lua5.4 spec/support/hosts/closing.c -o %s %s/lib/liblua.a " ..
        "-lm -ldl", prefix, program, prefix)
      for i, way in ipairs { ... } do said[i] = shell.output("%s %s", program, way) end
      os.remove(program)
      return table.unpack(said)
    end

    -- A former bug: 80 MB of 3,000 closed states of 25 KB each stayed resident.
    it("from malloc's heap when the last state of a process is closed", function()
      local together, inturn = closing("together 2000", "in-turn 10000")
      local before, most, after, trims = together:match "(%d+) (%d+) (%d+) (%d+)"
      assert.is_true(most - before > 40000, together)
      assert.is_true(after - before < (most - before) // 20, together)
      assert.equal("1", trims)
      -- 'inturn' is the number of calls of malloc_trim while states are closed one after the other. It is
      -- called only after 16 MiB were freed, not at each close.
      assert.is_true(tonumber(inturn) > 0 and tonumber(inturn) < 40, inturn)
    end)

    -- A former bug: in a host that creates a state for each request, the same memory was mapped and cleared
    -- each time. That took three times as long as with a malloc that keeps freed memory.
    it("but not at once where states come and go: the next one has it", function()
      local said = closing "requests 60"
      local faults, before, last, later = said:match "(%d+) (%d+) (%d+) (%d+)"
      -- 6 MiB are 1,500 pages
      assert.is_true(faults * 4 < 1500, said)
      assert.is_true(last - before < 16 << 10, said)
      assert.is_true(later - before < 2 << 10, said)
    end)
  end

  -- A former bug: free chunks were returned only after a full collection, or if they had more than a MiB.
  it("while a program continues with short-lived objects, without a requested collection", function()
    for _, mode in ipairs {"generational", "incremental"} do
      within(function(state, m)
        if m == "generational" then collectgarbage(m) end
        local live = {}
        for i = 1, 200000 do live[i] = {i} end
        local most = state.bytes()
        assert(most > 16 << 20, most)
        live = nil  -- luacheck: ignore 311
        local start = state.allocated()
        while state.allocated() - start < 120 << 20 do
          local t = {start}
          start = t[1]
        end
        local bytes = state.bytes()
        assert(bytes < 3 << 20, ("%d of %d"):format(bytes, most))
      end, mode)
    end
  end)
end)
