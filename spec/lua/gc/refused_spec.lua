-- SPDX-License-Identifier: MIT
--
-- States whose lua_Alloc has a limit, in programs whose stacks and buffers grow while nearly all of the
-- heap is garbage (luaN_refused). bench/limits compares the smallest limits with those of upstream's Lua.
-- mem_spec.lua refuses each single request of such programs.

local fewer = require "spec.support.fewer"
local states = require "states"

local function sweep(from, to, step, f)
  for limit = from, to, step * fewer(1, 3) do
    local s = states.open {libs = true, limit = limit * 1024}
    local status, result = s:run(f)
    assert.same({"ok", "done"}, {status, result}, limit .. " KiB")
    s:close()
  end
end

describe("a state near its limit", function()
  it("makes coroutines whose stacks grow", function()
    sweep(120, 400, 40, function()
      local function down(n)
        if n == 0 then coroutine.yield() else down(n - 1) end
        return 1
      end
      for _ = 1, 300 do coroutine.wrap(down)(200) end
      return "done"
    end)
  end)

  -- A former bug: after a major collection the heap grew by half of the live bytes before it checked its
  -- limit. With limits of 85, 87, 88, 94 and 96 KiB, requests of string buffers then failed.
  it("makes strings in buffers", function()
    local function buffers()
      for _ = 1, 1500 do
        local garbage, lines = {}, {}
        for i = 1, 100 do garbage[i] = {id = i, n = "n" .. i} end
        for i = 1, 60 do lines[i] = "a line of text with a number " .. i end
        assert(#table.concat(lines, "\n") > 1800 and garbage[100])
      end
      return "done"
    end
    sweep(140, 300, 40, buffers)
    sweep(84, 100, 1, buffers)
  end)

  -- A former bug: the size of a table's next vector was computed with its dead entries, and was not
  -- computed again after an emergency collection had removed them.
  it("adds keys to a weak table whose entries are dead", function()
    sweep(60, 120, 4, function()
      local values, keys = setmetatable({}, {__mode = "v"}), setmetatable({}, {__mode = "k"})
      for i = 1, 3000 do values["key" .. i] = {i} end
      for i = 1, 3000 do keys[{i}] = i end
      return type(values) == type(keys) and "done"
    end)
  end)

  -- A former bug: when a table had to shrink, its vectors were replaced even if there was no memory for new
  -- ones.
  it("adds keys to a weak table that should shrink", function()
    sweep(1040, 1160, 12, function()
      local registry, live, n = setmetatable({}, {__mode = "k"}), {}, 3000
      for i = 1, n do
        live[i] = {i}
        registry[live[i]] = {i}
      end
      math.randomseed(42, 7)
      for i = 1, 15000 do
        local k, object = math.random(n), {i}
        live[k] = object
        registry[object] = {k}
      end
      return "done"
    end)
  end)

  -- A former bug: while every collection was an emergency collection, finalizers were never called.
  it("calls finalizers although each collection is an emergency", function()
    sweep(96, 480, 48, function()
      for i = 1, 1500 do
        for j = 1, 30 do
          setmetatable({("x"):rep(1000) .. j, k = i}, {__gc = function() end})
        end
      end
      return "done"
    end)
  end)

  it("makes long strings, whose buffers have a finalizer", function()
    sweep(72, 200, 16, function()
      local n = 0
      for i = 1, 1500 do n = n + #("x"):rep(8200 + i % 300) end
      return n > 0 and "done"
    end)
  end)

  -- A former bug: because the list of remembered slots could not grow, each nursery ended with a full
  -- collection, although much memory was free: 81 to 168 full collections at some limits.
  it("collects fully for lack of memory, not of capacity in the remembered set", function()
    for limit = 6000, 6600, fewer(100, 300) do
      local s = states.open {libs = true, limit = limit * 1024}
      local status, majors = s:run(function()
        local live, n = {}, 20000
        for i = 1, n do live[i] = {i, "x" .. i} end
        math.randomseed(42, 7)
        for _ = 1, 200000 do
          local k = math.random(n)
          live[k] = {k, "x" .. k}
        end
        return #live == n and collectgarbage "statistics".majors
      end)
      s:close()
      assert.equal("ok", status)
      assert.is_true(majors <= 50, ("%d full collections at %d KiB"):format(majors, limit))
    end
  end)

  -- A former bug: each of thousands of minor collections freed the list of young strings, and requested its
  -- memory again. The request was refused, so that all strings were swept instead. That took four calls of
  -- lua_Alloc per collection, and six times the CPU time.
  it("keeps the list of young strings", function()
    local s = states.open {libs = true, limit = 3100 * 1024}
    local status, n = s:run(function()
      local live, n = {}, 10000
      for i = 1, n do live["k" .. i] = {v = i} end
      math.randomseed(42, 7)
      for i = 1, 60000 do live["k" .. math.random(n)] = {v = "val" .. i} end
      return next(live) and n
    end)
    local calls = s:stats().calls
    s:close()
    assert.same({"ok", 10000}, {status, n})
    assert.is_true(calls <= 8000, calls)
  end)
end)

describe("a C module that calls lua_Alloc itself", function()
  local function refusals(limit, size, f)
    local s = states.open {libs = true, limit = limit * 1024}
    local status, result = s:run(f, size)
    s:close()
    assert.same({"ok", 0}, {status, result}, limit .. " KiB")
  end

  for _, kind in ipairs {"tables", "long strings", "vectors"} do
    it("finds memory while nearly all of the heap is garbage: " .. kind, function()
      for _, limit in ipairs {96, 330, 2500, fewer(130), fewer(730), fewer(1500)} do
        refusals(limit, kind, function(inside, made)
          local n = 0
          for i = 1, 3000 do
            local t = {}
            if made == "tables" then for j = 1, 100 do t[j] = {j} end
            elseif made == "vectors" then for j = 1, 600 do t[j] = j end
            else for j = 1, 2 do t[j] = ("x"):rep(8200 + (i + j) % 300) end
            end
            if not (t and inside.direct(4000)) then n = n + 1 end
          end
          return n
        end)
      end
    end)
  end
end)

describe("an allocator without blocks above 4,096 bytes", function()
  it("gets a state that runs programs", function()
    local s, opened = states.open {libs = true, largest = 4096}
    assert.equal("ok", opened)
    local status, result = s:run(function()
      local t = {}
      for i = 1, 100 do t[i] = {i, "s" .. i} end
      for i = 1, 20000 do t[1] = {i} end
      local function down(n) return n > 0 and 1 + down(n - 1) or 0 end
      return down(20) + #t - 100
    end)
    assert.same({"ok", 20}, {status, result})
    assert.equal(0, s:close())
  end)
end)
