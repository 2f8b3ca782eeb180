-- SPDX-License-Identifier: MIT
-- asamp.h, for programs that embed Lua: what a client is told, and the example
-- of the manual, built against the tree of the interpreter that runs the specs.

local embedding = require "embedding"
local natives = require "natives"
local process = require "spec.support.process"
local profiler = require "profiler"
local starved = require "starved"

describe("a client of asamp.h", function()
  after_each(function()
    embedding.stop()
    profiler.disable()
  end)

  it("is told every sample and, once and in order, its fate and class", function()
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
    -- a collection may come before a new table has got its metatable
    assert.is_true(of["table Embedded"] >= 2990, of["table Embedded"])
    assert.is_true(select(2, embedding.collections()) >= 3)
    assert.equal(500 - 1, #kept)
  end)

  -- 'start' and 'stop' in a callback freed the client that was being called.
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

  it("sees the same outer frames again as kept, whatever the stack does", function()
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

  it("samples at random gaps, unless fixed ones are asked for", function()
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
    local bad = "the period must be 64 to 2^62 bytes"
    assert.same({nil, bad}, {embedding.start(63)})
    assert.same({nil, "the state has no client; start one first"}, {embedding.period(64)})
    assert.is_false(embedding.stop())
    assert.is_true(embedding.start(64, true))
    assert.same({nil, bad}, {embedding.period(0)})
    assert.same({nil, "the state has a client; stop it first"}, {embedding.start(64)})
    assert.is_true(embedding.stop())
    local path = os.tmpname()
    assert(profiler.enable{out = path})
    assert.same({nil, "the state writes a profile; call profiler.disable() first"},
                {embedding.start(64)})
    assert.is_false(embedding.stop())
    assert.is_true(profiler.stats().on)
    profiler.disable()
    os.remove(path)
  end)

  it("is left alone by the profiler, which says that it cannot begin", function()
    assert.is_true(embedding.start(64, true))
    local ok, message = profiler.enable{out = "never.vmprof"}
    assert.is_nil(ok)
    assert.equal("cannot write profile 'never.vmprof': the program that runs this Lua state "
      .. "samples it by itself (asamp.h)", message)
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

  it("is told the last fates when the state is closed", function()
    local peers = require "peers"
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

describe("a client in a process without memory", function()
  local function list(from, to)
    local t = {}
    for i = from, to, 8 do t[#t + 1] = i end
    return t
  end

  after_each(function()
    starved.starve(false)
    starved.stop()
  end)

  -- The next sample's outer frames were looked for where there were none.
  it("is told of a stack what there was memory for, and never what was not told", function()
    starved.start()
    starved.starve(true)
    assert.same({0, {}}, {starved.sample(0, list(8, 4000))})
    starved.starve(false)
    assert.same({0, {8, 16}}, {starved.sample(500, {8, 16})})
    local all = list(8, 4000)
    assert.same({0, all}, {starved.sample(0, all)})
    starved.starve(true)
    assert.same({400, list(808, 4000)}, {starved.sample(400, list(8000, 80000))})
    assert.same({400, list(808, 4000)}, {starved.sample(9000, {})})
    starved.starve(false)
    table.insert(all, 101, 24)
    assert.same({400, table.move(all, 101, 501, 1, {})}, {starved.sample(5000, {24})})
  end)
end)

describe("the example of asamp.h", function()
  local function showswho(compiler)
    local prefix = process.interpreter():match "^(.*)/bin/[^/]+$"
    local program, script = os.tmpname(), process.file [[
local kept = {}
for i = 1, 5000 do
  kept[i] = {i, i, i}
  local s = ("x"):rep(i % 100 + 100)
end
]]
    local flags = prefix:find "asan" and " -fsanitize=address,undefined" or ""
    local build = ("PKG_CONFIG_PATH=%s/lib/pkgconfig; export PKG_CONFIG_PATH; "
      .. "%s -Wall -Wextra -Werror%s -o %s doc/examples/sites.c "
      .. "$(pkg-config --cflags --libs lua5.4) -Wl,-rpath,%s/lib 2>&1; %s %s; rm -f %s")
      :format(prefix, compiler, flags, program, prefix, program, script, program)
    local pipe = assert(io.popen(build))
    local text = pipe:read "a"
    pipe:close()
    os.remove(script)
    local survived = text:match("(%d+)%% survived  " .. script:gsub("%p", "%%%0") .. ":3: main chunk")
    local died = text:match("(%d+)%% survived  " .. script:gsub("%p", "%%%0") .. ":4: main chunk")
    assert.is_true(survived ~= nil and tonumber(survived) >= 60, text)
    assert.is_true(died ~= nil and tonumber(died) <= 40, text)
  end

  it("builds against the installed tree and shows who allocates", function()
    showswho "gcc -std=gnu99"
  end)

  it("is C++ as well: no field has the name of a keyword", function()
    showswho "g++ -x c++ -include lua.hpp"
  end)
end)
