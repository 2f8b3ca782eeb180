-- SPDX-License-Identifier: MIT
-- The reader of profiles: files of Asamp compared with a model of their contents, logs of other writers
-- constructed byte by byte, and damaged files.

local gen = require "profilegen"
local reader = require "profiler.reader"
local shell = require "spec.support.shell"
local vmprof = require "spec.support.vmprof"

local path

-- The debug variant runs a quarter of the cases, and asan one of twelve. The fuzzer spec/fuzz/profiles.c,
-- which needs less time per case, also runs with these variants.
local PART = ({fork = 1, asan = 12})[os.getenv "ASAMP_VARIANT"] or 4

local function save(bytes) shell.write(path, bytes) end

local function read(bytes)
  save(bytes)
  return reader.read(path)
end

--- Returns the stack of a node of the call tree as text: "root@line ... leaf@line".
local function stackof(profile, node)
  local parts = {}
  while node ~= 0 do
    local fn = profile.functions[profile.nodes.fn[node]]
    table.insert(parts, 1, fn.name .. "@" .. profile.nodes.line[node])
    node = profile.nodes.parent[node]
  end
  return table.concat(parts, " ")
end

-- Returns the rows of a profile by the text "stack kind". Each row is {samples, bytes, survived,
-- survivedbytes, undecided}. If 'later' is true, each row also has the number and the bytes of samples that
-- died later.
local function sitesof(profile, later)
  local list, s = {}, profile.sites
  for i = 1, #s.node do
    local kind = profile.kinds[s.kind[i]]
    local key = stackof(profile, s.node[i]) .. " " .. kind.name ..
                (kind.class and "/" .. kind.class or "")
    assert(not list[key], "site twice: " .. key)
    list[key] = {s.samples[i], s.bytes[i], s.survived[i], s.survivedbytes[i],
                 s.undecided[i], later and s.later[i] or nil,
                 later and s.laterbytes[i] or nil}
  end
  return list
end

