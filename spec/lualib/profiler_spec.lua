-- SPDX-License-Identifier: MIT
-- The Lua module `profiler`: its arguments and their errors, its states, the variable LUA_PROFILER, and
-- `lua -l profiler`.

local core = require "profiler.core"
local natives = require "natives"
local peers = require "peers"
local process = require "spec.support.process"
local profiler = require "profiler"
local samples = require "spec.support.samples"

local KNOWN = "alloc, compress, copies, exact, fixed, format, holders, malloc, native, out, "
  .. "overwrite, quiet, rate, ring, seed, snapshot, time, wall"
local MIN = "period must be 64 to 2^62 bytes, got "
local RATE = "rate must be 1 to 30000 samples a second, got "
local NOMIN = "must be a period of 64 to 2^62 bytes, or 0 for none, got "
local NORATE = "must be 1 to 30000 samples a second, or 0 for none, got "

-- Calls f, which must raise an error. Returns the error message without its position.
local function raised(f, ...)
  local ok, message = pcall(f, ...)
  assert.is_false(ok)
  return (message:gsub("^[^:]+:%d+: ", ""))
end

describe("arguments", function()
  it("have the limits of the C module", function()
    local options = require "profiler.options"
    for _, name in ipairs {"MIN", "MAX", "MINRATE", "MAXRATE"} do
      assert.equal(core[name], options[name], name)
    end
  end)

  local path
  before_each(function() path = os.tmpname() end)
  after_each(function()
    profiler.disable()
    os.remove(path)
  end)

  it("that are wrong raise an error that names the value and the remedy", function()
    local options = {
      {{alloc = 3}, "option 'alloc' " .. NOMIN .. "3"},
      {{alloc = "12Q"}, "option 'alloc' " .. NOMIN .. '"12Q"'},
      {{alloc = -1}, "option 'alloc' " .. NOMIN .. "-1"},
      {{alloc = 1.5}, "option 'alloc' " .. NOMIN .. "1.5"},
      {{alloc = {}}, "option 'alloc' " .. NOMIN .. "table: "},
      {{native = 2}, "option 'native' must be true or false, 1 or 0, got 2"},
      {{fixed = "yes"}, "option 'fixed' must be true or false, 1 or 0, got \"yes\""},
      {{compress = ""}, "option 'compress' must be true or false, 1 or 0, got \"\""},
      {{holders = "60"}, "option 'holders' must be true or false, 1 or 0, or a time such as " ..
        '"60s", "5m" or "1h", got "60"'},
      {{holders = "0s"}, "option 'holders' must be "},
      {{holders = "999999h"}, "option 'holders' must be "},
      -- Former bugs: these durations are 2^64 + 3,584 seconds, and this size is 2^64 bytes + 64 MiB. They
      -- were accepted as 3,584 seconds and 64 MiB.
      {{holders = "5124095576030432h"}, "option 'holders' must be "},
      {{ring = "5124095576030432h"}, "option 'ring' must be "},
      {{ring = "18014398509547520K"}, "option 'ring' must be "},
      {{quiet = {}}, "option 'quiet' must be true or false, 1 or 0, got table: "},
      {{seed = "x"}, "option 'seed' must be an integer, got \"x\""},
      {{seed = 0.5}, "option 'seed' must be an integer, got 0.5"},
      {{out = ""}, "option 'out' must be a path, got \"\""},
      {{out = 7}, "option 'out' must be a path, got 7"},
      {{out = "a\0b"}, "option 'out' must be a path, got \"a\\0b\""},
      {{format = "perf"}, "option 'format' must be \"stock\" or \"extended\", got \"perf\""},
      {{periode = 3}, 'unknown option "periode" (known: ' .. KNOWN .. ")"},
      {{time = -1}, "option 'time' " .. NORATE .. "-1"},
      {{time = 30001}, "option 'time' " .. NORATE .. "30001"},
      {{time = 0.5}, "option 'time' " .. NORATE .. "0.5"},
      {{time = "1K"}, "option 'time' " .. NORATE .. '"1K"'},
      {{time = true}, "option 'time' " .. NORATE .. "true"},
      {{wall = 2}, "option 'wall' must be true or false, 1 or 0, got 2"},
      {{exact = "x"}, "option 'exact' must be true or false, 1 or 0, got \"x\""},
      {{[1] = true}, "unknown option 1 (known: " .. KNOWN .. ")"},
    }
    for _, case in ipairs(options) do
      local message = raised(profiler.enable, case[1])
      local expected = "bad argument #1 to 'enable' (" .. case[2]
      assert.equal(expected, message:sub(1, #expected))
      if next(case[1]) ~= "alloc" then
        message = raised(profiler.alloc_start, 64, case[1])
        expected = "bad argument #2 to 'alloc_start' (" .. case[2]
        assert.equal(expected, message:sub(1, #expected))
      end
    end
    local START = "bad argument #1 to 'alloc_start' (" .. MIN
    local calls = {
      {"bad argument #1 to 'enable' (table of options expected, got number)", profiler.enable, 64},
      {"bad argument #1 to 'enable' (table of options expected, got boolean)", profiler.enable, false},
      {START .. "nil)", profiler.alloc_start},
      {START .. "63)", profiler.alloc_start, 63},
      {START .. "0)", profiler.alloc_start, 0},
      {START .. "4611686018427387905)", profiler.alloc_start, (1 << 62) + 1},
      {START .. '"1T")', profiler.alloc_start, "1T"},
      {START .. '"4294967297G")', profiler.alloc_start, "4294967297G"},
      {START .. '"99999999999999999999")', profiler.alloc_start, ("9"):rep(20)},

      {"bad argument #2 to 'alloc_start' (table of options expected, got string)",
       profiler.alloc_start, 64, "x"},
      {"bad argument #2 to 'alloc_start' (the value of 'alloc' must be the first argument)",
       profiler.alloc_start, 64, {alloc = 64}},
      {"bad argument #2 to 'alloc_start' (option 'time' is only for profiler.time_start; leave it out)",
       profiler.alloc_start, 64, {time = 100}},
      {"bad argument #1 to 'time_start' (" .. RATE .. "nil)", profiler.time_start},
      {"bad argument #1 to 'time_start' (" .. RATE .. "0)", profiler.time_start, 0},
      {"bad argument #1 to 'time_start' (" .. RATE .. "30001)", profiler.time_start, 30001},
      {"bad argument #2 to 'time_start' (table of options expected, got number)",
       profiler.time_start, 100, 7},
      {"bad argument #2 to 'time_start' (the value of 'time' must be the first argument)",
       profiler.time_start, 100, {time = 100}},
      {"bad argument #2 to 'time_start' (option 'alloc' is only for profiler.alloc_start; leave it out)",
       profiler.time_start, 100, {alloc = 64}},
      {"bad argument #1 to 'period' (" .. MIN .. "1)", profiler.period, 1},
      {"bad argument #1 to 'period' (" .. MIN .. "false)", profiler.period, false},
      {"allocations are not sampled; call profiler.alloc_start(n)", profiler.period, 64},
      {"bad argument #1 to 'dump' (path expected, got \"a\\0b\")", profiler.dump, "a\0b"},
      {"bad argument #1 to 'snapshot' (path expected, got \"a\\0b\")", profiler.snapshot, "a\0b"},
    }
    for _, c in ipairs(calls) do
      local message = raised(table.unpack(c, 2))
      assert.equal(c[1], message)
    end
    assert.is_false(profiler.stats().on)
  end)

  it("blame the caller's line", function()
    local ok, message = pcall(function() profiler.alloc_start(3) end)
    assert.is_false(ok)
    assert.truthy(message:find "^[^:]*profiler_spec.lua:%d+: bad argument #1")
  end)

  it("may be sizes with a unit, and floats that are integers", function()
    for _, case in ipairs{{64, 64}, {"64", 64}, {"1K", 1024}, {"2k", 2048}, {"3M", 3 << 20},
                          {"1G", 1 << 30}, {4096.0, 4096}, {1 << 62, 1 << 62}, {"4294967296G", 1 << 62}} do
      assert.is_true(profiler.alloc_start(case[1], {out = path}))
      assert.equal(case[2], profiler.period())
      assert.equal("integer", math.type(profiler.period()))
      assert.equal(case[2], profiler.stats().period)
      assert.is_true(profiler.disable())
    end
  end)

  it("choose format, compression, gaps and seed of the file", function()
    local function made(o)
      o.out, o.overwrite = path, "profile"
      assert.is_true(profiler.alloc_start(64, o))
      for _ = 1, 100 do natives.userdata(100) end
      assert.is_true(profiler.disable())
      local first = process.read(path):sub(1, 2)
      return samples.read(path).log, first
    end
    local log, first = made{}
    assert.equal(6, log.version)
    assert.equal("\31\139", first)
    assert.equal("1", log.metas["asamp.random"])
    assert.equal(2 | 4, log.mode)
    log, first = made{format = "extended", compress = false, fixed = true, native = false}
    assert.equal(7, log.version)
    assert.equal("\0\0", first)
    assert.equal("0", log.metas["asamp.random"])
    assert.equal(2, log.mode)
  end)

  it("of the same seed put the first sample at the same place", function()
    for _, fixed in ipairs{true, false} do
      local distances = {}
      for i, seed in ipairs{11, "11", 12} do
        assert(profiler.alloc_start(1 << 30, {out = path, seed = seed, fixed = fixed}))
        distances[i] = core.distance()
        profiler.disable()
      end
      -- tolerance for the bytes that a call allocates before the distance is read
      assert.is_true(math.abs(distances[1] - distances[2]) < 4096)
      assert.is_true(math.abs(distances[1] - distances[3]) > 4096)
    end
  end)

  -- If n sample points are random, the error of their number is about sqrt(n). The sum of 40 squared
  -- errors, in units of n, is 40 on average, with a standard deviation of 9. With fixed intervals the error
  -- is at most one period, so that the sum is almost 0.
  it("sample at random gaps, unless fixed ones are requested", function()
    local function errors(o)
      local sum = 0
      for seed = 1, 40 do
        o.out, o.seed, o.native = path, seed, false
        assert(profiler.alloc_start(256, o))
        for i = 1, 1000 do natives.userdata(i % 200) end
        profiler.alloc_stop()
        local t = profiler.stats()
        profiler.disable()
        local n = t.bytes / 256
        assert.is_true(n > 400 and math.abs(t.samples - n) < 5 * math.sqrt(n), t.samples)
        sum = sum + (t.samples - n) ^ 2 / n
      end
      return sum
    end
    local random, fixed = errors{}, errors{fixed = true}
    assert.is_true(random > 10 and random < 90, random)
    assert.is_true(fixed < 40 / 400, fixed)
  end)

  it("out may name the process", function()
    local base = os.tmpname()
    assert(profiler.enable{out = base .. ".%p.%p"})
    local file = profiler.stats().file
    profiler.disable()
    os.remove(base)
    local first, second = file:match("^" .. base:gsub("%p", "%%%0") .. "%.(%d+)%.(%d+)$")
    assert.equal(first, second)
    assert.equal(core.getpid(), math.tointeger(tonumber(first)))
    assert.truthy(samples.read(file).log.ended)
  end)
end)

describe("the states of the module", function()
  after_each(function() profiler.disable() end)

  it("are those of a model, over random calls", function()
    for seed = 1, 6 do
      math.randomseed(seed)
      local path, other = os.tmpname(), os.tmpname()
      local m, story = {}, {}
      local periods = {64, 100, 4096, 1 << 20, 1 << 62}
      local function check(name, expected, ...)
        story[#story + 1] = name
        local got = table.pack(pcall(...))
        local text = got[1] and tostring(got[2]) or "error"
        if text ~= tostring(expected) then
          error(("seed %d: %s gives %s (%s), not %s, after %s"):format(seed, name, text,
                tostring(got[2]), tostring(expected), table.concat(story, ", ")))
        end
      end
      for _ = 1, 300 do
        local what, p = math.random(1, 12), periods[math.random(1, #periods)]
        if what == 1 then
          local alloc = math.random(1, 3) > 1 and p or 0
          check("enable " .. alloc, m.open and "error" or true, profiler.enable,
                {out = path, alloc = alloc, fixed = true})
          if not m.open then m.open, m.on, m.period = true, alloc > 0, alloc > 0 and alloc or 512 * 1024 end
        elseif what == 2 then
          check("disable", m.open or false, profiler.disable)
          m.open, m.on, m.timing, m.period = false, false, false, nil
        elseif what == 3 then
          check("alloc_start " .. p, m.on and "error" or true, profiler.alloc_start, p,
                not m.open and {out = other, fixed = true} or nil)
          if not m.on then m.open, m.on, m.period = true, true, p end
        elseif what == 4 then
          check("alloc_start with options", m.open and "error" or true, profiler.alloc_start, p,
                {out = path, fixed = true})
          if not m.open then m.open, m.on, m.period = true, true, p end
        elseif what == 5 then
          check("alloc_stop", m.on or false, profiler.alloc_stop)
          m.on = false
        elseif what == 6 then
          check("period " .. p, m.open and p or "error", profiler.period, p)
          if m.open then m.period = p end
        elseif what == 7 then
          check("period", m.period, profiler.period)
        elseif what == 8 then
          check("bad", "error", profiler.alloc_start, 1)
        elseif what == 9 then
          check("time_start 100", m.timing and "error" or true, profiler.time_start, 100,
                not m.open and {out = other, fixed = true} or nil)
          if not m.open then m.open, m.period = true, 512 * 1024 end
          m.timing = true
        elseif what == 10 then
          check("time_stop", m.timing or false, profiler.time_stop)
          m.timing = false
        elseif what == 11 then
          check("enable time", m.open and "error" or true, profiler.enable,
                {out = path, time = 1000, fixed = true})
          if not m.open then m.open, m.on, m.timing, m.period = true, true, true, 512 * 1024 end
        else
          local before = profiler.stats()
          for _ = 1, 20 do natives.userdata(1000) end
          local t = profiler.stats()
          check("stats", m.on or false, function() return t.on end)
          check("stats.timing", m.timing or false, function() return t.timing end)
          check("stats.period", m.period or t.period, function() return t.period end)
          check("stats.bytes", m.on or false, function() return t.bytes - before.bytes >= 20 * 1032 end)
          check("stats.samples", m.on and m.period == 64 or false,
                function() return t.samples - before.samples >= 20 * 16 end)
        end
      end
      profiler.disable()
      os.remove(path)
      os.remove(other)
    end
  end)

  it("stats has these fields and no others", function()
    local path = os.tmpname()
    assert(profiler.alloc_start(64, {out = path, fixed = true}))
    natives.userdata(64)
    collectgarbage()
    local keys, t = {}, profiler.stats()
    for k, v in pairs(t) do keys[#keys + 1] = k .. " " .. (math.type(v) or type(v)) end
    table.sort(keys)
    assert.same({"bytes integer", "file string", "lost integer", "major integer", "minor integer",
                 "natives integer", "on boolean", "period integer", "samples integer", "time float",
                 "timesamples integer", "timing boolean", "unfollowed integer"}, keys)
    assert.equal(path, t.file)
    assert.is_true(t.time > 0 and t.samples > 0 and t.major > 0)
    profiler.disable()
    assert.equal(path, profiler.stats().file)
  end)

  it("a session may be opened before anything is sampled", function()
    local path = os.tmpname()
    assert(profiler.enable{alloc = 0, out = path, fixed = true})
    for _ = 1, 100 do natives.userdata(1000) end
    assert.equal(0, profiler.stats().samples)
    assert(profiler.alloc_start(64))
    for _ = 1, 100 do natives.userdata(1000) end
    assert.is_true(profiler.alloc_stop())
    local n = profiler.stats().samples
    for _ = 1, 100 do natives.userdata(1000) end
    assert.equal(n, profiler.stats().samples)
    assert(profiler.alloc_start(128))
    assert(profiler.disable())
    local list = samples.read(path)
    assert.is_true(list.points >= n and n >= 100 * 16)
    assert.same({64, 128}, list.periods)
  end)

  it("outlive package.loaded, which test runners and servers empty", function()
    -- A former bug: after the module was loaded a second time, it did not know the session of the first,
    -- and reported that a host had started it (asamp.h).
    local path, kept = os.tmpname(), {}
    assert(profiler.alloc_start(64, {out = path, fixed = true}))
    for name in pairs(package.loaded) do
      if name:find "^profiler" then kept[name], package.loaded[name] = package.loaded[name], nil end
    end
    local again = require "profiler"
    for name, module in pairs(kept) do package.loaded[name] = module end
    assert.equal("the profiler is enabled already; call profiler.disable() first", raised(again.enable))
    assert.is_true(again.alloc_stop())
    assert.is_true(again.alloc_start(128))
    assert.is_true(again.disable())
    assert.is_false(profiler.stats().on)
    os.remove(path)
  end)

  it("belong to one Lua state: another one has its own", function()
    local path = os.tmpname()
    assert(profiler.alloc_start(64, {out = path}))
    local s = peers.new{}
    local ok, on, file = s:run "local p = require 'profiler' return p.stats().on, p.stats().file"
    s:close()
    profiler.disable()
    assert.is_true(ok)
    assert.is_false(on)
    assert.is_nil(file)
  end)
end)
