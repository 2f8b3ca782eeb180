-- SPDX-License-Identifier: MIT
-- The reader's option 'at', which selects the objects alive at a given time. Its results are compared with
-- a model that has the time when each sample was allocated and the time when a collection found it dead.

local commands = require "spec.support.commands"
local gen = require "profilegen"
local reader = require "profiler.reader"

local PERIOD = 1024

-- Writes a profile of random samples, outcomes and deaths. Returns the list of its samples, each {fn,
-- bytes, born, dead (nil: alive)}, and the list of the times of its collections. All times are in us since
-- the start.
local function random(path, format, seed)
  math.randomseed(seed)
  local p = assert(gen.open{path = path, format = format, period = PERIOD, followed = 1000})
  local start = gen.now()
  local samples, open, followed, ends, now = {}, {}, {}, {}, 0
  for f = 1, 5 do p:name(8 * f, "f" .. f, f, "@x.lua") end
  for _ = 1, 40 do
    for _ = 1, math.random(0, 12) do
      now = now + 10 * math.random(0, 30)
      local fn, count = math.random(5), math.random(8) == 1 and math.random(6) or 1
      p:sample{8 * fn, 7, kind = 0, size = 64, count = count, time = start + (now + 3) * 1000}
      open[#open + 1] = {fn = "f" .. fn, bytes = PERIOD * count, born = now + 3}
      samples[#samples + 1] = open[#open]
    end
    now = now + 10 * math.random(30)
    local fates, deaths, alive = {}, {}, 0
    for i, s in ipairs(open) do
      local survives = math.random(3) > 1
      fates[i] = survives and "1" or "0"
      if survives then followed[#followed + 1] = s else s.dead = now end
    end
    open = {}
    local left, major = {}, math.random(3) == 1
    for _, s in ipairs(followed) do
      if major and math.random(4) == 1 then
        s.dead = now
        deaths[#deaths + 1], deaths[#deaths + 2] = alive, 1
        alive = 0
      else
        alive = alive + 1
        left[#left + 1] = s
      end
    end
    followed = left
    p:collection{fates = table.concat(fates), deaths = deaths, major = major,
                 time = start + now * 1000, inuse = math.random(1 << 20)}
    ends[#ends + 1] = now
  end
  assert(p:close())
  return samples, ends
end

-- Returns the bytes that the model has alive at time 'at', by function, and their sum.
local function model(samples, at)
  local sums, whole = {}, 0
  for _, s in ipairs(samples) do
    if s.born <= at and not (s.dead and s.dead <= at) then
      sums[s.fn] = (sums[s.fn] or 0) + s.bytes
      whole = whole + s.bytes
    end
  end
  return sums, whole
end

local function measured(path, at)
  local p = assert(reader.read(path, {at = at}))
  local sums, whole = {}, 0
  for i, node in ipairs(p.sites.node) do
    local name = p.functions[p.nodes.fn[node]].name
    if p.sites.bytes[i] > 0 then
      sums[name] = (sums[name] or 0) + p.sites.bytes[i]
      whole = whole + p.sites.bytes[i]
    end
    assert.is_true(p.sites.samples[i] >= p.sites.survived[i] + p.sites.undecided[i])
    assert.is_true(p.sites.survived[i] >= p.sites.later[i])
  end
  return sums, whole
end

describe("the bytes alive at an instant", function()
  local path
  before_each(function() path = os.tmpname() end)

  for _, format in ipairs{6, 7} do
    it("is that of a model, at any time, in version " .. format, function()
      for seed = 1, 10 do
        local samples, ends = random(path, format, seed)
        -- the reader's times count from the start of the file, which is earlier than the start of the model
        local first = assert(reader.read(path)).collections
        local shift = first[1].time - ends[1]
        for i, time in ipairs(ends) do
          assert.equal(time + shift, first[i].time)
        end
        for _ = 1, 20 do
          -- In version 7 of the file format, times are exact to a microsecond. Allocations are at multiples
          -- of 10 us, so 'at' is never the time of an allocation.
          local at = ends[math.random(#ends)] + (math.random(2) == 1 and 0 or 10 * math.random(0, 40) + 7)
          local sums, whole = model(samples, at)
          assert.same({sums, whole}, {measured(path, at + shift)}, ("seed %d, at %d"):format(seed, at))
        end
        assert.same({model(samples, math.maxinteger)}, {measured(path, 1 << 40)})
      end
    end)
  end

  it("has no time samples, no slices, and the same names as ever", function()
    local p = assert(gen.open{path = path, period = PERIOD, followed = 10, timeperiod = 1000000})
    p:name(8, "f", 1, "@x.lua")
    p:time{8, 1, count = 5}
    p:sample{8, 2}
    p:collection{fates = "1"}
    assert(p:close())
    local all = assert(reader.read(path, {at = 1 << 40, bins = 8}))
    assert.same({1, 1, 5}, {#all.sites.node, all.sites.samples[1], all.timesamples})
    assert.equal(0, #all.bins.node)
  end)

  it("are those of asamp report --at, and the peak has the highest in use", function()
    local run = commands.of((require "asamp.commands.report"))
    local p = assert(gen.open{path = path, period = 1 << 20, followed = 10})
    local start = gen.now()
    p:name(8, "kept", 1, "@x.lua")
    p:name(16, "made", 9, "@x.lua")
    p:flood(3, {8, 2, time = start + 1000})
    p:collection{fates = "110", inuse = 5 << 20, time = start + 1000000000}
    p:collection{deaths = {0, 2}, major = true, inuse = 1 << 20, time = start + 2000000000}
    p:sample{16, 9, time = start + 3000000000}
    p:collection{fates = "1", inuse = 2 << 20, time = start + 4000000000}
    assert(p:close())
    local code, out = run("--at", "peak", path)
    assert.equal(0, code)
    assert.matches("objects alive at 1.* s, when a collection left most bytes in use %(5 MiB%)", out)
    assert.truthy(out:find("2 MiB alive, estimated from 2 samples.", 1, true), out)
    assert.truthy(out:find("kept", 1, true))
    assert.is_nil(out:find("made", 1, true))
    code, out = run("--at=4s", path)
    assert.equal(0, code)
    assert.truthy(out:find("1 MiB alive, estimated from 1 sample.", 1, true), out)
    assert.is_nil(out:find("kept", 1, true))
    code, out = run("--at", "4", "--json", path)
    assert.equal(0, code)
    assert.truthy(out:find('"at": {%s*"seconds": 4'), out:match '"at".-}')
    assert.same({1, "", ("asamp report: '%s': no sample was alive at 2.5 s\n"):format(path)},
                {run("--at", "2.5s", path)})
    -- Files that end with the collection at which memory use was highest, as those of programs that grew
    -- until they were killed. A former bug: for one in four of these files, --at peak reported that this
    -- time is after the end. The reason was a rounding error: in floating point, 1.000001 s times 1000000
    -- is less than 1000001.
    for i = 1, 20 do
      local last = os.tmpname()
      p = assert(gen.open{path = last, period = 1 << 20, followed = 10})
      start = gen.now()
      p:name(8, "kept", 1, "@x.lua")
      p:sample{8, 2, time = start}
      p:collection{fates = "1", inuse = 2 << 20, time = start + 1000000000 + i * 1000}
      assert(p:close())
      code, out = run("--at", "peak", last)
      os.remove(last)
      assert.equal(0, code)
      assert.truthy(out:find("1 MiB alive", 1, true), out)
    end
    -- A program that stops the collector at its start, and has 17 MB in use at its end. A former bug: the
    -- message reported that no sample was alive at the peak, without the note that the peak is measured
    -- after collections.
    local stopped = os.tmpname()
    p = assert(gen.open{path = stopped, period = 1 << 20, followed = 10})
    p:name(8, "kept", 1, "@x.lua")
    p:sample{8, 2, time = start}
    p:collection{fates = "0", inuse = 24 << 10, time = start + 1000000000}
    p:flood(17, {8, 2, time = start + 2000000000})
    -- the only other collection is at the end of the session; it finds all 17 samples alive
    p:collection{fates = ("1"):rep(17), inuse = 1000, time = start + 3000000000}
    assert(p:close())
    local err
    code, out, err = run("--at", "peak", stopped)
    assert.same({1, ""}, {code, out})
    assert.matches("no sample was alive at [%d.]+ s, when a collection left most bytes in use " ..
      "%(24 KiB%); " ..
      "peaks between collections are not recorded: %-%-at SECONDS shows another time", err)
    code, out = run("--at", "2", stopped)
    os.remove(stopped)
    assert.equal(0, code)
    assert.truthy(out:find("17 MiB alive", 1, true), out)
    -- A former bug: these times in seconds, converted to integer microseconds, wrapped around to 0 and 2^64
    -- - 1000000, and the message reported that no sample was alive at 0 s.
    for _, late in ipairs{"4611686018427387904", "9223372036854775807"} do
      code, _, err = run("--at", late, path)
      assert.equal(1, code, late)
      assert.truthy(err:find("is after the end of the profile, ", 1, true), err)
    end
    for _, wrong in ipairs{"soon", "-1", "1h", ".", ""} do
      code = run("--at", wrong, path)
      assert.equal(2, code, wrong)
    end
    os.remove(path)
    p = assert(gen.open{path = path, period = 1 << 20})
    p:name(8, "kept", 1, "@x.lua")
    p:sample{8, 2}
    assert(p:close())
    assert.same({1, "", ("asamp report: '%s': the profile does not record when objects died; "
                         .. "--at needs a profile by Asamp, of a run with collections\n"):format(path)},
                {run("--at", "peak", path)})
  end)
end)