-- Checks conditions that hold for every profile that the reader returns. Raises an error if one fails.
local function checkshape(profile)
  local nodes, sites = profile.nodes, profile.sites
  for i, parent in ipairs(nodes.parent) do
    assert(parent >= 0 and parent < i, "parent not before its child")
    assert(profile.functions[nodes.fn[i]], "node without a function")
    assert(math.type(nodes.line[i]) == "integer")
  end
  local samples = 0
  for i, node in ipairs(sites.node) do
    assert(node >= 0 and node <= #nodes.parent, "site without a node")
    assert(profile.kinds[sites.kind[i]], "site without a kind")
    samples = samples + sites.samples[i]
  end
  assert(samples == profile.samples + profile.timesamples,
         "sites do not add up")
  for _, f in ipairs(profile.functions) do
    assert(type(f.name) == "string" and type(f.file) == "string")
    assert(math.type(f.line) == "integer" and f.native ~= nil)
  end
  for _, walk in ipairs(profile.walktimes) do
    assert(walk.time >= 0 and walk.time <= 1 << 52, "time of a walk out of range")
  end
  assert(profile.complete or profile.message, "cut without a word")
end

describe("the reader", function()
  before_each(function() path = os.tmpname() end)
  after_each(function() os.remove(path) end)

  describe("of our own files", function()
    -- Writes a profile of a random run of a program. Returns the results that the reader must return.
    local function run(seed, format, plain)
      local state = seed
      local function random(n)
        state = (state * 6364136223846793005 + 1442695040888963407)
        return (state >> 33) % n
      end
      local p = assert(gen.open{path = path, format = format, plain = plain,
                                timeperiod = 1000000, period = 512,
                                followed = 5000, random = seed % 2 == 0})
      local names, classes = {}, {}
      for i = 1, 5 do
        classes[i] = i == 5 and "c2" or "c" .. i  -- classes 2 and 5 have the same name
        p:class(i, classes[i])
      end
      for i = 1, 9 do
        names[8 * i] = "f" .. i
        p:name(8 * i, "f" .. i, i, "@m.lua")
      end
      local period, open, clock = 512, {}, gen.now()
      local model = {sites = {}, samples = 0, bytes = 0, survived = 0,
                     timesamples = 0, timeperiods = 1, minors = 0, majors = 0,
                     records = 0, blocks = 0, outside = 0, marks = {},
                     later = 0, unfollowed = 0, lives = {}}
      local followed, allocated = {}, 0
      local function site(key)
        model.sites[key] = model.sites[key] or {0, 0, 0, 0, 0, 0, 0}
        return model.sites[key]
      end
      -- Chooses followed samples at random and reports them as dead, in the form of the file: lengths of
      -- runs of live and dead samples in the list.
      local function deaths()
        local runs, alive, dead, stay = {}, 0, 0, {}
        local often = ({1, 2, 9, 50})[1 + random(4)]
        for _, o in ipairs(followed) do
          if random(often) == 0 then
            dead = dead + 1
            local bytes = o.count * o.period
            o.at[6], o.at[7] = o.at[6] + o.count, o.at[7] + bytes
            model.later = model.later + o.count
            local n, life = 0, allocated - o.born
            while life > 0 do n, life = n + 1, life >> 1 end
            model.lives[n] = (model.lives[n] or 0) + bytes
          else
            if dead > 0 then
              runs[#runs + 1], runs[#runs + 2] = alive, dead
              alive, dead = 0, 0
            end
            alive = alive + 1
            stay[#stay + 1] = o
          end
        end
        if dead > 0 then
          runs[#runs + 1], runs[#runs + 2] = alive, dead
        end
        followed = stay
        return #runs > 0 and runs or nil
      end
      -- Adds a sample to the row of its stack, kind and class. The reader learns the class only when a
      -- collection has decided whether the object survived.
      local function decide(o, class, survived)
        local at = site(o.key .. (class and "/" .. class or ""))
        at[1], at[2] = at[1] + o.count, at[2] + o.count * o.period
        if survived ~= nil then
          allocated = allocated + o.count * o.period
          o.at, o.born = at, allocated
        end
        if survived then
          at[3], at[4] = at[3] + o.count, at[4] + o.count * o.period
          model.survived = model.survived + o.count
        elseif survived == nil then
          at[5] = at[5] + o.count
        end
      end
      for _ = 1, 300 + random(2000) do
        local action = random(60)
        if action == 0 then
          local fates, ids = {}, random(2) == 0 and {}
          local major = random(3) == 0
          for i, o in ipairs(open) do
            local survived = random(3) == 0
            fates[i] = survived and (random(9) == 0 and "2" or "1") or "0"
            if fates[i] == "1" then
              followed[#followed + 1] = o
            elseif survived then
              model.unfollowed = model.unfollowed + o.count
            end
            if ids then
              ids[i] = random(#classes + 1)
            end
            decide(o, ids and classes[ids[i]], survived)
          end
          open = {}
          clock = clock + 1000 * random(1000000)
          model.last = {inuse = random(1 << 40), held = random(1 << 41),
                        rss = random(1 << 32) << 10, major = major,
                        duration = random(500), tenured = random(1 << 40),
                        state = random(4)}
          model[major and "majors" or "minors"] =
            model[major and "majors" or "minors"] + 1
          local minors, majors = random(5) == 0 and random(10) or 0, random(3)
          model.minors, model.majors = model.minors + minors, model.majors + majors
          model.records = model.records + 1
          p:collection{fates = table.concat(fates), major = major,
                       deaths = (major or random(5) == 0) and deaths() or nil,
                       minors = minors, majors = majors, classes = ids or nil,
                       inuse = model.last.inuse, held = model.last.held,
                       rss = model.last.rss, time = clock,
                       duration = model.last.duration * 1000,
                       tenured = model.last.tenured, state = model.last.state}
        elseif action == 1 then
          period = 64 << random(20)
          p:period(period)
        elseif action == 2 then
          model.timeperiods = model.timeperiods + 1
          p:timeperiod(1000 * random(10), random(2) == 0)
        elseif action == 3 then
          local name, value = "name " .. random(9), random(3) == 0 and ""
                              or tostring(random(1000000))
          p:mark(name, value, clock)
          table.insert(model.marks, {name = name, value = value})
        else
          local frames, key = {}, {}
          for i = 1, 1 + random(6) do
            local id, line = 8 * (1 + random(9)), random(4)
            frames[2 * i - 1], frames[2 * i] = id, line
            table.insert(key, 1, names[id] .. "@" .. line)
          end
          local count = random(10) == 0 and 1 + random(50) or 1
          frames.count = count
          if action < 20 then
            p:time(frames)
            model.timesamples = model.timesamples + count
            local at = site(table.concat(key, " ") .. " [time sample]")
            at[1] = at[1] + count
          else
            frames.kind, frames.outside = random(#gen.kinds), random(7) == 0
            model.outside = model.outside + (frames.outside and 1 or 0)
            model.blocks = model.blocks + 1
            p:sample(frames)
            model.samples = model.samples + count
            model.bytes = model.bytes + count * period
            open[#open + 1] = {
              key = table.concat(key, " ") .. " " ..
                    gen.kinds[frames.kind + 1],
              count = count, period = period,
            }
          end
        end
      end
      model.undecided = 0
      for _, o in ipairs(open) do
        model.undecided = model.undecided + o.count
        decide(o)
      end
      if seed % 3 > 0 then
        model.allocated = 1 + random(1 << 40)
        p:allocated(model.allocated)
      end
      assert(p:close())
      return model
    end

    it("returns totals in slices of time that add up", function()
      for _, most in ipairs{1, 7, 100, 16384} do
        local model = run(5, 6, false)
        local profile = assert(reader.read(path, {bins = most}))
        local bins = profile.bins
        assert.is_true(bins.n >= 1 and bins.n <= most)
        assert.is_true(bins.n * bins.width <= 2 * profile.duration * 1e6 +
                       bins.width)
        local sums, last = {}, 0
        for i, bin in ipairs(bins.bin) do
          assert.is_true(bin >= last and bin < bins.n)
          last = bin
          local kind = profile.kinds[bins.kind[i]]
          local key = stackof(profile, bins.node[i]) .. " " .. kind.name ..
                      (kind.class and "/" .. kind.class or "")
          local sum = sums[key] or {0, 0, 0, 0, 0, 0, 0}
          sums[key] = sum
          for k, column in ipairs{"samples", "bytes", "survived",
                                  "survivedbytes", "undecided", "later",
                                  "laterbytes"} do
            sum[k] = sum[k] + bins[column][i]
          end
        end
        for key, site in pairs(model.sites) do
          assert.same(site, sums[key])
        end
      end
      assert.is_nil(reader.read(path).bins)
      assert.has_error(function() reader.read(path, {bins = 16385}) end)
    end)

    it("puts a sample into the slice in which it was taken", function()
      local p = assert(gen.open{path = path})
      local t = gen.now()
      p:sample{8, 1, time = t}
      p:sample{8, 1, time = t + 600000000}
      p:collection{time = t + 900000000, fates = "11"}
      assert(p:close())
      local bins = assert(reader.read(path, {bins = 4})).bins
      assert.same({1, 1}, bins.survived)
      assert.is_true(math.abs(bins.bin[2] * bins.width - 500000) <=
                     bins.width)
    end)

    it("returns the time of a slice in periods of one length, whatever was set", function()
      -- Time samples with two periods. A former bug: a slice of time counted the number of periods
      -- regardless of their length, so that many short periods seemed to be much time.
      local p = assert(gen.open{path = path, timeperiod = 10000000})
      local t = gen.now()
      p:time{8, 1, time = t}
      p:timeperiod(1000000)
      for i = 1, 20 do p:time{8, 1, time = t + 600000000 + i} end
      assert(p:close())
      local profile = assert(reader.read(path, {bins = 4}))
      assert.same({1, 20}, profile.bins.samples)
      assert.same({1.0, 2.0}, profile.bins.time)
      assert.same({3.0}, profile.sites.time)
    end)

    it("finds every sample, fate and period again", function()
      for seed = 1, 60 // PART do
        local model = run(seed, 6 + seed % 2, seed % 3 == 0)
        local profile = assert(reader.read(path))
        local note = "seed " .. seed
        checkshape(profile)
        assert.is_true(profile.complete, note)
        assert.is_nil(profile.message, note)
        assert.same(model.sites, sitesof(profile, true), note)
        assert.equal(model.later, profile.later, note)
        assert.equal(model.unfollowed, profile.unfollowed, note)
        local lives = {}
        for i, n in ipairs(profile.lifetimes.digits) do
          lives[n] = (lives[n] or 0) + profile.lifetimes.bytes[i]
        end
        assert.same(model.lives, lives, note)
        for _, key in ipairs{"samples", "bytes", "survived", "undecided",
                             "minors", "majors", "timesamples", "timeperiods",
                             "allocated"} do
          assert.equal(model[key], profile[key], note .. ": " .. key)
        end
        assert.equal(model.records, #profile.collections, note)
        local last = profile.collections[#profile.collections]
        assert.equal(#model.marks, #profile.marks, note)
        for i, mark in ipairs(model.marks) do
          assert.equal(mark.name, profile.marks[i].name, note)
          assert.equal(mark.value, profile.marks[i].value, note)
        end
        for key, value in pairs(model.last or {}) do
          assert.equal(value, last[key], note .. ": " .. key)
        end
        local blocks, objects, outside = 0, 0, 0
        for _, kind in ipairs(profile.kinds) do
          blocks = blocks + kind.blocks
          objects = objects + kind.objects
          outside = outside + kind.outside
        end
        assert.equal(model.blocks, blocks, note)
        -- the model's program allocates only blocks of 56 bytes
        assert.is_true(math.abs(model.bytes / 56 / objects - 1) < 1e-9, note)
        assert.equal(model.outside, outside, note)
        assert.equal(seed % 2 == 0, profile.random, note)
      end
    end)

    it("says the same of both flavours, packed or plain", function()
      local first
      for _, format in ipairs{6, 7} do
        for _, plain in ipairs{true, false} do
          run(99, format, plain)
          local profile = assert(reader.read(path))
          assert.equal(format, profile.version)
          assert.equal(not plain, profile.compressed)
          local sites = sitesof(profile)
          first = first or sites
          assert.same(first, sites)
        end
      end
    end)

    it("returns times in microseconds since the start", function()
      for format = 6, 7 do
        local p = assert(gen.open{path = path, format = format})
        local t = gen.now()
        p:sample{8, 1, time = t}
        p:collection{time = t + 250000000, fates = "1", duration = 3000000}
        p:mark("half", "", t + 500000000)
        p:collection{time = t + 400000000}
        p:sample{8, 1, time = t + 750000000}
        assert(p:close())
        local bytes = vmprof.load(path)
        -- if the trailer is missing, the time of the end is that of the last sample
        local profile = assert(read(bytes:sub(1, -26)))
        assert.is_false(profile.complete)
        assert.is_true(math.abs(profile.duration - 0.75) < 0.1)
        local first, second = table.unpack(profile.collections)
        assert.is_true(math.abs(first.time - 250000) < 100000)
        assert.equal(3000, first.duration)
        assert.equal(150000, second.time - first.time)
        assert.equal(250000, profile.marks[1].time - first.time)
        assert.is_true(math.abs(profile.started - os.time()) < 3600)
      end
    end)

    it("of many call sites in one C function makes one function", function()
      local p = assert(gen.open{path = path, resolve = "hostile"})
      p:sample{0x7f0001, 0}
      p:sample{0x7f0011, 0}
      assert(p:close())
      local profile = assert(reader.read(path))
      assert.equal(1, #profile.functions)
      assert.same({name = "std;;vector<\u{FFFD}>;", line = 0, native = true,
                   file = "/lib/a;b\u{FFFD}.so"}, profile.functions[1])
      assert.equal(2, #profile.nodes.fn)
    end)

    it("calls frames without a name by their id", function()
      local p = assert(gen.open{path = path})
      p:sample{0x7f0001, 0, 8, 1}
      assert(p:close())
      local profile = assert(reader.read(path))
      assert.equal("[unknown 0x8]", profile.functions[1].name)
      assert.is_false(profile.functions[1].native)
      assert.equal("[unknown 0x7f0001]", profile.functions[2].name)
      assert.is_true(profile.functions[2].native)
    end)

    it("cut at any byte: yields the part before", function()
      for format = 6, 7 do
        local p = assert(gen.open{path = path, format = format, plain = true,
                                  command = "lua x.lua"})
        p:name(8, "f", 1, "@x.lua")
        for i = 1, 3 do
          p:sample{8, i, kind = i}
        end
        p:collection{fates = "110", inuse = 5}
        p:sample{8, 3, kind = 3, count = 2}
        assert(p:close())
        local bytes = vmprof.load(path)
        local last = 0
        for n = #bytes % PART, #bytes, PART do
          local profile, message = read(bytes:sub(1, n))
          -- the header record has 48 bytes, so that the cut is inside it
          if n < 48 then
            assert.is_nil(profile)
            assert.truthy(message:find(path, 1, true))
            assert.is_nil(message:find "\n")
          else
            checkshape(profile)
            assert.equal(n == #bytes, profile.complete)
            assert.is_true(profile.samples >= last)
            last = profile.samples
            if n < #bytes then
              assert.truthy(profile.message:find("^cannot be read after byte %d+ of the log: "))
            end
          end
        end
        assert.equal(5, last)
      end
    end)

    it("cut in its packed bytes: yields the part before", function()
      run(7, 6, false)
      local bytes = shell.read(path)
      local cuts = {}
      for n = 0, #bytes - 1, math.max(1, #bytes * PART // 200) do
        cuts[#cuts + 1] = n
      end
      -- cuts the file within the checksum at its end, and before it
      for n = #bytes - 20, #bytes - 1 do
        cuts[#cuts + 1] = n
      end
      for _, n in ipairs(cuts) do
        local profile, message = read(bytes:sub(1, n))
        if profile then
          checkshape(profile)
          assert.is_false(profile.complete)
          assert.truthy(profile.message:find "^cannot be read after byte %d+ of the log: .* inside ")
        else
          assert.truthy(message:find "^cannot read profile '.*': ")
        end
      end
    end)
  end)

  describe("of other writers' logs", function()
    local leafy = {300, 200, 100}  -- addresses of frames, innermost first

    local function names()
      return vmprof.name(100, "py:main:1:a.py") ..
             vmprof.name(200, "py:f:2:a.py") .. vmprof.name(300, "py:g:3:b.py")
    end

    it("reads every version", function()
      for version = 0, 7 do
        local lead = version == 7 and 1.5 or 1
        local rest = {}
        if version >= 1 then
          rest[1] = 77
        end
        if version == 3 then
          -- the record contains a resident set size, but the file's header states that records have none
          rest[2] = 4096
        end
        local stack = vmprof.stack(1, lead, leafy, rest)
        local profile = assert(read(
          vmprof.head() .. vmprof.header(version, 0) .. vmprof.time(1000) ..
          stack .. stack .. names() .. stack ..
          vmprof.trailer(version >= 5 and 1003)))
        checkshape(profile)
        assert.is_true(profile.complete)
        assert.equal(version, profile.version)
        assert.equal("cpython", profile.interpreter)
        assert.is_false(profile.own)
        assert.equal(3, profile.timesamples)
        assert.equal(0, profile.samples)
        assert.same({["main@0 f@0 g@0 [time sample]"] = {3, 0, 0, 0, 0}},
                    sitesof(profile))
        if version >= 5 then
          assert.equal(3.0, profile.duration)
        end
      end
    end)

    it("reads lines, memory and pairs", function()
      local lines = vmprof.stack(1, 1, {30, 300, 20, 200, 10, 100}, {7})
      local profile = assert(read(vmprof.head() .. vmprof.header(6, 2) ..
                                  lines .. names() .. vmprof.trailer(1)))
      assert.same({["main@10 f@20 g@30 [time sample]"] = {1, 0, 0, 0, 0}},
                  sitesof(profile))

      local memory = vmprof.stack(1, 1, leafy, {7, 4096})
      profile = assert(read(vmprof.head() .. vmprof.header(6, 1) .. memory ..
                            memory .. names() .. vmprof.trailer(1)))
      assert.same({["main@0 f@0 g@0 [time sample]"] = {2, 0, 0, 0, 0}},
                  sitesof(profile))

      -- kinds of frames in these pairs: 7 native, 6 assembler (no frame), 3 jitted, 1 code
      local pairs_ = vmprof.stack(1, 1, {7, 300, 6, 555, 3, 200, 1, 100}, {0})
      for _, case in ipairs{{8, "lua"}, {0, "pypy"}} do
        profile = assert(read(
          vmprof.head() .. vmprof.header(6, case[1], case[2]) .. pairs_ ..
          names() .. vmprof.trailer(1)))
        assert.same({["main@0 f@0 g@0 [time sample]"] = {1, 0, 0, 0, 0}},
                    sitesof(profile))
      end
    end)

    it("reads 32-bit logs, and those of Windows", function()
      -- Profiles of a machine with words of 4 bytes. Addresses have 4 bytes or, on Windows, 8.
      for _, address in ipairs{"<I4", "<I8"} do
        local windows = address == "<I8" and 1 or 0
        local function name(id, text)
          return "\2" .. string.pack(address, id) .. string.pack("<s4", text)
        end
        local stack = "\1" .. string.pack("<i4i4", 1, 3) ..
          string.pack("<" .. address:sub(2):rep(4), 300, 200, 100, 77)
        local profile = assert(read(
          string.pack("<i4i4i4i4i4", 0, 3, 0, 2000, windows) ..
          vmprof.header(6, 0) .. vmprof.time(1000) ..
          "\7" .. string.pack("<s4s4", "os", "win64") .. stack .. stack ..
          name(100, "py:main:1:a.py") .. name(200, "py:f:2:a.py") ..
          name(300, "py:g:3:b.py") .. vmprof.trailer(1003)))
        assert.is_nil(profile.message)
        assert.same({["main@0 f@0 g@0 [time sample]"] = {2, 0, 0, 0, 0}},
                    sitesof(profile))
        assert.equal(0.002, profile.timeperiod)
        assert.is_false(profile.timed)
      end
    end)

    it("pairs allocation samples with their objects", function()
      local function sample(t, leaf)
        return vmprof.stack(9, t, {leaf, 100}, {0})
      end
      local metas = vmprof.meta("sample_allocated_bytes", "1000") ..
                    vmprof.meta("__rtype_5", "    GcStruct pair") ..
                    vmprof.meta("__rtype_9", "array")
      local stats = vmprof.meta("gc_stats__0", "total_memory_used") ..
                    vmprof.meta("gc_stats__1", "gc_state") ..
                    vmprof.meta("gc_stats__2", "VmRSS")
      local body = sample(10.5, 200) .. sample(10.6, 300) ..
        vmprof.stack(1, 10.65, {100}, {0}) ..
        -- objects, newest first: the array, allocated at address 300, lived; the pair, allocated at 200,
        -- died
        vmprof.stack(10, 10.7, {9 << 2 | 1, 5 << 2, 111, 0, 222}) ..
        sample(10.8, 200)
      -- metadata records may precede the records that they describe, or follow them
      for _, early in ipairs{true, false} do
        local profile = assert(read(
          vmprof.head() .. vmprof.header(7, 0) .. vmprof.time(1000) ..
          vmprof.meta("start_time_offset", "10.000000") ..
          (early and metas .. stats or "") .. body .. names() ..
          (early and "" or metas .. stats) .. vmprof.trailer(1001)))
        checkshape(profile)
        assert.is_true(profile.fates)
        assert.same({
          ["main@0 f@0 GcStruct pair"] = {1, 1000, 0, 0, 0},
          ["main@0 g@0 array"] = {1, 1000, 1, 1000, 0},
          ["main@0 f@0 [unknown]"] = {1, 1000, 0, 0, 1},
          ["main@0 [time sample]"] = {1, 0, 0, 0, 0},
        }, sitesof(profile))
        assert.equal(3000, profile.bytes)
        assert.equal(1, profile.minors)
        local c = profile.collections[1]
        assert.is_true(math.abs(c.time - 700000) < 1000)
        assert.equal(2, c.decided)
        assert.equal(1, c.survived)
        assert.equal(early and 111 or 0, c.inuse)
        assert.equal(early and 222 or 0, c.rss)
        -- A former bug: the bytes of lifetimes by class were numbers of samples.
        assert.same({1000}, profile.lifeclasses.bytes)
        assert.equal(0, #profile.ages)
        local born = reader.read(path, {bins = 4}).born
        assert.same({1000, {1, 2}, {1000, 1000}}, {born.width, born.bin, born.bytes})
      end
    end)

    it("takes the largest of several names of an id", function()
      local profile = assert(read(
        vmprof.head() .. vmprof.header(6, 0) ..
        vmprof.stack(1, 1, {100}, {0}) .. vmprof.name(100, "n:c:0:y", 8) ..
        vmprof.name(100, "py:b:1:x") .. vmprof.name(100, "py:a:1:x") ..
        vmprof.trailer(1)))
      assert.equal("b", profile.functions[1].name)
    end)

    it("takes a name that is none of the convention's as it is", function()
      local profile = assert(read(
        vmprof.head() .. vmprof.header(6, 0) ..
        vmprof.stack(1, 1, {100}, {0}) .. vmprof.name(100, "whatever:1") ..
        vmprof.trailer(1)))
      assert.equal("whatever:1", profile.functions[1].name)
    end)

    it("takes unknown and repeated metas, long names, empty stacks", function()
      local profile = assert(read(
        vmprof.head() .. vmprof.header(6, 0) .. vmprof.meta("x", "1") ..
        vmprof.meta("x", "2") .. vmprof.meta(("k"):rep(1000), "v") ..
        vmprof.meta("big", ("v"):rep(5 << 20)) ..
        vmprof.stack(1, 1, {}, {0}) .. vmprof.stack(1, 1, {100}, {0}) ..
        vmprof.name(100, "py:" .. ("n"):rep(100000) .. ":1:x") ..
        vmprof.trailer(1) .. "what follows is nobody's business"))
      checkshape(profile)
      assert.is_true(profile.complete)
      assert.equal(2, profile.timesamples)
      assert.equal(4096, #profile.functions[1].name)
    end)

    it("reads the words of a stack again if a header defines their meaning", function()
      local profile = assert(read(
        -- two frames whose record precedes the header that states that frames have lines
        vmprof.head() .. vmprof.stack(1, 1, {16, 8}, {}) ..
        vmprof.header(6, 2) .. vmprof.stack(1, 1, {16, 8}, {0}) .. vmprof.trailer(1)))
      checkshape(profile)
      assert.is_true(profile.complete)
      assert.same({"[unknown 0x8]", "[unknown 0x10]", "[unknown 0x8]"}, {
        profile.functions[profile.nodes.fn[1]].name, profile.functions[profile.nodes.fn[2]].name,
        profile.functions[profile.nodes.fn[3]].name})
      assert.same({{0, 1, 0}, {0, 0, 16}}, {profile.nodes.parent, profile.nodes.line})
    end)

    it("takes nameless functions beyond 65,536 for one, those with names for others", function()
      local many, limit = 70000, 65536
      local log = {vmprof.head(), vmprof.header(6, 0)}
      for i = 1, many do
        log[#log + 1] = vmprof.stack(1, 1, {8 * i}, {0})
      end
      -- adds the stack of the first function once more
      log[#log + 1] = vmprof.stack(1, 1, {8}, {0})
      log[#log + 1] = vmprof.name(8 * many, "py:late:1:x") .. vmprof.trailer(1)
      local profile = assert(read(table.concat(log)))
      checkshape(profile)
      assert.same({what = "nameless", limit = limit, count = many - limit - 1,
                   text = "the limit of 65,536 functions without a name was reached, so 4,463 frames of " ..
                          "other such functions share the row [unknown]; profile a shorter run"},
                  profile.left[1])
      assert.is_true(profile.complete)
      assert.equal(many + 1, profile.timesamples)
      assert.equal(limit + 2, #profile.functions)
      local samples = {}
      for i, node in ipairs(profile.sites.node) do
        local name = profile.functions[profile.nodes.fn[node]].name
        samples[name] = (samples[name] or 0) + profile.sites.samples[i]
      end
      assert.same({2, 1, 1, many - limit - 1},
                  {samples["[unknown 0x8]"], samples[("[unknown 0x%x]"):format(8 * limit)],
                   samples.late, samples["[unknown]"]})
    end)
  end)

  describe("refuses", function()
    local head = vmprof.head()
    local refused = {
      ["the file is empty; make a new profile"] = "",
      ["the file is not a VMProf log (too short); this is a text file"] = "hello",
      ["the file is not a VMProf log; this is a text file"] =
        ("this is no profile at all, but long enough "):rep(3),
      ["big-endian VMProf logs cannot be read, only little-endian ones"] =
        string.pack(">i8i8i8i8i8", 0, 3, 0, 1000, 0),
      ["the file is not a VMProf log (no header); make a new profile"] = head .. vmprof.meta("os", "linux"),
      ["the compressed data of the file are corrupt; make a new profile"] = "\31\139" .. ("x"):rep(100),
      ["the file ends inside compressed data; make a new profile"] = "\31\139\8\0\0\0\0\0\0\3",
    }
    for reason, bytes in pairs(refused) do
      it(reason, function()
        local profile, message = read(bytes)
        assert.is_nil(profile)
        assert.equal("cannot read profile '" .. path .. "': " .. reason,
                     message)
      end)
    end

    it("files that cannot be opened", function()
      local _, message = reader.read("/nowhere/x")
      assert.equal("cannot read profile '/nowhere/x': " ..
                   "No such file or directory", message)
      _, message = reader.read("/")
      assert.equal("cannot read profile '/': Is a directory", message)
      assert.has_error(function() reader.read() end)
    end)
  end)

  describe("stops, with a message and the part before, at", function()
    local function good()
      return vmprof.head() .. vmprof.header(6, 2) .. vmprof.name(100, "py:f:1:x") ..
             vmprof.stack(1, 1, {5, 100}, {0})
    end
    local own = vmprof.meta("asamp.format", "3")
    local typed = vmprof.stack(1, 1, {0, 1, 5, 100}, {0})
    local damage = {
      ["a record is of unknown kind (0x63)"] = "c" .. ("x"):rep(100),
      ["a record is of unknown kind (0x04)"] = "\4\3lua",
      ["the log contains a second header"] = vmprof.header(6, 2),
      ["a stack has a count other than 1, the only valid value"] = vmprof.stack(1, 2, {5, 100}, {0}),
      ["a stack has more than 65,536 words, the limit"] =
        "\1" .. string.pack("<i8i8", 1, 65537),
      ["the file ends inside a record"] = "\1" .. string.pack("<i8i8", 1, 65536),
      ["the log ends without its last record, the trailer"] = "",
      ["the details of a sample, such as its size, are malformed"] =
        own .. vmprof.meta("asamp.1", "nonsense"),
    }
    for what, bytes in pairs(damage) do
      it(what, function()
        local before = good()
        local profile = assert(read(before .. bytes))
        checkshape(profile)
        assert.is_false(profile.complete)
        assert.equal(1, profile.timesamples)
        local at = bytes:find("asamp.1", 1, true) and #before + #own or #before
        assert.equal("cannot be read after byte " .. at .. " of the log: " .. what,
                     profile.message)
      end)
    end

    it("lengths and depths beyond all measure", function()
      for _, n in ipairs{-1, math.mininteger, math.maxinteger, 1 << 40} do
        for _, start in ipairs{"\7", "\2" .. string.pack("<i8", 8),
                               "\1" .. string.pack("<i8", 1)} do
          local profile = assert(read(good() .. start ..
                                      string.pack("<i8", n) .. "xyz"))
          checkshape(profile)
          assert.is_false(profile.complete)
          assert.equal(1, profile.timesamples)
        end
      end
    end)

    it("details that do not fit their stacks", function()
      local cases = {
        -- the batch has more samples than stacks
        "n 3\ns 1 2 3\n",
        "n 18446744073709551615\n",
        -- line c: the stack of sample 1 is written three times, but the batch has only two stacks
        "n 2\nc 1 3 3\n",
        -- line c: the stack is written twice (<copies>) for a sample of one period (<count>)
        "n 2\nc 1 1 2\n",
        "n 2\nc 1 0 0\n",
        "n 99999999999999999999999\n",
        "n\n", "", "\n", "n -1\n", "n x\n",
      }
      for _, text in ipairs(cases) do
        local profile = assert(read(good() .. own .. typed .. typed ..
                                    vmprof.meta("asamp.1", text)))
        checkshape(profile)
        assert.truthy(profile.message:find ": the details of a sample, such as its size, are malformed$")
        assert.equal(2, profile.samples)
      end
    end)
  end)

  -- A former bug: the message counted each switch to a thread beyond the limit as another thread, and
  -- reported 15,904 further threads of a program with 10,000.
  it("counts how often a state runs on an OS thread beyond 4,096", function()
    local lines = {"n 1\nN 0 0\n"}
    for _ = 1, 2 do
      for i = 1, 4100 do
        lines[#lines + 1] = ("T 0 %d\n"):format(i)
      end
    end
    local profile = assert(read(
      vmprof.head() .. vmprof.header(6, 2, "lua") .. vmprof.meta("asamp.format", "4") ..
      vmprof.meta("sample_allocated_bytes", "100") .. vmprof.stack(1, 1, {0, 1, 5, 100}, {0}) ..
      vmprof.meta("asamp.1", table.concat(lines) .. "t 10\ns 64\n") .. vmprof.trailer(1)))
    assert.equal(4096, #profile.threads)
    assert.same({what = "threads", limit = 4096, count = 8,
                 text = "the limit of 4,096 OS threads was reached, so other threads, on which Lua " ..
                   "states ran 8 times, have no row; start new files with rotate="}, profile.left[1])
  end)

  it("takes the collections of format 2 as those of format 3, fates and deaths with them", function()
    local function profile(format, one, two)
      return assert(read(
        vmprof.head() .. vmprof.header(6, 2) .. vmprof.meta("asamp.format", format) ..
        vmprof.meta("sample_allocated_bytes", "100") .. vmprof.meta("asamp.followed", "9") ..
        vmprof.stack(1, 1, {0, 1, 5, 100}, {0}) .. vmprof.stack(1, 1, {0, 3, 5, 100}, {0}) ..
        vmprof.meta("asamp.1", "n 2\nt 10 20\ns 64 32\nm 7 1 xy\nf 1 1\n" .. one) ..
        vmprof.meta("asamp.2", "n 0\nd 0 1\n" .. two .. "m 5 1 xz\n") .. vmprof.trailer(1)))
    end
    local old = profile("2", "g 493 1000 2000 4096 40 700 1 2 1\ng 100 0 0 0 0 0 0\n",
                        "G 60 -200 10 -4096 50 100 0\n")
    local new = profile("3", "g 453 40 700 300 2000 4 1 2 1\ng 100\n", "G 10 50 100 -300 10 -4\n")
    checkshape(old)
    assert.is_true(old.own and old.complete)
    assert.same({n = 3, 500, 600, 660}, {n = #old.collections, old.collections[1].time,
                old.collections[2].time, old.collections[3].time})
    local first, last = old.collections[1], old.collections[3]
    assert.same({1000, 2000, 4096, 40, 700, 1},
                {first.inuse, first.held, first.rss, first.duration, first.tenured, first.state})
    assert.same({800, 2010, 0, 50, 100, 0, true},
                {last.inuse, last.held, last.rss, last.duration, last.tenured, last.state, last.major})
    assert.same({4, 2}, {old.minors, old.majors})
    assert.equal(665, old.marks[2].time)
    assert.equal(1, #old.lifetimes.digits)
    -- the two profiles have different offsets in the file
    old.offset, new.offset = nil, nil
    assert.same(old, new)
  end)

  -- A former bug: the sums of sizes of up to 2^62 bytes overflowed and were negative.
  it("has samples of up to 2^62 bytes, all together", function()
    for format = 2, 3 do
      local function try(period, n)
        local head = vmprof.head() .. vmprof.header(6, 2) ..
                     vmprof.meta("asamp.format", tostring(format)) ..
                     vmprof.meta("sample_allocated_bytes", tostring(period))
        local stack = vmprof.stack(1, 1, {0, 1, 5, 100}, {0})
        return read(head .. stack:rep(n) .. vmprof.meta("asamp.1", ("n %d\n"):format(n)) ..
                    vmprof.trailer(1))
      end
      local profile = assert(try(1 << 61, 2))
      assert.equal(1 << 62, profile.bytes)
      local other, message = try(1 << 61, 3)
      assert.is_nil(other)
      assert.matches("the samples of the file represent more than 2^62 bytes or", message, 1, true)
    end
  end)

  -- A former bug: the time of copying, in nanoseconds, was computed from bytes that included those an
  -- earlier copy had created.
  it("has copies and samples of up to 2^62 bytes, all together", function()
    for kind = 25, 27 do
      local function try(n)
        local stacks = ""
        for i = 1, n do
          stacks = stacks .. vmprof.stack(1, 1, {0, 1 + 2 * (i == 1 and 0 or kind), 5, 100}, {0})
        end
        return read(vmprof.head() .. vmprof.header(6, 2) .. vmprof.meta("asamp.format", "3") ..
                    vmprof.meta("sample_allocated_bytes", tostring(1 << 61)) .. stacks ..
                    vmprof.meta("asamp.1", ("n %d\n"):format(n)) .. vmprof.trailer(1))
      end
      assert.equal(1, assert(try(2)).samples)
      local other, message = try(3)
      assert.is_nil(other, kind)
      assert.matches("the samples of the file represent more than 2^62 bytes or", message, 1, true)
    end
  end)

  -- A former bug: with the options 'since' and 'till', the rows of labels had the collections and pauses of
  -- the whole run.
  it("counts the collections of labels in the range of 'since' and 'till'", function()
    save(vmprof.head() .. vmprof.header(6, 2) .. vmprof.meta("asamp.format", "3") ..
      vmprof.meta("sample_allocated_bytes", "100") .. vmprof.stack(1, 1, {0, 1, 5, 100}, {0}) ..
      vmprof.meta("asamp.1", "n 1\nb 1 1\nB 1 1 ax\ng 10 5 0 0 0 0 0 0 0 1\nG 985 70 0 0 0 0 0 0 0 1\n") ..
      vmprof.trailer(1))
    for since, want in pairs{[0] = {1, 1, 75}, [1000] = {0, 1, 70}, [1071] = {0, 0, 0}} do
      local row = reader.read(path, {since = since}).labels[2]
      assert.same(want, {row.minors, row.majors, row.pause}, since)
    end
    local row = reader.read(path, {till = 1000}).labels[2]
    assert.same({1, 0, 5}, {row.minors, row.majors, row.pause})
  end)

  it("takes odd but harmless details", function()
    local typed = vmprof.stack(1, 1, {0, 1, 5, 100}, {0})
    local cases = {
      "n 0\n", "n 1\ns\n", "n 1\ns x\n", "n 1\nz 1 2\n", "n 1\nf 5\n",
      "n 1\nf 0 18446744073709551615\n", "n 1\ng\n", "n 1\ng -1 -2 -3 -4\n",
      "n 1\no 1\n", "n 1\no 7\n", "n 1\np\n", "n 1\np 0 64\n", "n 1",
      "n 1\n\n\n", "n 1\nkzzz\n", "n 1\nc 2 9 1\n", "n 1\nt 99999999999999999\n",
      "n 1\n\0\n", "n 1\nC\n", "n 1\nC 1\n", "n 1\nC 1 a\nC 1 b\nf 1\nl 1 1\n",
      "n 1\nC 99999999999 x\n", "n 1\nf 1\nl\n", "n 1\nf 1\nl 0 1 0 1 0\n",
      "n 1\nf 1\nl 18446744073709551615 7\n", "n 1\nl 1 1\n", "n 1\nm\n",
      "n 1\nm 5\n", "n 1\nm 5 99 abc\n", "n 1\nm -5 0 \n", "n 1\nq\n",
      "n 1\nq 0 0 x\n", "n 1\nq 9 5 w", "n 1\ng 5 1 1 1 99999999 5 9 7 7\n",
      "n 1\ng 9223372036854775807\ng 9223372036854775807\n",
      "n 1\ng -9223372036854775807 18446744073709551615 18446744073709551615 -1\n",
      "n 1\nw 9223372036854775807 5\n", "n 1\nw -7 5\n",
    }
    for format = 2, 3 do
      local head = vmprof.head() .. vmprof.header(6, 2) ..
                   vmprof.meta("asamp.format", tostring(format)) ..
                   vmprof.meta("sample_allocated_bytes", "100")
      for _, text in ipairs(cases) do
        local profile = assert(read(head .. typed ..
                                    vmprof.meta("asamp.1", text) ..
                                    vmprof.trailer(1)))
        checkshape(profile)
        assert.is_true(profile.complete, text)
        assert.equal(1, profile.samples, text)
      end
    end
  end)

  it("ignores details of a format that it does not know", function()
    local profile = assert(read(
      vmprof.head() .. vmprof.header(6, 2) .. vmprof.meta("asamp.format", "1") ..
      vmprof.stack(1, 1, {5, 100}, {0}) .. vmprof.meta("asamp.1", "x") ..
      vmprof.trailer(1)))
    assert.is_true(profile.complete)
    assert.is_false(profile.own)
    assert.equal(1, profile.timesamples)
  end)

  it("survives anything", function()
    local seed = tonumber(os.getenv "ASAMP_SEED") or 20261121
    math.randomseed(seed)
    local seeds = {}
    for format = 6, 7 do
      for _, plain in ipairs{true, false} do
        local p = assert(gen.open{path = path, format = format, plain = plain,
                                  resolve = "plain"})
        p:name(8, "f", 1, "@x.lua")
        for i = 1, 40 do
          p:sample{0x7f0001, 0, 8, i % 5, kind = i % 12, count = 1 + i % 3 // 2}
          if i % 15 == 0 then
            p:collection{fates = ("01"):rep(7) .. "1", inuse = i * 1000}
            p:period(64 * i)
          end
        end
        assert(p:close())
        local f = assert(io.open(path, "rb"))
        seeds[#seeds + 1] = f:read "a"
        f:close()
      end
    end
    seeds[#seeds + 1] = vmprof.head() .. vmprof.header(7, 2) ..
      vmprof.meta("gc_stats__0", "VmRSS") .. vmprof.name(100, "py:f:1:x") ..
      vmprof.stack(9, 1.5, {5, 100}, {0}) .. vmprof.stack(10, 2.5, {9, 5}) ..
      vmprof.stack(1, 1.5, {5, 100}, {0}) .. vmprof.trailer(1)
    local interesting = {"\0", "\1", "\255", "\127", "\128", "\10", "\9", "0",
                         "9", " ", "\n", "-", "\0\0\0\0\0\0\1\0",
                         ("\255"):rep(8), "asamp.1", "f", "p", "c"}
    local function mutated()
      local bytes = seeds[math.random(#seeds)]
      for _ = 1, math.random(6) do
        local at = math.random(math.max(1, #bytes))
        local what = math.random(5)
        local piece = interesting[math.random(#interesting)]
        if what == 1 then       -- replaces bytes by the piece
          bytes = bytes:sub(1, at - 1) .. piece .. bytes:sub(at + #piece)
        elseif what == 2 then   -- inserts the piece
          bytes = bytes:sub(1, at) .. piece .. bytes:sub(at + 1)
        elseif what == 3 then   -- removes some bytes
          bytes = bytes:sub(1, at - 1) .. bytes:sub(at + math.random(40))
        elseif what == 4 then   -- repeats some bytes
          local from = bytes:sub(at, at + math.random(200))
          bytes = bytes:sub(1, at - 1) .. from .. bytes:sub(at)
        else                    -- flips a bit
          local b = bytes:byte(at) or 0
          bytes = bytes:sub(1, at - 1) ..
                  string.char(b ~ 1 << math.random(0, 7)) .. bytes:sub(at + 1)
        end
      end
      return bytes
    end
    local function noise()
      local list = {}
      for i = 1, math.random(0, 300) do
        list[i] = string.char(math.random(0, 255))
      end
      return (math.random(2) == 1 and vmprof.head() .. vmprof.header(7, 2)
              or "") .. table.concat(list)
    end
    local readable = 0
    for i = 1, 4000 // PART do
      local bytes = i % 8 == 0 and noise() or mutated()
      save(bytes)
      local ok, profile, message = pcall(reader.read, path)
      local note = ("seed %d, input %d: "):format(seed, i)
      assert(ok, note .. tostring(profile))
      if profile then
        readable = readable + 1
        local fine, why = pcall(checkshape, profile)
        assert(fine, note .. tostring(why))
      else
        assert(message:find "^cannot read profile '", note .. tostring(message))
      end
    end
    assert.is_true(readable > 1000 // PART)
  end)
end)
