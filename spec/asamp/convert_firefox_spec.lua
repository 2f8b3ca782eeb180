-- SPDX-License-Identifier: MIT
-- `asamp convert --to firefox`. The Firefox Profiler does not check the files that it loads, so this spec
-- checks them: tables, indices, order, balance of allocations, and totals, which must equal those of the
-- reader to the byte.

local cjson = require "cjson"
local asamp = require "asamp.commands.convert"
local reader = require "profiler.reader"
local runs = require "spec.support.runs"
local shell = require "spec.support.shell"
local vmprof = require "spec.support.vmprof"

-- Raises an error for each message on stderr except one. Some profiles of this spec have survivors that are
-- not followed, which the command reports.
local function unexpected(text)
  if not text:find("reached the limit of 131,072 live samples", 1, true) then error(text) end
end

local world = {
  out = function() end, err = unexpected, read = require "profiler.reader".read,
  progress = function() return function() end, function() end end,
}

local path, out

local function convert(name)
  assert.equal(0, asamp.run({"--to", "firefox", "-o", name or out, path}, world))
  local bytes, packed = vmprof.load(name or out)
  assert.equal((name or out):find "%.gz$" ~= nil, packed)
  return cjson.decode(bytes)
end

local function save(bytes) shell.write(path, bytes) end

