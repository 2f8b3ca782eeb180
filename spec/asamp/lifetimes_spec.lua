-- SPDX-License-Identifier: MIT
-- The recorded deaths of objects that had survived a collection. They must be correct whatever sampling,
-- the collector and the program do.

local core = require "profiler.core"
local fewer = require "spec.support.fewer"
local gen = require "profilegen"
local natives = require "natives"
local process = require "spec.support.process"
local profiler = require "profiler"
local reader = require "profiler.reader"
local samples = require "spec.support.samples"
local vmprof = require "spec.support.vmprof"

local path

-- Returns a userdata whose block has 'size' bytes.
local function userdata(size) return natives.userdata(size - 32) end

-- Returns, for each sampled block size of one kind of object, the outcomes of its samples in order: "young"
-- (died at its first collection), "later" (died later), "alive" or "undecided".
local function fates(list, kind)
  local found = {}
  for _, s in ipairs(list) do
    local at = s.kind == kind and s.size or 0
    found[at] = found[at] or {}
    table.insert(found[at], s.survived == nil and "undecided" or not s.survived and "young"
                                or s.death and "later" or "alive")
    assert(not s.death or s.survived and s.death >= s.collection, "dead before it survived")
  end
  return found
end

-- Checks that the profile reader and the specs' own decoder of the file agree.
local function check(list, file)
  local profile = assert(reader.read(file))
  local later, survived = 0, 0
  for _, s in ipairs(list) do
    survived = survived + (s.survived and s.count or 0)
    later = later + (s.death and s.count or 0)
  end
  assert.equal(survived, profile.survived)
  assert.equal(later, profile.later)
  return profile
end

