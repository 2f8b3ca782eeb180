-- SPDX-License-Identifier: MIT
-- Exact counts of allocations, by profiler.count, profiler.counter and profiler.alive in Lua and by the
-- functions of asamp.h in C.

local embedding = require "embedding"
local profiler = require "profiler"

local count = profiler.count

local KINDS = {"table", "table array part", "table hash part", "string", "Lua closure", "C closure",
               "upvalue", "userdata", "coroutine", "stack", "proto", "buffer", "outside"}

local Object = {}
Object.__index = Object

-- SHORT keeps this interned string alive, so that no call has to allocate it
local SHORT = "xxxxxxxxxx"

local function recurse(n) return n > 0 and {recurse(n - 1)} or nil end

-- Functions that allocate the same number of blocks and bytes in each call. A new short string would be
-- interned and found again by the next call, so these functions create only long strings, or short ones
-- that exist already.
local FUNCTIONS = {
  function() end,
  function() return {} end,
  function() return {1, 2, 3} end,
  function() return {a = 1, b = 2} end,
  function() local t = {} for i = 1, 100 do t[i] = i end return t end,
  function() local t = {} for i = 1, 1000 do t[i] = {i} end return t end,
  function() local t = {} for i = 1, 50 do t[i + 0.5] = true end return t end,
  function() local t = {} for i = 1, 100 do t[i] = i end for i = 1, 100 do t[i] = nil end return t end,
  function() return ("x"):rep(100) end,
  function() return ("x"):rep(10000) end,
  function() local s = ("x"):rep(50) for _ = 1, 20 do s = s .. s:sub(1, #SHORT) end return s end,
  function() return table.concat({("a"):rep(60), ("b"):rep(60)}, ",") end,
  function() return ("%s %d"):format(("y"):rep(45), 12) end,
  function() local n = 0 return function() n = n + 1 return n end end,
  function() return setmetatable({x = 1}, Object) end,
  function() return select("#", table.unpack({1, 2, 3, 4, 5, 6, 7, 8, 9})) end,
  function() return coroutine.create(recurse) end,
  function() return coroutine.wrap(function() coroutine.yield({}) end)() end,
  function() return load "local a = 1; return function() return a end" end,
  function() return recurse(40) end,
}

describe("profiler.count", function()
  it("returns the same of 100 runs of 20 functions", function()
    assert.equal(20, #FUNCTIONS)
    for i, f in ipairs(FUNCTIONS) do
      count(f)
      local bytes, blocks = count(f)
      for run = 1, 100 do
        local b, n = count(f)
        if b ~= bytes or n ~= blocks then
          assert.equal(bytes .. " " .. blocks, b .. " " .. n, ("function %d, run %d"):format(i, run))
        end
      end
      assert.is_true(i == 1 and bytes == 0 or i > 1 and bytes > 0)
    end
  end)

  it("sees one table more, and one byte more where the block is larger by it", function()
    local extra, n = false, 103
    local function f()
      local s = ("x"):rep(n)
      return extra and {s} or s
    end
    count(f)
    local bytes, blocks = count(f)
    extra = true
    local b, m = count(f)
    -- the table and its array part are one block of 56 bytes
    assert.same({1, 56}, {m - blocks, b - bytes})
    -- size of a string's block: 17 bytes and the text, rounded up to a multiple of 8
    extra, n = false, 104
    b, m = count(f)
    assert.same({bytes + 8, blocks}, {b, m})
  end)

  it("returns the results of f, with nil among them", function()
    local function f(...) return ... end
    local t = table.pack(count(f, 1, nil, 3, nil))
    assert.same({0, 0, 1, nil, 3, nil, n = 6}, t)
    t = table.pack(count(f, table.unpack({}, 1, 200)))
    assert.equal(202, t.n)
    assert.equal(3, select("#", count(setmetatable({}, {__call = function() return 1 end}))))
  end)

  it("allocates nothing itself, nested too", function()
    local function f() return {} end
    local function inner() return count(f) end
    for _ = 1, 3 do count(count, inner) end
    for _ = 1, 100 do
      local bytes, blocks, b, n, c, m = count(count, inner)
      assert.same({40, 1, 40, 1, 40, 1}, {bytes, blocks, b, n, c, m})
    end
    local c <close> = profiler.counter()
    local before = c:read()
    local after
    for _ = 1, 100 do
      c:read "table"
      after = c:read()
    end
    assert.equal(before, after)
  end)

  it("counts as the state does, and each kind", function()
    local c <close> = profiler.counter()
    local read = c.read
    for _, f in ipairs(FUNCTIONS) do f() end
    local s, n = 0, 0
    local bytes, blocks = read(c)
    for _, kind in ipairs(KINDS) do
      local b, m = read(c, kind)
      if kind ~= "stack" then s, n = s + b, n + m end
    end
    assert.same({bytes, blocks}, {s, n})
    local _, message = pcall(read, c, "tables")
    assert.truthy(message:find(("'tables' (known: %s)"):format(table.concat(KINDS, ", ")), 1, true), message)
  end)

  it("keeps its counts when a counter is closed", function()
    local c = profiler.counter()
    local t = {{}, {}}
    local bytes = c:read()
    c:close()
    assert.equal(bytes, (c:read()))
    assert.same({3 * 40 + 2 * 16, 3}, {c:read "table"})
    t[3] = {}
    c:close()
    assert.equal(bytes, (c:read()))
    assert.equal(3, #t)
  end)

  it("passes errors on, with their stack, and stops to count", function()
    local e = {}
    local ok, message = pcall(count, error, e)
    assert.is_true(not ok and message == e)
    local function thrower() error "thrown" end
    local _, trace = xpcall(count, debug.traceback, thrower)
    local line = debug.getinfo(thrower, "S").linedefined
    assert.is_truthy(trace:find(("counting_spec.lua:%d: in function"):format(line), 1, true), trace)
    assert.is_true(count(function() return pcall(count, error) end) >= 0)
    local ok2, wrong = pcall(count, 12)
    assert.is_true(not ok2 and wrong:find "function expected, got number" ~= nil)
  end)

  it("counts across yields, in coroutines", function()
    local co = coroutine.create(function(...)
      return count(function(x)
        local t = {x}
        coroutine.yield(t)
        return {t}
      end, ...)
    end)
    coroutine.resume(co, 1)
    local ok, bytes, blocks, t = coroutine.resume(co)
    assert.is_true(ok)
    assert.same({112, 2, 1}, {bytes, blocks, t[1][1]})
    local failing = coroutine.wrap(function() return count(function() coroutine.yield() error "x" end) end)
    failing()
    assert.has_error(failing)
  end)

  it("counts the same in a session and without one", function()
    local path = os.tmpname()
    assert(profiler.enable{out = path, alloc = 64, overwrite = true})
    local function f() local t = {} for i = 1, 3000 do t[i] = {i} end collectgarbage() return t end
    count(f)
    local bytes, blocks = count(f)
    assert.equal(bytes, (count(f)))
    profiler.disable()
    count(f)
    local b, n = count(f)
    assert.same({b, n}, {bytes, blocks})
  end)
end)

describe("profiler.alive", function()
  local kept

  it("returns the bytes that stay after full collections", function()
    local alive = profiler.alive
    alive(function() end)
    for _ = 1, 3 do
      assert.equal(0, alive(function() local t = {} for i = 1, 1000 do t[i] = {} end return #t end))
      assert.equal(0, alive(recurse, 100))
      assert.equal(0, alive(function() for i = 1, 5000 do local _ = "alive" .. i end end))
      assert.equal(40, alive(function() kept = {} end))
      assert.equal(64, alive(function() kept = {kept} end) + 8)
      assert.is_true(alive(function() kept = nil end) < -90)
    end
    assert.has_error(function() alive(error) end)
  end)

  it("returns a result across a yield, and refuses in a finalizer", function()
    local co = coroutine.wrap(function()
      return profiler.alive(function() coroutine.yield() kept = {} end)
    end)
    co()
    assert.is_true(co() >= 40)
    kept = nil
    local ok, message
    setmetatable({}, {__gc = function() ok, message = pcall(profiler.alive, print) end})
    collectgarbage()
    assert.is_false(ok)
    assert.is_truthy(message:find("a finalizer cannot run", 1, true))
  end)
end)

describe("the counts of asamp.h", function()
  it("are those of Lua", function()
    local kept
    local function f() kept = {{}} end
    embedding.count(f)
    kept = nil
    local bytes, blocks, tables, alive = embedding.count(f)
    assert.same({96, 2, 96, 96}, {bytes, blocks, tables, alive})
    assert.equal(bytes, (count(f)))
    assert.is_table(kept)
  end)
end)