-- Raises an error unless all columns of a table of the file exist and have the same length.
local function columns(t, names)
  for name in names:gmatch "%a+" do
    local column = assert(t[name], "no column " .. name)
    assert(#column == t.length, name .. " has another length")
  end
end

local function indices(column, n, nullable)
  for i, v in ipairs(column) do
    if v == cjson.null then
      assert(nullable, "null in a column of indices")
    else
      assert(math.type(v) == "integer" or v % 1 == 0)
      assert(v >= 0 and v < n, ("index %s of %s at %d"):format(v, n, i))
    end
  end
end

local function sorted(times)
  for i = 2, #times do
    assert(times[i] >= times[i - 1], "times decrease")
  end
end

-- Checks the form of a converted profile. These conditions hold whatever the profile contains.
local function checkshape(p)
  assert.equal(64, p.meta.preprocessedProfileVersion)
  local grey = 0
  for _, c in ipairs(p.meta.categories) do
    grey = grey + (c.color == "grey" and 1 or 0)
    assert.equal("Other", c.subcategories[1])
  end
  assert.equal(1, grey)
  assert.is_number(p.meta.interval)
  local s = p.shared
  columns(s.stackTable, "frame prefix")
  columns(s.frameTable, "address inlineDepth category subcategory func " ..
          "nativeSymbol innerWindowID line column originalLocation")
  columns(s.funcTable, "name isJS relevantForJS resource source lineNumber " ..
          "columnNumber originalLocation")
  columns(s.resourceTable, "lib name host type")
  columns(s.nativeSymbols, "libIndex address name functionSize")
  columns(s.sources, "id filename startLine startColumn sourceMapURL content")
  columns(s.sourceLocationTable, "source line column")
  indices(s.stackTable.frame, s.frameTable.length)
  indices(s.frameTable.func, s.funcTable.length)
  indices(s.frameTable.category, #p.meta.categories)
  indices(s.funcTable.name, #s.stringArray)
  indices(s.funcTable.source, s.sources.length, true)
  indices(s.sources.filename, #s.stringArray)
  local seen = {}
  for _, text in ipairs(s.stringArray) do
    assert(utf8.len(text), "string that is no UTF-8")
    assert(not seen[text], "string twice: " .. text)
    seen[text] = true
  end
  for i, prefix in ipairs(s.stackTable.prefix) do
    assert(prefix == cjson.null or prefix < i - 1, "parent after its child")
  end
  assert.equal(1, #p.threads)
  local t = p.threads[1]
  assert.is_string(t.pid)
  assert.is_number(t.tid)
  columns(t.samples, "time stack weight")
  indices(t.samples.stack, s.stackTable.length, true)
  sorted(t.samples.time)
  columns(t.markers, "data name startTime endTime phase category")
  indices(t.markers.name, #s.stringArray)
  local schemas = {}
  for _, schema in ipairs(p.meta.markerSchema) do
    schemas[schema.name] = {}
    for _, field in ipairs(schema.fields) do
      schemas[schema.name][field.key] = true
    end
  end
  for i, data in ipairs(t.markers.data) do
    local fields = assert(schemas[data.type], "marker without a schema")
    for key in pairs(data) do
      assert(key == "type" or fields[key], "field without a schema: " .. key)
    end
    local interval = t.markers.phase[i] == 1
    assert.equal(not interval, t.markers.endTime[i] == cjson.null)
    assert(not interval or t.markers.startTime[i] <= t.markers.endTime[i])
  end
  for _, counter in ipairs(p.counters) do
    columns(counter.samples, "time count")
    sorted(counter.samples.time)
    assert.is_string(counter.display.label)
    assert.equal("bytes", counter.display.unit)
    assert.equal(t.pid, counter.pid)
    assert.equal(0, counter.samples.count[1])
  end
  local a = t.nativeAllocations
  if a then
    columns(a, "time stack weight memoryAddress threadId")
    indices(a.stack, s.stackTable.length)
    sorted(a.time)
  end
end

local function categoryof(p, stack)
  local s = p.shared
  local frame = s.stackTable.frame[stack + 1]
  return p.meta.categories[s.frameTable.category[frame + 1] + 1].name
end

-- Computes the bytes allocated, freed and retained in a converted profile, by the rules of the viewer.
-- Raises an error if they do not balance.
local function balance(p)
  local a = p.threads[1].nativeAllocations
  local sum = {allocated = 0, freed = 0, rows = 0, categories = {}, freedas = {}}
  local live = {}
  for i = 1, a and a.length or 0 do
    local bytes, address = a.weight[i], a.memoryAddress[i]
    local category = categoryof(p, a.stack[i])
    if bytes > 0 then
      assert(not live[address], "address in use")
      live[address] = {bytes, a.stack[i]}
      sum.allocated = sum.allocated + bytes
      sum.categories[category] = (sum.categories[category] or 0) + bytes
      sum.rows = sum.rows + 1
    else
      assert.same({-bytes, a.stack[i]}, live[address])
      assert.truthy(category == "Died young" or category == "Survived")
      sum.freedas[category] = (sum.freedas[category] or 0) - bytes
      live[address] = nil
      sum.freed = sum.freed - bytes
    end
  end
  return sum
end

local function total(list)
  local sum = 0
  for _, n in ipairs(list) do
    sum = sum + n
  end
  return sum
end

describe("asamp convert --to firefox", function()
  before_each(function()
    path = os.tmpname()
    out = path .. ".json.gz"
  end)

  it("writes whole tables and the reader's totals, to the byte", function()
    for seed = 1, 24 do
      runs.write(path, {
        seed = seed, format = 6 + seed % 2, plain = seed % 3 == 0,
        time = seed % 4 ~= 0, allocations = seed % 7 ~= 0,
        undecided = seed % 5 == 0, classes = seed % 6 ~= 0,
        actions = seed == 1 and 0 or seed * 50,
      })
      local profile = assert(reader.read(path))
      local p = convert()
      checkshape(p)
      local sum = balance(p)
      assert.equal(profile.bytes, sum.allocated)
      local c = sum.categories
      assert.equal(profile.survivedbytes, c.Survived or 0)
      assert.equal(profile.undecidedbytes, c.Undecided or 0)
      assert.equal(c["Died young"], sum.freedas["Died young"])
      assert.equal(profile.laterbytes, sum.freedas.Survived or 0)
      assert.equal(profile.bytes - profile.survivedbytes +
                   profile.laterbytes - profile.undecidedbytes, sum.freed)
      local t = p.threads[1]
      if profile.timesamples > 0 then
        assert.equal("tracing-ms", t.samples.weightType)
      else
        assert.equal("bytes", t.samples.weightType)
        assert.equal(profile.bytes, total(t.samples.weight))
      end
      assert.equal(#profile.collections + #profile.marks, t.markers.length)
      local last = profile.collections[#profile.collections]
      for i, key in ipairs{"inuse", "held", "rss"} do
        if p.counters[i] then
          assert.equal(last[key], total(p.counters[i].samples.count))
          assert.equal(#profile.collections + 1, p.counters[i].samples.length)
        end
      end
    end
  end)

  it("weighs a time sample by the period of its moment", function()
    local p = assert(require "profilegen".open{path = path,
                                               timeperiod = 1000000})
    p:time{8, 1}
    p:time{8, 1, count = 3}
    p:timeperiod(250000)
    p:time{8, 1, count = 2}
    p:close()
    assert.same({1, 3, 0.5}, convert().threads[1].samples.weight)
  end)

  -- Each time sample needs the CPU time since the previous one. Without it the viewer treats a sample of
  -- ten periods as one period of a thread that otherwise sleeps, and shows a busy thread at a tenth of its
  -- load.
  it("has the CPU time since the previous sample, by the CPU clock", function()
    local gen = require "profilegen"
    for _, wall in ipairs{false, true} do
      local p = assert(gen.open{path = path, timeperiod = 1000000, wall = wall})
      p:name(8, "f", 1, "@x.lua")
      for _, count in ipairs{1, 10, 3} do p:time{8, 1, count = count} end
      p:close()
      local f = convert()
      local samples = f.threads[1].samples
      assert.same({1, 10, 3}, samples.weight)
      assert.same(not wall and {1e6, 10e6, 3e6} or nil, samples.threadCPUDelta)
      assert.equal("ns", f.meta.sampleUnits.threadCPUDelta)
    end
  end)

  it("has a thread with samples where the profile has none: it opens", function()
    local gen = require "profilegen"
    local p = assert(gen.open{path = path, period = 100})
    p:close()
    local f = convert()
    checkshape(f)
    local samples = f.threads[1].samples
    assert.equal(2, samples.length)
    assert.same({cjson.null, cjson.null}, samples.stack)
    assert.same({0, 0}, samples.weight)
    assert.equal(0, samples.time[1])
    assert.is_nil(f.threads[1].nativeAllocations)
  end)

  -- The viewer cannot read source files on a user's disk, so their text is in the converted profile. It has
  -- only the files that the user requests, so that no other source is published.
  it("has the text of source files that the user requests, and of no others", function()
    local folder = path .. ".d"
    assert(os.execute("mkdir -p " .. folder .. "/.git"))
    for name, text in pairs{["a.lua"] = "return function() end -- \"x\"\n", [".git/b.lua"] = "secret"} do
      shell.write(folder .. "/" .. name, text)
    end
    local p = assert(require "profilegen".open{path = path, period = 100, resolve = "plain"})
    for i, file in ipairs{"a.lua", ".git/b.lua", "/proc/self/status", "missing.lua", path} do
      p:name(8 * i, "f", i, "@" .. file)
      p:sample{8 * i, 1, 0x7f0001, 0}
    end
    p:close()
    local function texts(...)
      assert.equal(0, asamp.run({"--to", "firefox", "-o", out, path, ...}, world))
      local f = cjson.decode((vmprof.load(out)))
      checkshape(f)
      local found = {}
      for i, text in ipairs(f.shared.sources.content) do
        if text ~= cjson.null then
          found[f.shared.stringArray[f.shared.sources.filename[i] + 1]] = text
        end
      end
      return found
    end
    assert.same({}, texts())
    assert.same({["a.lua"] = "return function() end -- \"x\"\n"}, texts("--source", "/nowhere:" .. folder))
  end)

  it("has an object die when its collection ended", function()
    local gen = require "profilegen"
    local p = assert(gen.open{path = path, period = 100})
    local t = gen.now() + 1000000000
    p:sample{8, 1, time = t}
    p:mark("between", "", t + 1000000)
    p:sample{8, 1, time = t + 2000000}
    p:collection{fates = "01", time = t + 9000000, duration = 500000}
    p:sample{8, 1, time = t + 10000000}
    p:collection{fates = "0", time = t + 30000000}
    p:close()
    local a = convert().threads[1].nativeAllocations
    assert.same({100, 100, -100, 100, -100}, a.weight)
    local since = {}
    for i, time in ipairs(a.time) do
      since[i] = math.floor(time - a.time[1] + 0.5)
    end
    assert.same({0, 2, 9, 10, 30}, since)
  end)

  it("lets survivors die when a later collection has found them dead", function()
    local gen = require "profilegen"
    local p = assert(gen.open{path = path, period = 100, followed = 9})
    local t = gen.now() + 1000000000
    for line = 1, 4 do p:sample{8, line, time = t} end
    p:collection{fates = "1112", time = t + 5000000}
    p:sample{8, 5, time = t + 6000000}
    p:collection{fates = "1", deaths = {1, 1}, major = true, time = t + 20000000}
    p:collection{deaths = {0, 1, 1, 1}, major = true, time = t + 30000000}
    p:close()
    local a = convert().threads[1].nativeAllocations
    assert.same({100, 100, 100, 100, 100, -100, -100, -100}, a.weight)
    -- In the profile's runs of alive and dead samples, sample 2 dies first, and then 1 and 5; 3 stays alive
    -- and 4 is not followed.
    for i, birth in ipairs{2, 1, 5} do
      assert.equal(a.stack[birth], a.stack[5 + i])
      assert.equal(a.memoryAddress[birth], a.memoryAddress[5 + i])
    end
    local since = {}
    for i, time in ipairs(a.time) do
      since[i] = math.floor(time - a.time[1] + 0.5)
    end
    assert.same({0, 0, 0, 0, 6, 20, 30, 30}, since)
  end)

  it("gives the track of allocations one row for equal stacks in a " ..
     "millisecond", function()
    local gen = require "profilegen"
    local p = assert(gen.open{path = path, period = 100})
    local t = gen.now() + 1000000000
    for _, us in ipairs{0, 300, 900, 1200, 5000} do
      p:sample{8, 1, time = t + 1000 * us}
    end
    p:sample{8, 2, time = t + 5001000}
    p:collection{fates = "111111", time = t + 9000000}
    p:close()
    assert.same({300, 100, 100, 100}, convert().threads[1].samples.weight)
  end)

  it("names all phases of a major collection, also one that only other writers store", function()
    local gen = require "profilegen"
    local p = assert(gen.open{path = path})
    local t = gen.now() + 1000000000
    p:sample{8, 1}
    for state = 0, 3 do
      p:collection{fates = state == 0 and "1" or nil, time = t + state * 1000000, state = state}
    end
    p:close()
    local states = {}
    for i, data in ipairs(convert().threads[1].markers.data) do states[i] = data.state end
    assert.same({"none", "marking", "sweeping", "finalizing"}, states)
  end)

  it("shows each collection and its results as an interval", function()
    local gen = require "profilegen"
    local p = assert(gen.open{path = path})
    local t = gen.now() + 1000000000
    p:sample{8, 1}
    p:sample{8, 1}
    p:collection{fates = "10", time = t, duration = 2000000, inuse = 100,
                 held = 200, rss = 300 * 1024, tenured = 56, state = 1}
    p:collection{time = t + 5000000, major = true, duration = 0, inuse = 90,
                 held = 200, rss = 301 * 1024, state = 2}
    p:mark("level", "12.5", t + 6000000)
    p:mark("say", "<b>", t + 6000000)
    p:close()
    local f = convert()
    local m = f.threads[1].markers
    assert.same({type = "Minor GC", inuse = 100, held = 200, rss = 300 * 1024,
                 tenured = 56, decided = 2, survived = 1, survival = 0.5,
                 left = 0, state = "marking"}, m.data[1])
    assert.is_true(math.abs(m.endTime[1] - m.startTime[1] - 2) < 1e-6)
    assert.is_true(math.abs(m.endTime[2] - m.endTime[1] - 5) < 1e-6)
    assert.equal("Major GC", f.shared.stringArray[m.name[2] + 1])
    assert.equal("sweeping", m.data[2].state)
    assert.same({type = "Mark", value = "12.5", number = 12.5}, m.data[3])
    assert.same({type = "Mark", value = "<b>"}, m.data[4])
    assert.same({0, 100, -10}, f.counters[1].samples.count)
  end)

  it("takes the classes of objects for leaves", function()
    local gen = require "profilegen"
    local p = assert(gen.open{path = path})
    p:class(1, "Point")
    p:sample{8, 1, kind = 0}
    p:sample{8, 1, kind = 0}
    p:collection{fates = "10", classes = {1, 0}}
    p:close()
    local f = convert()
    local names = {}
    for _, name in ipairs(f.shared.stringArray) do
      names[name] = true
    end
    assert.is_true(names["[table Point]"] and names["[table]"])
  end)

  it("counts the values of other programs' files in their unit", function()
    local stack = vmprof.stack(9, 10.5, {100}, {0})
    save(vmprof.head() .. vmprof.header(7, 0) ..
      vmprof.meta("start_time_offset", "10.0") .. stack .. stack .. stack ..
      -- a record of version 7 lists the newest frame first; its last words are the period and the kind
      vmprof.stack(10, 10.7, {5 << 2, 5 << 2 | 1}) ..
      vmprof.name(100, "py:main:1:a.py") .. vmprof.trailer(1001) )
    local p = convert()
    checkshape(p)
    -- the file has no period, so that the weight of each sample is a number of samples
    assert.equal(3, balance(p).allocated)
    save(vmprof.head() .. vmprof.header(7, 0) .. stack .. stack .. stack ..
      vmprof.stack(10, 10.7, {5 << 2, 5 << 2 | 1}) ..
      vmprof.meta("sample_allocated_bytes", "1000") .. vmprof.trailer(1001))
    p = convert()
    assert.same({Survived = 1000, ["Died young"] = 1000, Undecided = 1000},
                balance(p).categories)
  end)

  it("spreads samples over the time of a file without times", function()
    local stack = vmprof.stack(1, 1, {100}, {0})
    save(vmprof.head() .. vmprof.header(6, 0) .. vmprof.time(1000) ..
         stack:rep(11) .. vmprof.trailer(1005))
    local p = convert()
    checkshape(p)
    local times = p.threads[1].samples.time
    assert.equal(0, times[1])
    assert.equal(500, times[2])
    assert.equal(5000, times[11])
    assert.is_true(p.meta.profilingEndTime > 5000)
  end)

  it("is plain when the name does not end in .gz", function()
    runs.write(path, {seed = 3})
    checkshape(convert(path .. ".json"))
  end)

  it("writes no rows for samples of no bytes, as damage leaves them", function()
    runs.write(path, {seed = 4, plain = true, actions = 400})
    local bytes, n = vmprof.load(path):gsub("\np (%d+) (%d+)%f[\n]", function(at, period)
      return ("\np %s %s"):format(at, ("0"):rep(#period))
    end)
    assert.is_true(n > 0)
    save(bytes)
    local p, profile = convert(), assert(reader.read(path))
    checkshape(p)
    for _, weight in ipairs(p.threads[1].nativeAllocations.weight) do
      assert.is_true(weight ~= 0)
    end
    assert.equal(profile.bytes, balance(p).allocated)
    assert.equal(profile.laterbytes, balance(p).freedas.Survived or 0)
  end)

  it("writes whole tables whatever the damage", function()
    local seed = tonumber(os.getenv "ASAMP_SEED") or 1795276655
    math.randomseed(seed)
    world.err = function() end
    local written = 0
    for i = 1, 120 do
      runs.write(path, {seed = i % 10, format = 6 + i % 2, plain = true,
                        actions = 60})
      local bytes = vmprof.load(path)
      for _ = 1, math.random(4) do
        local at = math.random(#bytes)
        bytes = bytes:sub(1, at - 1) .. string.char(math.random(0, 255)) ..
                bytes:sub(at + math.random(0, 2))
      end
      save(bytes)
      local code = asamp.run({"--to", "firefox", "-o", out, path}, world)
      if code == 0 then
        written = written + 1
        local ok, message = pcall(function()
          local p = cjson.decode((vmprof.load(out)))
          checkshape(p)
          local profile = assert(reader.read(path))
          assert(balance(p).allocated == profile.bytes, "other totals")
        end)
        assert(ok, ("seed %d, input %d: %s"):format(seed, i, message))
      end
    end
    world.err = unexpected
    assert.is_true(written > 60)
  end)

  it("says in the file that it is not whole", function()
    runs.write(path, {seed = 4, plain = true})
    local bytes = vmprof.load(path)
    save(bytes:sub(1, -200))
    local message
    world.err = function(text) message = text end
    local p = convert()
    world.err = unexpected
    checkshape(p)
    assert.truthy(message:find "the result covers only the readable part")
    assert.truthy(p.meta.extra[1].entries[1].value:find "^no: ")
  end)
end)
