-- SPDX-License-Identifier: MIT
-- asamp.h, the interface for programs that embed Lua: the callbacks of a client, and the example of the
-- manual, built with the installed files of the tested interpreter. The function wrong() of the module
-- 'embedding' checks the guarantees of the interface that hold for every sequence of callbacks.

local embedding = require "embedding"
local heap = require "profiler.heap"
local natives = require "natives"
local peers = require "peers"
local process = require "spec.support.process"
local profiler = require "profiler"
local shell = require "spec.support.shell"

-- Returns a userdata whose block has 'size' bytes, a multiple of 16.
local function userdata(size) return natives.userdata(size - 32) end

describe("a client of asamp.h", function()
  after_each(function()
    embedding.stop()
    profiler.disable()
  end)

  it("writes snapshots of the heap, with where its samples were allocated", function()
    local path = os.tmpname()
    assert.is_true(embedding.start(256, true))
    local kept = {}
    for i = 1, 500 do kept[i] = {i} end
    collectgarbage()
    -- the second snapshot replaces the file of the first
    for _ = 1, 2 do
      assert.is_true(embedding.snapshot(path))
      local h = assert(heap.open(path))
      assert.is_true(h:info().samples > 50 and #kept == 500)
      local here = false
      for _, row in ipairs(h:sites{}) do
        here = here or row.source and row.source:find "embed_spec.lua$"
      end
      assert.is_truthy(here)
    end
    assert.is_true(embedding.stop())
    local text = process.file "not ours"
    local ok, message = embedding.snapshot(text)
    assert.is_nil(ok)
    -- A former bug: the message to a host named an option of profiler.snapshot, which the C interface does
    -- not have, and called the snapshot a profile.
    assert.equal(("cannot write the snapshot '%s': a text file exists at this path and would be replaced; " ..
                  "give another path"):format(text), message)
    assert.equal(message .. ", or the option overwrite", select(2, profiler.snapshot(text)))
    assert.equal("not ours", process.read(text))
  end)

  it("receives every sample and, once and in order, its outcome and class", function()
    local kept, mt = {}, {__name = "Embedded"}
    assert.is_true(embedding.start(64, true))
    for i = 1, 3000 do
      kept[i % 500] = setmetatable({i, i, i, i}, mt)
      if i % 1000 == 0 then collectgarbage() end
    end
    assert.is_true(embedding.stop())
    assert.is_nil(embedding.wrong())
    local list, of = embedding.samples(), {}
    for i, s in ipairs(list) do
      assert.not_nil(s.survived, i)
      if s.class then of[s.kind .. " " .. s.class] = (of[s.kind .. " " .. s.class] or 0) + 1 end
    end
    -- a few less than 3,000 tables have this class, because a collection may run before a new table has its
    -- metatable
    assert.is_true(of["table Embedded"] >= 2990, of["table Embedded"])
    local majors = 0
    for _, c in ipairs(embedding.collections()) do majors = majors + (c.major and 1 or 0) end
    assert.is_true(majors >= 3, majors)
    assert.equal(500 - 1, #kept)
  end)

  it("receives the holders of the followed samples on request", function()
    assert.is_true(embedding.start(256, true))
    Kept = {}  -- luacheck: ignore 111
    local listeners = {}
    function On(f) listeners[#listeners + 1] = f end  -- luacheck: ignore 111
    for i = 1, 1000 do
      Kept[i] = {i}  -- luacheck: ignore 112
      local s = {i, i}
      On(function() return s end)  -- luacheck: ignore 113
    end
    collectgarbage()
    local n = embedding.holders()
    local of, reported = {}, 0
    for _, s in ipairs(embedding.samples()) do
      if s.holder ~= "" then
        assert.is_true(s.followed and not s.died)
        local name = s.kind .. ": " .. s.holder:gsub("%b()", "()")
        of[name], reported = (of[name] or 0) + 1, reported + 1
      end
    end
    Kept, On = nil, nil  -- luacheck: ignore 111
    assert.is_nil(embedding.wrong())
    -- samples without a reported holder are of objects that died before the end
    assert.is_true(reported <= n and reported > 0.8 * n, reported .. " of " .. n)
    -- the globals of a spec file are in a table other than _G, so only the end of each path is compared
    local function ending(what)
      for name, count in pairs(of) do
        if name:sub(-#what) == what then return count end
      end
      return 0
    end
    assert.is_true(ending '["Kept"] > [1..n]' > 100)
    assert.is_true(ending ' > upvalue "listeners" of On () > [1..n]' > 30)
    assert.is_true(embedding.stop())
    assert.equal(0, embedding.holders())
    assert.is_true(embedding.start(256, true, false, 1, true))  -- a session that follows no samples
    assert.equal(0, embedding.holders())
  end)

  it("receives for every collection the values of the collector's statistics", function()
    collectgarbage()
    local before = collectgarbage "statistics"
    assert.is_true(embedding.start(4096))
    local kept = {}
    for i = 1, 200000 do kept[i % 3000] = {i} end
    assert.equal(2999, #kept)
    collectgarbage()
    local count = collectgarbage "count" * 1024
    local after = collectgarbage "statistics"
    local list = embedding.collections()
    local minors, majors, tenured, pauses = 0, 0, 0, 0
    for _, c in ipairs(list) do
      minors = minors + c.minors + (c.major and 0 or 1)
      majors = majors + c.majors + (c.major and 1 or 0)
      tenured, pauses = tenured + c.tenured, pauses + c.duration
      assert.is_true(c.duration > 0 and c.inuse > 0 and c.held >= c.inuse and c.rss > 0)
      assert.equal(0, c.lost)
    end
    embedding.stop()
    assert.same({after.minors - before.minors, after.majors - before.majors}, {minors, majors})
    assert.equal(after.tenured - before.tenured, tenured)
    assert.is_true(minors > 5 and majors >= 1)
    assert.is_true(pauses <= (after.pauses - before.pauses) * 1.01e9 + 1e6, pauses)
    -- tolerance of 4 KiB, because the table of collector statistics is itself allocated
    assert.is_true(math.abs(list[#list].inuse - count) < 4096, list[#list].inuse - count)
    assert.is_true(list[#list].major and list[#list].phase == 0)
  end)

  it("receives the phase of a major collection in slices", function()
    local kept, seen = {}, {}
    for i = 1, 100000 do kept[i] = {i} end
    local size = collectgarbage("nursery", 32768)
    assert.is_true(embedding.start(4096))
    for i = 1, 200000 do kept[i % 100000 + 1] = {i} end
    embedding.stop()
    collectgarbage("nursery", size)
    for _, c in ipairs(embedding.collections()) do
      seen[c.phase] = (seen[c.phase] or 0) + 1
      -- a major collection does not end in phase 1, marking, but in a later phase
      assert.is_false(c.major and c.phase == 1)
    end
    for phase = 0, 2 do assert.is_true((seen[phase] or 0) > 0, phase) end
    assert.equal(100000, #kept)
  end)

  it("receives the number of unreported collections that decided nothing", function()
    local before = collectgarbage "statistics"
    assert.is_true(embedding.start(1 << 40))
    local kept = {}
    for i = 1, 200000 do kept[i % 3000] = {i} end
    for _ = 1, 50 do collectgarbage() end
    assert.equal(2999, #kept)
    embedding.stop()
    local after = collectgarbage "statistics"
    local minors, majors, tenured, left = 0, 0, 0, 0
    for _, c in ipairs(embedding.collections()) do
      minors = minors + c.minors + (c.major and 0 or 1)
      majors = majors + c.majors + (c.major and 1 or 0)
      tenured, left = tenured + c.tenured, left + c.minors + c.majors
    end
    assert.same({after.minors - before.minors, after.majors - before.majors,
                 after.tenured - before.tenured}, {minors, majors, tenured})
    assert.is_true(left > 10, left)
    assert.same({}, embedding.samples())
  end)

  it("may be of a version that knows less, and not of one that knows more", function()
    local client, young, options = embedding.sizes()
    local badclient = "the field 'size' of client must be sizeof(asamp_Client); use this module's asamp.h"
    local badoptions = "the field 'size' of options must be sizeof(asamp_Options); use this module's asamp.h"
    for _, size in ipairs{0, 1, client + 8, 1 << 40} do
      assert.same({nil, badclient}, {embedding.sized(size)})
    end
    for _, size in ipairs{0, 7, options + 1} do
      assert.same({nil, badoptions}, {embedding.sized(nil, size)})
    end
    -- an options struct of 8 bytes ends before its field 'period'
    assert.same({nil, "the sampling period must be 64 to 2^62 bytes"}, {embedding.sized(nil, 8)})
    assert.is_false(embedding.stop())
    assert.is_true(embedding.sized(client, options))
    assert.is_true(embedding.stop())
    -- a client struct of an older version, which ends before its field 'died'
    assert.is_true(embedding.sized(young))
    local kept = userdata(4096)
    collectgarbage()
    assert.is_true(embedding.stop())
    assert.is_nil(embedding.wrong())
    assert.same({}, embedding.collections())
    local list, n = embedding.samples(), 0
    for _, s in ipairs(list) do
      assert.is_false(s.followed or s.died or s.left)
      n = n + (s.survived and 1 or 0)
    end
    assert.is_true(n >= 1)
    assert.equal("userdata", type(kept))
  end)

  -- A former bug: calling 'start' or 'stop' in a callback freed the client that was being called.
  it("is refused when a callback starts, stops or changes sampling", function()
    embedding.misuse(true)
    assert.is_true(embedding.start(64))
    local kept = {}
    for i = 1, 1000 do kept[i % 50] = {i} end
    collectgarbage()
    assert.equal(50, #kept + 1)
    local refused, obeyed = embedding.misuse()
    assert.equal(0, obeyed)
    assert.is_true(refused > 3000, refused)
    assert.is_true(embedding.period(128))
    assert.is_true(embedding.stop())
    assert.is_false(embedding.stop())
    assert.is_nil(embedding.wrong())
    assert.is_nil((embedding.period(128)))
  end)

  it("sees stacks, with C frames between those of Lua", function()
    local function leaf() return {1, 2, 3, 4} end
    local function middle() return (natives.through(leaf)) end
    local here = debug.getinfo(leaf, "S").linedefined
    for _, native in ipairs{false, true} do
      assert.is_true(embedding.start(64, true, native))
      for _ = 1, 10 do middle() end
      embedding.stop()
      assert.is_nil(embedding.wrong())
      local found = 0
      for _, s in ipairs(embedding.samples()) do
        if s.kind == "table" and s.stack:find("^%w+:" .. here .. " ") then
          assert.truthy(s.stack:find((" native middle:%d "):format(here + 1), 1, true), s.stack)
          found = found + 1
        end
      end
      assert.equal(10, found)
    end
  end)

  it("sees the same outer frames again as shared, whatever the stack does", function()
    math.randomseed(7)
    local random = math.random
    local function work(depth)
      local t = {}
      for i = 1, random(0, 3) do t[i] = {depth} end
      local what = random(1, 6)
      if depth == 0 or what == 1 then return t end
      if what == 2 then return work(depth - 1) end
      if what == 3 then return pcall(work, depth - 1), {} end
      if what == 4 then return pcall(error, work(depth - 1)), {} end
      if what == 5 then
        local co = coroutine.wrap(function() coroutine.yield(work(depth - 1)) return work(depth - 1) end)
        co()
        if random(1, 2) == 1 then co() end
        return {}
      end
      table.sort({3, 2, 1}, function(a, b) work(depth - 1) return a < b end)
      return {work(depth - 1)}
    end
    for _, native in ipairs{false, true} do
      assert.is_true(embedding.start(64, false, native))
      for _ = 1, 30 do work(6) end
      embedding.stop()
      assert.is_nil(embedding.wrong())
      assert.is_true(#embedding.samples() > 1000, #embedding.samples())
    end
  end)

  it("samples at random intervals, unless the client requests fixed ones", function()
    for fixed, least in pairs{[true] = 1, [false] = 5} do
      local counts, n = {}, 0
      for seed = 1, 20 do
        assert.is_true(embedding.start(1000, fixed, false, seed))
        natives.string(100000 - 32)
        embedding.stop()
        for _, s in ipairs(embedding.samples()) do
          if s.size >= 100000 - 32 and not counts[s.count] then
            counts[s.count], n = true, n + 1
          end
        end
      end
      assert.is_true(n >= least and (not fixed or n <= 2), n)
    end
  end)

  it("counts periods, which may change", function()
    assert.is_true(embedding.start(1000, true))
    natives.string(100000)
    assert.is_true(embedding.period(100))
    natives.string(100000)
    embedding.stop()
    local large = {}
    for _, s in ipairs(embedding.samples()) do
      if s.size > 100000 then large[#large + 1] = s.count end
    end
    assert.equal(2, #large)
    assert.is_true(large[1] >= 100 and large[1] <= 101, large[1])
    assert.is_true(large[2] >= 1000 and large[2] <= 1001, large[2])
  end)

  it("is refused with the reason", function()
    local bad = "the sampling period must be 64 to 2^62 bytes"
    assert.same({nil, bad}, {embedding.start(63)})
    assert.same({nil, "the Lua state has no client; call start first"}, {embedding.period(64)})
    assert.is_false(embedding.stop())
    assert.is_true(embedding.start(64, true))
    assert.same({nil, bad}, {embedding.period(0)})
    assert.same({nil, "the Lua state already has a client; stop that client first"}, {embedding.start(64)})
    assert.is_true(embedding.stop())
    local path = os.tmpname()
    assert(profiler.enable{out = path})
    assert.same({nil, "a profile of this Lua state is being written; call profiler.disable() first"},
                {embedding.start(64)})
    assert.is_false(embedding.stop())
    assert.is_true(profiler.stats().on)
    profiler.disable()
  end)

  it("is left alone by the profiler, which reports that it cannot start", function()
    assert.is_true(embedding.start(64, true))
    local ok, message = profiler.enable{out = "never.vmprof"}
    assert.is_nil(ok)
    assert.equal("cannot write profile 'never.vmprof': the program that runs this Lua state already " ..
                 "samples that state (asamp.h); stop one of the two", message)
    assert.is_false(profiler.alloc_stop())
    assert.is_false(profiler.disable())
    assert.is_false(profiler.mark "nothing")
    assert.is_false(profiler.stats().on)
    local before = #embedding.samples()
    natives.string(1000)
    assert.is_true(#embedding.samples() > before)
    assert.is_true(embedding.stop())
    assert.is_nil(embedding.wrong())
  end)

  it("can name native addresses", function()
    local name, file = embedding.symbol()
    assert.equal("l_symbol", name)
    assert.truthy(file:find "embedding%.so$")
  end)

  it("receives the last outcomes when the state is closed", function()
    local s = peers.new{}
    assert(s:run([[
      package.cpath = ]] .. ("%q"):format(package.cpath) .. [[
      package.path = ]] .. ("%q"):format(package.path) .. [[
      local embedding = require "embedding"
      assert(embedding.start(64, true))
      kept = {}
      for i = 1, 500 do kept[i] = {i, i, i, i} end
    ]]))
    s:close()
    assert.is_nil(embedding.wrong())
    local tables = 0
    for _, t in ipairs(embedding.samples()) do
      assert.not_nil(t.survived)
      if t.kind == "table" then tables = tables + 1 end
    end
    assert.is_true(tables >= 500, tables)
  end)
end)

describe("a callback that calls the Lua API", function()
  local function run(callback, what)
    local status, _, err = process.run{code = [[
      local embedding = require "embedding"
      local callback, what = ...
      embedding.callapi(callback, what)
      assert(embedding.start(64))
      local kept = {}
      for i = 1, 5000 do kept[i % 1000] = {i} end
      collectgarbage()
      kept = nil
      collectgarbage()
      embedding.stop()]], callback, what}
    return status, err
  end

  -- Only the debug build detects a call of the Lua API in a callback. In other builds the effect of such a
  -- call is undefined.
  if process.interpreter():find "/debug/" then
    it("ends the process in the debug build, which names the function", function()
      for _, callback in ipairs{"allocated", "decided", "died", "collected"} do
        local status, err = run(callback)
        assert.equal(128 + 6, status, callback)
        assert.truthy(err:find("sampler: lua_pushinteger called in the middle of an allocation "
          .. "or a collection", 1, true), err)
      end
    end)

    it("ends the process in the debug build if it sets limits or counts", function()
      for _, setter in ipairs{"limits", "counts"} do
        local status, err = run("allocated", setter)
        assert.equal(128 + 6, status)
        assert.truthy(err:find(("sampler: luaN_set%s called in the middle of an allocation"):format(setter),
                               1, true), err)
      end
    end)
  end

  it("would be detected by those specs", function()
    assert.same({0, ""}, {run "none"})
  end)
end)

describe("the example of asamp.h", function()
  local LEAKS = [[
cache, objects = {}, {} local _ = #("v"):rep(100000)  -- makes lauxlib create the objects that it keeps
for i = 1, 100 do cache[i] = false end
local function remember(i) cache[i] = ("x"):rep(65536 - 25) .. i end
local function work() return ("y"):rep(65536 - 25) end
for i = 1, 40 do objects[i] = false end
for i = 1, 100 do
  remember(i)
  objects[i % 40 + 1] = work()
  if i % 10 == 0 then collectgarbage() end
end
for i = 1, 70 do cache[i] = nil end
objects = nil
local function forever() leak = ("z"):rep(300000) end
forever()
setmetatable({("w"):rep(300000)}, {__gc = function(t) t[1] = nil end})
]]

  local prefix = process.interpreter():match "^(.*)/bin/[^/]+$"

  -- Builds the manual's example program with a compiler. Returns the path of the program.
  local function build(compiler)
    local program = os.tmpname()
    local flags = prefix:find "asan" and " -fsanitize=address,undefined" or ""
    assert.equal("", shell.output("PKG_CONFIG_PATH=%s/lib/pkgconfig; export PKG_CONFIG_PATH; "
      .. "%s -Wall -Wextra -Werror%s -o %s doc/examples/leaks.c "
      .. "$(pkg-config --cflags --libs lua5.4) -Wl,-rpath,%s/lib 2>&1",
      prefix, compiler, flags, program, prefix))
    return program
  end

  -- Runs the example program with a period of 64 bytes on a script with two leaks. Returns the rows of its
  -- report, largest first, and its output. The standard error of a reported size is 3% for 64 KiB (1,024
  -- samples) and 0.6% for thirty times as much.
  local function finds(compiler)
    local program, script = build(compiler), process.file(LEAKS)
    local status, out, err = process.run{program = program, script, "64"}
    assert.same({0, ""}, {status, err})
    local found = {}
    local place = script:gsub("%p", "%%%0") .. ":(%d+): ([^\n]+)"
    for alive, all, blocks, kind, line, name in
      out:gmatch("(%d+) of (%d+) KB alive, (%d+) sampled: ([%a ]+), " .. place) do
      found[#found + 1] = {alive = tonumber(alive), all = tonumber(all),
                           what = ("%s %s: %s %s"):format(blocks, kind, line, name)}
    end
    return found, out
  end

  for name, compiler in pairs{C = "gcc -std=gnu99", ["C++"] = "g++ -x c++ -include lua.hpp"} do
    it("builds as " .. name .. " against the installed tree and finds the leaks, and these only", function()
      local found, out = finds(compiler)
      local first, second = found[1], found[2]
      assert.equal("30 string: 3 remember", first.what, out)
      assert.is_true(math.abs(first.alive - 30 * 64) < 0.04 * 30 * 64, out)
      -- two strings for each: the text, and the text that it is concatenated with
      assert.is_true(math.abs(first.all - 100 * 128) < 0.02 * 100 * 128, out)
      assert.equal("1 string: 13 forever", second.what, out)
      assert.truthy(out:find('3: remember\n           held by _G -> ["cache"] -> [1..n]\n', 1, true), out)
      assert.truthy(out:find('13: forever\n           held by _G -> ["leak"]\n', 1, true), out)
      assert.is_true(math.abs(second.alive - 293) < 0.08 * 293, out)
      -- the remaining rows are functions and similar objects
      for i = 3, #found do assert.is_true(found[i].alive < 10, out) end
    end)
  end

  it("reports wrong arguments", function()
    local program = build "gcc -std=gnu99"
    assert.same({2, "", "usage: leaks SCRIPT [PERIOD]\n"}, {process.run{program = program}})
    assert.same({2, "", "leaks: the sampling period must be 64 to 2^62 bytes\n"},
                {process.run{program = program, "none.lua", "63"}})
    assert.same({1, "", "leaks: cannot open none.lua: No such file or directory\n"},
                {process.run{program = program, "none.lua"}})
  end)
end)
