-- SPDX-License-Identifier: MIT
-- Data of garbage collections in a profile: pauses, tenured bytes, and the phase of the major collection.

local core = require "profiler.core"
local process = require "spec.support.process"
local reader = require "profiler.reader"
local samples = require "spec.support.samples"

-- Allocates garbage and a heap that grows to 'live' tables, so that major collections run. Returns the
-- heap.
local function work(n, live)
  local kept = {}
  for i = 1, n do
    kept[i % (live or 20000) + 1] = {i, {i}}
    local _ = {i, i, x = {}}
  end
  return kept
end

describe("a collection in a profile", function()
  it("has its part of the pause: no two overlap, and together they are no more than all pauses", function()
    local before, after
    local list = samples.of(function()
      before = collectgarbage "statistics"
      work(200000)
      collectgarbage()
      after = collectgarbage "statistics"
    end, {period = 4096})
    local ended, sum = 0, 0
    for i, c in ipairs(list.gcs) do
      -- tolerance of 2 us, because recorded times are whole microseconds
      assert.is_true(c.time - c.duration >= ended - 2, ("%d: %d < %d"):format(i, c.time - c.duration, ended))
      ended, sum = c.time, sum + c.duration
    end
    assert.is_true(sum > 0)
    assert.is_true(#list.gcs > 50)
    -- 'after' was read before the last collection, which decides the last survival outcomes, so that this
    -- collection is excluded
    local last = list.gcs[#list.gcs].duration
    assert.is_true(sum - last <= (after.pauses - before.pauses) * 1e6 + 1000 + #list.gcs)
  end)

  it("has the CPU time of the program since the one before it: with their own, it is all", function()
    local took
    local list = samples.of(function()
      local start = os.clock()
      work(200000)
      took = os.clock() - start
    end, {period = 4096})
    local own, mutator = 0, 0
    for _, c in ipairs(list.gcs) do
      own, mutator = own + c.processor, mutator + c.mutator
      assert.is_true(c.mutator >= 0)
    end
    -- collections may take most of the time, if they return memory of an earlier spec to the system
    assert.is_true(mutator > 0.5 * (1e6 * took - own), mutator)
    -- 'took' excludes the CPU time of the session's start and end, and includes that of other threads
    assert.is_true((own + mutator) / 1e6 > 0.6 * took and (own + mutator) / 1e6 < 1.2 * took + 0.05,
                   ("%d %d %f"):format(own, mutator, took))
  end)

  -- A former bug: the profile recorded the CPU time after the last collection only if the survival of a
  -- sample was still unknown at the end.
  it("has it for the time up to the end if there was a collection before", function()
    local function last(f)
      local list = samples.of(f, {period = 1 << 30})
      return list.gcs[#list.gcs]
    end
    assert.is_false(last(collectgarbage).major)
    assert.is_nil(last(function() end))
  end)

  -- The recorded CPU time of the program after the last recorded collection must exclude the pauses of
  -- collections that are not recorded. A former bug: it included them, so that a program that collects
  -- often seemed to work at its end without allocating.
  it("has it without the pauses of collections that are left out", function()
    local all, paused = 0, 0  -- CPU time in s, which does not depend on the load of the machine
    local list = samples.of(function()
      local start = os.clock()
      local kept = work(100000)
      local worked = os.clock() - start
      -- repeats for a given time, because the number of collections per second differs by a factor of 6
      repeat
        local called = os.clock()
        collectgarbage()
        paused = paused + os.clock() - called
      until paused > worked
      all = os.clock() - start
      kept[1] = nil
    end, {period = 1 << 26})
    local mutator, left, own = 0, 0, 0
    for _, c in ipairs(list.gcs) do
      mutator, left, own = mutator + c.mutator, left + c.left, own + c.duration
    end
    local note = ("%d us, %d and %d in pauses; %g s, %g in pauses"):format(mutator, left, own, all, paused)
    assert.is_true(left > 0 and left + own > 0.9e6 * paused, note)
    assert.is_true(mutator < (all - 0.5 * paused) * 1e6, note)
  end)

  -- A former bug: the recorded CPU time included measurements of resident memory, which follow a
  -- collection. A measurement near the end of a run looked like work without allocation, so that a leak was
  -- not reported.
  it("has it without the snapshots of resident memory #plain", function()
    local path = os.tmpname()
    local status, _, err = process.run{code = [[
      package.cpath = "build/spec/?.so;" .. package.cpath
      require "cmemory".map(30000)  -- a snapshot reads a line for each mapping, for 10 ms and more
      local profiler = require "profiler"
      assert(profiler.alloc_start(32768, {out = ..., overwrite = true}))
      local list
      local start = os.clock()
      repeat  -- reads the clock rarely: that takes as long as ten of these allocations in some machines
        for _ = 1, 1000 do list = {list} end
      until os.clock() - start > 0.2
      assert(profiler.disable())
    ]], path}
    assert.same({0, ""}, {status, err})
    local profile = assert(reader.read(path))
    os.remove(path)
    local longest = 0
    for _, c in ipairs(profile.collections) do longest = math.max(longest, (c.mutator or 0) / c.n) end
    assert.is_true(longest < 20000, longest)  -- in us; 34,000 with the bug
  end)

  it("counts those that are left out, minor and major, and so all there are", function()
    local before
    local list = samples.of(function()
      before = core.stats()
      -- this collection decides the survival of no sample, so that the profile may have no record of it
      collectgarbage "step"
      for _ = 1, 500 do collectgarbage "step" end
      work(100000)
      for _ = 1, 5 do collectgarbage() end
    end, {period = 1 << 20})
    local after, minors, majors = core.stats(), 0, 0
    for _, c in ipairs(list.gcs) do
      minors = minors + c.minors + (c.major and 0 or 1)
      majors = majors + c.majors + (c.major and 1 or 0)
    end
    assert.equal(after.minor - before.minor, minors)
    assert.equal(after.major - before.major, majors)
    assert.is_true(majors >= 5, majors)
    assert.is_true(#list.gcs < minors)
  end)

  -- A former bug: the sums of pauses excluded collections that have no record of their own. Reports stated
  -- 80 of 440 ms.
  it("has the pauses of those that are left out in the sums, also of a merged profile", function()
    local path = os.tmpname()
    local status, out, err = process.run{load = "profiler", code = [[
      local t = {}
      for i = 1, 3000000 do t[i % 100] = {i} end
      print(collectgarbage "statistics".pauses)]],
      env = {LUA_PROFILER = "alloc=64M,overwrite=1,quiet,out=" .. path, LUA_GC = "nursery=32K"}}
    assert.equal(0, status, err)
    local r = assert(reader.read(path))
    assert.is_true(r.course.n < r.minors / 4, r.course.n)
    local pauses = tonumber(out) * 1e6
    -- tolerance: the final collection runs after 'pauses' was read, and its pause may include time of other
    -- processes
    local last = r.collections[#r.collections].duration
    local function isnear(us)
      assert.is_true(math.abs(us - pauses) < 0.1 * pauses + last, us .. ", not " .. pauses)
    end
    isnear(r.course.pauses.total)
    local sum, processor, left = 0, 0, 0
    for _, c in ipairs(r.collections) do
      sum, processor, left = sum + c.duration, processor + c.processor, left + c.left
      -- The time of unrecorded pauses is CPU time. The recorded pause is elapsed time, which may include
      -- other processes.
      local longest = math.max(c.minorpause or 0, c.majorpause or 0)
      assert.is_true(c.processor >= c.duration - c.n * longest, c.processor)
    end
    assert.same({r.course.pauses.total, r.minors + r.majors}, {sum, r.course.n + left})
    assert.equal(r.course.processor, processor)
    -- merges the profile with itself; the same file must count only once
    assert.equal(0, (process.run{program = "build/bin/asamp", "merge", "-o", path .. ".both", path, path}))
    isnear(assert(reader.read(path .. ".both")).course.pauses.total)
    os.remove(path)
    os.remove(path .. ".both")
  end)

  it("reports planned and actual nursery bytes, and CPU time", function()
    local before, after
    local set = collectgarbage("nursery", 100000)
    local list = samples.of(function()
      before = collectgarbage("statistics").allocated
      for _ = 1, 3000 do
        local t = {}
        -- reallocates the table's array eight times
        for i = 1, 100 do t[i] = {i} end
        assert(#t == 100)
      end
      collectgarbage "step"
      after = collectgarbage("statistics").allocated
    end, {period = 4096})
    collectgarbage("nursery", set)
    local charged, duration, processor, minors = 0, 0, 0, {}
    for i, c in ipairs(list.gcs) do
      charged = charged + c.charged
      duration, processor = duration + c.duration, processor + c.processor
      assert.is_true(c.charged >= c.planned and c.charged - c.planned <= 8192 * (c.minors + 1),
                     i .. " " .. c.charged - c.planned)
      if not c.major then minors[#minors + 1] = c end
    end
    -- the last two minor collections, by collectgarbage "step" and at the session's end, started before the
    -- nursery was full
    for i = 2, #minors - 2 do
      assert.equal(100000 * (minors[i].minors + 1), minors[i].planned)
    end
    assert.is_true(charged > 1.05 * (after - before) and charged < 2 * (after - before), charged)
    -- tolerance: each time is recorded in whole microseconds, and the CPU clock is read a little before and
    -- after the other clock
    assert.is_true(processor > 0 and processor <= duration + 2 * #list.gcs, processor .. " " .. duration)
  end)

  it("reports the entries visited in addition to the live objects", function()
    local big, objects, junk = {}, {}, nil
    for i = 1, 100000 do big[i] = false end
    collectgarbage()
    local set = collectgarbage("nursery", 1 << 20)
    local function deep(n)
      if n == 0 then
        collectgarbage "step"
        return 0
      end
      return 1 + deep(n - 1)
    end
    local list = samples.of(function()
      for i = 1, 700 do big[100 * i] = {} end
      for i = 1, 300 do objects[i] = setmetatable({}, {__gc = function() end}) end
      local weak = setmetatable({}, {__mode = "k"})
      for i = 1, 500 do weak[objects[i % 300 + 1]] = {i} end
      for i = 1, 100 do weak[{i}] = i end
      assert(deep(2000) == 2000)
      for i = 1, 300 do junk = {i} end
      assert(junk and next(weak) and big[700])
    end, {period = 1024})
    collectgarbage("nursery", set)
    local most = {remembered = 0, stacks = 0, weak = 0, listed = 0}
    for _, c in ipairs(list.gcs) do
      for name, n in pairs(most) do most[name] = math.max(n, c[name]) end
    end
    assert.is_true(most.remembered >= 700 and most.remembered < 2000, most.remembered)
    assert.is_true(most.stacks >= 2 * 2000 and most.stacks < 20 * 2000, most.stacks)
    assert.is_true(most.weak >= 400 and most.weak < 4000, most.weak)
    assert.is_true(most.listed >= 64 and most.listed < 10000, most.listed)
  end)

  -- A former bug: a major collection runs in slices, which are parts of many minor collections. `asamp
  -- advise` counted only the last slice before the end of marking. It reported that 6 of 106 ms were major
  -- collection, instead of 93.
  it("reports which part of a minor pause is a slice of a major collection", function()
    local list = samples.of(function() work(300000, 100000) end, {period = 4096})
    local before, with, without, sum = 0, 0, 0, 0
    for i, c in ipairs(list.gcs) do
      assert.is_true(c.slices <= c.processor + c.left + 2, i .. ": " .. c.slices)
      if not c.major and c.minors + c.majors == 0 then
        if c.state == 0 and before == 0 then assert.equal(0, c.slices) end
        -- a major collection was marking before this minor collection, and is still marking after it
        if c.state == 1 and before == 1 then
          if c.slices > 0 then with = with + 1 else without = without + 1 end
        end
      end
      before, sum = c.state, sum + c.slices
    end
    assert.is_true(with > 5 and without <= with / 10, with .. " with, without " .. without)
    assert.is_true(sum > 0)
  end)

  it("reports the bytes tenured since the previous one: all of them, once", function()
    local before, after, kept = nil, nil, {}
    collectgarbage()
    local list = samples.of(function()
      before = collectgarbage("statistics").tenured
      for i = 1, 2000 do kept[i] = {i} end
      collectgarbage "step"
      collectgarbage()
      for i = 1, 2000 do kept[-i] = {i} end
      core.off()
      after = collectgarbage("statistics").tenured
    end, {period = 1024})
    local tenured = 0
    for _, c in ipairs(list.gcs) do tenured = tenured + c.tenured end
    assert.equal(after - before, tenured)
    assert.equal(4000, #kept + 2000)
    assert.is_true(tenured >= 4000 * 56, tenured)
  end)

  it("reports the bytes in use, reserved and resident after it", function()
    local function resident()
      local pages = io.open("/proc/self/statm"):read("a"):match("^%d+ (%d+)")
      return tonumber(pages) * 4096
    end
    local found, kept = {}, {}
    local list = samples.of(function()
      for round = 1, 4 do
        for i = 1, 40000 do kept[#kept + 1] = {i, round} end
        -- a large array, which comes from lua_Alloc and not from blocks of the heap
        local large = {}
        for i = 1, round << 18 do large[i] = i end
        kept[-round] = large
        -- waits 20 ms, because resident bytes may be reported up to 10 ms late
        local clock = os.clock() + 0.02
        while os.clock() < clock do end
        collectgarbage()
        local now = collectgarbage "statistics"
        found[round] = {inuse = now.inuse, held = now.held, rss = resident()}
      end
    end, {period = 4096})
    -- Finds the record of each full collection: the last one with the same bytes in use. An earlier
    -- collection may have run when the array had received its last vector. It has the same bytes in use,
    -- but the resident bytes from before the array was filled.
    local full = {}
    for _, c in ipairs(list.gcs) do
      for round, f in ipairs(found) do
        if c.major and math.abs(c.inuse - f.inuse) < 100000 then full[round] = c end
      end
    end
    for round, f in ipairs(found) do
      local c = assert(full[round], round)
      assert.is_true(math.abs(c.held - f.held) < 1 << 20, ("held %d, not %d"):format(c.held, f.held))
      -- ASan gives memory back at irregular times, so that its margin is larger
      local margin = os.getenv "ASAMP_VARIANT" == "asan" and f.rss // 4 or 4 << 20
      assert.is_true(math.abs(c.rss - f.rss) < margin, ("resident %d, not %d"):format(c.rss, f.rss))
      assert.is_true(c.inuse < c.held)
    end
  end)

  it("reports the phase of the major collection, which passes through all phases", function()
    local list = samples.of(function()
      collectgarbage()
      work(400000, 80000)
      collectgarbage()
    end, {period = 4096})
    local seen, state = {}, 0
    for _, c in ipairs(list.gcs) do
      seen[state .. c.state .. (c.major and " major" or "")] = true
      state = c.state
    end
    assert.is_true(seen["01"], "one began")
    assert.is_true(seen["11"], "one took several slices")
    assert.is_true(seen["12 major"] or seen["10 major"], "one decided")
    -- marking (phase 1) ends only in the record of the major collection itself, so that minor collections
    -- never have these changes of phase
    assert.is_nil(seen["12"])
    assert.is_nil(seen["02"])
    assert.is_nil(seen["10"])
    assert.equal(0, state)
  end)

  it("is recorded once in the file if it decides outcomes, also when sampling stops", function()
    local list = samples.of(function()
      for _ = 1, 5 do
        work(100)
        core.off()
        core.on(64, false)
      end
    end)
    local decided = 0
    for _, s in ipairs(list) do
      assert.not_nil(s.survived)
      if s.collection > decided then decided = s.collection end
    end
    assert.equal(#list.gcs, decided)
    assert.equal(0, list.undecided)
  end)
end)