describe("later deaths", function()
  before_each(function() path = os.tmpname() end)
  after_each(function()
    if core.stats().open then core.close() end
    os.remove(path)
  end)

  for format = 6, 7 do
    describe("in a file of version " .. format, function()
      local function written(fill)
        local p = assert(gen.open{path = path, format = format, followed = 77})
        p:name(8, "f", 1, "@x")
        fill(p)
        assert(p:close())
        local log = vmprof.read(path)
        return samples.of_log(log), log.metas["asamp.1"], log
      end

      it("come after the outcomes, as runs of followed samples", function()
        local list, details, log = written(function(p)
          for line = 1, 6 do p:sample{8, line} end
          p:class(1, "Point")
          p:collection{fates = "110111", classes = {1, 1, 0, 0, 0, 0}}
          p:sample{8, 7}
          p:collection{fates = "1", major = true, deaths = {1, 2, 2, 1}}
          p:collection{major = true, deaths = {0, 1}}
        end)
        assert.equal("77", log.metas["asamp.followed"])
        assert.truthy(details:find("\nf 0 2 1 3\nl 2 1 4 0\ng[^\n]*\nf 0 1\nd 1 2 2 1\n" ..
                                   "G[^\n]*\nd 0 1\nG[ \n]"))
        local deaths = {}
        for i, s in ipairs(list) do deaths[i] = s.death or 0 end
        assert.same({3, 2, 0, 2, 0, 0, 2}, deaths)
        assert.equal(4, check(list, path).later)
      end)

      it("leave out samples that are not followed", function()
        local list, details = written(function(p)
          for line = 1, 8 do p:sample{8, line} end
          p:collection{fates = "12021211"}
          p:collection{major = true, deaths = {1, 1}}
          p:collection{major = true, deaths = {1, 2}}
        end)
        assert.truthy(details:find "\nf 0 2 1 5\nu 1 2 1 1\ng[ \n]")
        local deaths = {}
        for i, s in ipairs(list) do deaths[i] = s.unfollowed and "-" or s.death or 0 end
        -- of the eight samples, only numbers 1, 5, 7 and 8 are followed
        assert.same({0, "-", 0, "-", 2, "-", 3, 3}, deaths)
        local profile = check(list, path)
        assert.equal(3, profile.unfollowed)
        assert.equal(77, profile.followed)
      end)

      it("in many pieces are one walk over the list", function()
        -- more samples than fit into one event record or one batch
        local n = fewer(200000, 70000)
        local runs = {}
        for i = 1, n, 2 do runs[i], runs[i + 1] = 1, 1 end
        local list = written(function(p)
          p:flood(n, {8, 1})
          p:collection{fates = ("1"):rep(n)}
          p:collection{major = true, deaths = runs}
          p:collection{major = true, deaths = {n // 2 - 2, 2}}
        end)
        for i, s in ipairs(list) do
          local expected = i % 2 == 0 and 2 or i > n - 4 and 3 or nil
          if s.death ~= expected then error("sample " .. i .. ": " .. tostring(s.death)) end
        end
        check(list, path)
      end)
    end)
  end

  it("of a file without deaths are none, and none is expected", function()
    local p = assert(gen.open{path = path})
    p:sample{8, 1}
    p:collection{fates = "1"}
    assert(p:close())
    local profile = assert(reader.read(path))
    assert.equal(0, profile.followed)
    assert.equal(0, profile.unfollowed)
    assert.equal(0, profile.later)
  end)

  it("come with the major collection that has found them", function()
    local kept = {}
    local list = samples.of(function()
      collectgarbage "stop"
      for i = 1, 30 do kept[i] = userdata(1024 * i) end
      collectgarbage()
      for i = 1, 30, 3 do kept[i] = nil end
      collectgarbage()
      for i = 2, 30, 3 do kept[i] = nil end
      collectgarbage()
      collectgarbage "restart"
    end)
    local found = {}
    for _, s in ipairs(list) do
      if s.kind == "userdata" then
        assert.is_true(s.survived)
        assert.equal(({2, 3})[s.size // 1024 % 3], s.death)
        found[s.size // 1024] = true
      end
    end
    assert.equal(30, #found)
    assert.truthy(kept[3])
  end)

  it("come from major collections in slices, too", function()
    local kept = {}
    local list = samples.of(function()
      for i = 1, 2000 do kept[i] = userdata(4096) end
      collectgarbage "step"
      local mode = collectgarbage "incremental"
      for i = 1, 1000 do kept[i] = nil end
      local majors = core.stats().major
      for _ = 1, 1000000 do
        if core.stats().major >= majors + 2 then break end
        collectgarbage("step", 1)
      end
      collectgarbage(mode)
    end, {period = 1024})
    local later, alive = 0, 0
    for _, s in ipairs(list) do
      if s.kind == "userdata" and s.size == 4096 then
        later, alive = later + (s.death and 1 or 0), alive + (s.death and 0 or 1)
        assert.is_true(s.survived)
      end
    end
    assert.same({1000, 1000}, {later, alive})
    assert.truthy(kept[1001])
  end)

  it("of hash parts come with the table, or with the resize that frees them", function()
    local t
    local list = samples.of(function()
      collectgarbage "stop"
      t = {}
      for i = 1, 1024 do t[-i] = i end
      -- this collection finds the hash part of 24 KiB alive
      collectgarbage()
      -- the new keys need a larger hash part; Lua frees the one of 24 KiB
      for i = 1025, 4096 do t[-i] = i end
      collectgarbage()
      collectgarbage "restart"
    end)
    assert.equal(4096, t[-4096])
    local found = fates(list, "table hash part")
    assert.same({"later"}, found[24 * 1024])
    assert.same({"alive"}, found[24 * 4096])
  end)

  -- When a block grows, a new sample represents only the added bytes. A former bug: when an array grew in
  -- place, its earlier samples were reported as dead. For a table of a million slots, this was half of its
  -- bytes.
  it("are not those of an array that grows, wherever it lies then", function()
    local alone, among = {}, {}
    local list = samples.of(function()
      collectgarbage "stop"
      for i = 1, 4096 do alone[i] = i end
      for i = 1, 100 do among[i] = {} end
      for n = 1, 256 do
        if n == 50 then collectgarbage() end
        for i = 1, 100 do among[i][n] = n end
      end
      collectgarbage()
      collectgarbage "restart"
    end, {period = 64})
    local bytes, all = 0, 16 * (4096 + 100 * 256)
    for _, s in ipairs(list) do
      if s.kind == "table array part" then
        assert.is_true(s.survived and not s.death, s.size)
        bytes = bytes + s.count * 64
      end
    end
    assert.is_true(math.abs(bytes - all) < all / 20, ("%d, not %d"):format(bytes, all))
    assert.equal(4096 + 256, #alone + #among[100])
  end)

  it("are those of the part that an array has lost when it shrinks", function()
    local t = {}
    local list = samples.of(function()
      collectgarbage "stop"
      for i = 1, 200 do
        t[i] = {}
        for k = 1, 256 do t[i][k] = k end
      end
      collectgarbage()
      for i = 1, 200 do
        for k = 65, 256 do t[i][k] = nil end
        t[i].x = i  -- this new key makes Lua rehash the table
      end
      collectgarbage()
      collectgarbage "restart"
    end, {period = 64})
    local all, alive = 0, 0
    for _, s in ipairs(list) do
      if s.kind == "table array part" and s.size < 8192 then
        all = all + s.count
        alive = alive + (s.survived and not s.death and s.count or 0)
      end
    end
    assert.is_true(alive > 0.2 * all and alive < 0.3 * all, ("%d of %d"):format(alive, all))
    assert.equal(200, #t)
  end)

  it("of hash parts come with the resize, however many others were watched and are not any more", function()
    local t
    local list = samples.of(function()
      collectgarbage "stop"
      t = {}
      for i = 1, 1024 do t[-i] = i end
      for _ = 1, 5 do
        -- the vectors of these tables are sampled, and the tables die at once
        for i = 1, 2000 do
          local short = {}
          short[i], short.i = i, i
          assert(short.i == i)
        end
        collectgarbage "step"
        collectgarbage()
      end
      for i = 1025, 4096 do t[-i] = i end
      collectgarbage()
      collectgarbage "restart"
    end)
    assert.equal(4096, t[-4096])
    assert.same({"later"}, fates(list, "table hash part")[24 * 1024])
  end)

  -- A block that grows has a sample for each growth. A former bug: watched blocks were counted by their
  -- samples. So most bits of the set of watched blocks seemed to belong to freed blocks, and each minor
  -- collection built the set again from all followed samples.
  it("cost a minor collection no more for blocks that have grown often #plain", function()
    local function microseconds(grow)
      local keep, x = {}, nil
      assert(profiler.enable{out = path, overwrite = true, quiet = true, alloc = 0})
      profiler.alloc_start(256)
      for i = 1, 400 do
        keep[i] = {}
        for k = 1, grow and 1024 or 1 do keep[i][k] = k end
      end
      for i = 1, 20000 do keep[-i] = {i} end
      collectgarbage()
      profiler.alloc_stop()
      profiler.alloc_start(16384)
      collectgarbage("nursery", 16384)
      local before = profiler.stats()
      for i = 1, 200000 do x = {i} end
      local after = profiler.stats()
      profiler.alloc_stop()
      profiler.disable()
      collectgarbage("nursery", 0)
      assert.equal(200000 + 400, x[1] + #keep)
      return (after.time - before.time) / (after.minor - before.minor) * 1e6
    end
    local grown, single = math.huge, math.huge
    for _ = 1, 5 do
      grown = math.min(grown, microseconds(true))
      single = math.min(single, microseconds(false))
    end
    assert.is_true(grown < 1.7 * single, ("%.2f us, not %.2f"):format(grown, single))
  end)

  it("of blocks freed explicitly since the last major collection are reported at the end", function()
    local t = {}
    local list = samples.of(function()
      for i = 1, 1024 do t[-i] = i end
      collectgarbage()
      -- the new keys need a larger hash part; Lua frees the old one
      for i = 1025, 4096 do t[-i] = i end
    end, {period = 4096})
    assert.same({"later"}, fates(list, "table hash part")[24 * 1024])
    assert.equal(4096, t[-4096])
  end)

  it("are reported for objects sampled before sampling stopped", function()
    assert(core.open{out = path, period = 64, seed = 1})
    core.on(64, false)
    local kept = {userdata(5000), userdata(6000), userdata(7000)}
    core.off()
    kept[1] = nil
    collectgarbage()
    collectgarbage()
    core.on(128, true)
    kept[4] = userdata(9000)
    core.off()
    kept[2] = nil
    collectgarbage()
    assert(core.close())
    local list = samples.read(path)
    local found = fates(list, "userdata")
    for size, fate in pairs{[5008] = "later", [6000] = "later", [7008] = "alive",
                            [9008] = "alive"} do
      local sized = found[size] or found[size - 8]
      assert.same({fate}, sized, size)
    end
    check(list, path)
    assert.is_nil(kept[1])
  end)

  it("cost nothing when nothing is followed any more", function()
    assert(core.open{out = path, period = 64, seed = 1})
    core.on(64, false)
    local kept = {userdata(5000)}
    core.off()
    kept[1] = nil
    for i = 1, 5 do collectgarbage() kept[1] = i end
    assert.equal(5, kept[1])
    assert(core.close())
    for _, s in ipairs(samples.read(path)) do
      if s.kind == "userdata" then assert.truthy(s.death) end
    end
  end)

  it("are unknown beyond the limit, which is reported", function()
    local most = require "points".MOST
    local kept = {}
    assert(core.open{out = path, period = 64, seed = 1})
    for i = 1, most * 5 // 4 do kept[i] = false end
    core.on(64, false)
    for i = 1, most * 5 // 4 do kept[i] = {i} end
    core.off()
    local stats = core.stats()
    for i = 1, #kept do kept[i] = false end
    collectgarbage()
    assert(core.close())
    local profile = assert(reader.read(path))
    assert.is_true(stats.unfollowed > 0)
    assert.equal(most, profile.followed)
    assert.is_true(profile.unfollowed >= stats.unfollowed)
    -- all followed samples have died; the profile has no deaths of samples that are not followed
    assert.is_true(profile.later > 0)
    assert.is_true(profile.survived - profile.later >= profile.unfollowed)
  end)

  -- The model is the set of live objects, all of different sizes. The collector also runs automatically;
  -- the last full collection finds all deaths.
  it("are those of the model over random programs", function()
    for seed = 1, 8 do
      local random = math.random
      math.randomseed(seed)
      local held, count, on, nextsize = {}, 0, false, 1024
      local sampled, living = {}, {}
      os.remove(path)  -- removed first, because an existing profile is not replaced
      assert(core.open{out = path, period = 64, seed = seed, extended = seed % 2 == 0})
      for _ = 1, 400 do
        local what = random(100)
        if what <= 50 then
          count, nextsize = count + 1, nextsize + 16
          held[count] = userdata(nextsize)
          living[nextsize], sampled[nextsize] = count, on or nil
          if random(3) == 1 then held[count], living[nextsize] = nil, nil end
        elseif what <= 80 then
          local size = next(living)
          for _ = 1, random(5) do size = next(living, size) end
          if size then held[living[size]], living[size] = nil, nil end
        elseif what <= 86 then collectgarbage()
        elseif what <= 92 then collectgarbage("step", random(200))
        elseif what <= 95 and on then
          core.off()
          on = false
        elseif what <= 97 and on then core.period(({64, 100, 512})[random(3)])
        elseif not on then
          core.on(({64, 128, 1000})[random(3)], random(2) == 1)
          on = true
        end
      end
      collectgarbage()
      if on then core.off() end
      assert(core.close())
      local list = samples.read(path)
      local note = "seed " .. seed
      assert.equal(0, list.undecided, note)
      local n = 0
      for size, found in pairs(fates(list, "userdata")) do
        if sampled[size] and size > 1024 then
          n = n + 1
          assert.equal(1, #found, note)
          if living[size] then assert.equal("alive", found[1], note .. ", size " .. size)
          else assert.truthy(found[1] == "young" or found[1] == "later", note .. ", size " .. size) end
        end
      end
      assert.truthy(next(held))
      assert.is_true(n > 50, note .. ": " .. n)
      check(list, path)
      assert.equal(core.stats().on, false)
    end
  end)

  local function run(code)
    os.remove(path)  -- removed first, because an existing profile is not replaced
    local status, out, err = process.run{code = code, path}
    assert.same({0, ""}, {status, err})
    return samples.read(path), out
  end

  local START = [[
    local profiler, natives, peers = require "profiler", require "natives", require "peers"
    assert(profiler.alloc_start(64, {out = ..., fixed = true, seed = 1}))
    kept = {}
    for i = 1, 20 do kept[i] = natives.userdata(5000 - 32) end
    collectgarbage()
    for i = 1, 10 do kept[i] = nil end
  ]]

  local function counts(list)
    local later, alive = 0, 0
    for _, s in ipairs(list) do
      if s.kind == "userdata" and s.size >= 5000 and s.size <= 5008 then
        if s.death then later = later + 1 else alive = alive + 1 end
      end
    end
    return {later, alive}
  end

  it("are none that lua_close or exit brings", function()
    for _, ending in ipairs{"collectgarbage()", "collectgarbage() os.exit(0)",
                            "collectgarbage() os.exit(0, true)"} do
      assert.same({10, 10}, counts(run(START .. ending)), ending)
    end
    -- there was no major collection, so no death of an old object is known
    assert.same({0, 20}, counts(run(START .. "os.exit(0)")))
    assert.same({0, 20}, counts(run(START)))
  end)

  it("in the child of a fork are not the parent's", function()
    assert.same({0, 20}, counts((run(START .. [[
      local pid = peers.fork()
      if pid == 0 then
        kept = nil
        collectgarbage()
        collectgarbage()
        peers._exit(0)
      end
      assert(peers.wait(pid) == 0)
      profiler.disable()
    ]]))))
  end)

  it("are counted in profiler.stats if they are not reported", function()
    assert(profiler.alloc_start(64, {out = path}))
    assert.equal(0, profiler.stats().unfollowed)
    profiler.disable()
  end)
end)
