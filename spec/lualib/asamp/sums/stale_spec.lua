-- SPDX-License-Identifier: MIT
-- If a signal or exit() has ended a program, its profile has no search for holders at its end, only those
-- of earlier heap walks. The report and the verdict must consider that.

local births = require "asamp.sums.births"
local commands = require "spec.support.commands"
local leaks = require "asamp.sums.leaks"
local process = require "spec.support.process"
local profiles = require "spec.support.profiles"
local reader = require "profiler.reader"
local report = require "asamp.commands.report"
local totals = require "asamp.sums.totals"
local verdict = require "asamp.sums.verdict"

-- Profiles a program that keeps all its tables and then runs the code 'ending'. Returns the path of
-- its profile, and the profile.
local function profiled(ending)
  local path = os.tmpname()
  process.run{process.file("local list = {} for i = 1, 60000 do list[i] = {i} end " .. ending),
              load = "profiler",
              env = {LUA_PROFILER = ("out=%s,overwrite=1,quiet,alloc=2K,seed=1"):format(path)}}
  return path, reader.read(path, {bins = 16})
end

describe("the last walk of a program", function()
  -- A former bug: when SIGTERM had ended a server, only objects that an early heap walk had reached counted
  -- as alive at the end. So nothing that was allocated after that walk seemed to be kept.
  it("is stale if the program went on and was ended by exit() in C", function()
    local path, profile = profiled "require 'signals'.leave(0, 0)"
    assert.is_true(profile.complete)
    assert.is_true(births.stale(profile) < profile.course.ended)
    assert.equal(births.stale(profile), verdict.of(profile, totals.of(profile), leaks.of(profile)).searched)
    -- if births.of returns nothing, asamp.sums.leaks judges lines and not containers
    assert.is_nil(births.of(profile))
    local out = select(2, commands.of(report)("--show", "holders", path))
    assert.matches("Held by\n  found at %d+[%d.]* m?s, in the last search for holders\n", out)
  end)

  it("is of the end if the program has ended by itself", function()
    local path, profile = profiled ""
    assert.is_nil(births.stale(profile))
    assert.is_table(births.of(profile))
    assert.equal("end", verdict.of(profile, totals.of(profile), leaks.of(profile)).searched)
    local out = select(2, commands.of(report)("--show", "holders", path))
    assert.is_nil(out:find("the last search", 1, true))
  end)
end)

describe("the verdict", function()
  it("compares the growth with the mean period, which a limit of samples increases", function()
    local path, profile = profiled ""
    assert.equal(2048, verdict.of(profile, totals.of(profile), leaks.of(profile)).period)
    profile.bytes = profile.samples * 8192
    assert.equal(8192, verdict.of(profile, totals.of(profile), leaks.of(profile)).period)
    os.remove(path)
  end)

  -- A former bug: the verdict printed the estimate of a line, which may exceed the exact total of all
  -- lines.
  it("gives a line its share of the exact total", function()
    local path, profile = profiled ""
    os.remove(path)
    profile.allocated = profile.bytes // 2
    local line = verdict.of(profile, totals.of(profile), leaks.of(profile)).lines[1]
    assert.equal(line.share * profile.allocated, line.about)
    assert.is_true(line.about <= profile.allocated and line.bytes > profile.allocated)
  end)

  -- A former bug: time samples in collections were added up for each pair of a line and a C function, and
  -- the verdict named the line of the largest pair. Another line may have more such samples in sum.
  it("names the line with most time in collections, whichever functions it called", function()
    local stacks = {{"main@1 f@22 [C]concat <minor>", profiles.TIME, 2},
                    {"main@1 f@22 <minor>", profiles.TIME, 2},
                    {"main@1 f@11 <minor>", profiles.TIME, 3}, {"main@1", profiles.TIME, 1}}
    local profile = profiles.of(stacks, {undecided = 0})
    local time = verdict.of(profile, totals.of(profile)).time
    assert.same({"gc", 22, 1 / 2}, {time.sort, time.at.line, time.at.share})
    profile = profiles.of({{"main@1 f@22 [C]take [C]walk", profiles.TIME, 9}}, {undecided = 0})
    profile.functions[3].file = "/lib/asamp/profiler/core.so"
    time = verdict.of(profile, totals.of(profile)).time
    assert.same({"c", "[C]take", true}, {time.sort, time.at.calls, time.at.own})
  end)

  -- A former bug: if at least 30% of the time was in C functions, the verdict named the slowest call of one,
  -- although a line of Lua code took longer. With less than 30%, it never named a call.
  it("names the line of Lua code or the call of a C function that takes most time", function()
    local function timeof(...)
      local stacks = {...}
      for i, stack in ipairs(stacks) do
        stacks[i] = {stack[1], profiles.TIME, stack[2]}
      end
      local profile = profiles.of(stacks, {undecided = 0})
      local time = verdict.of(profile, totals.of(profile)).time
      return {time.sort, time.at and time.at.line, time.at and time.at.calls}
    end
    assert.same({"lua", 3}, timeof({"main@1 f@3", 6}, {"main@1 f@4 [C]find", 4}, {"main@1 f@5 [C]sub", 4}))
    assert.same({"c", 4, "[C]find"}, timeof({"main@1 f@4 [C]find", 4}, {"main@1 f@3", 3}, {"main@1 f@5", 3},
                                            {"main@1 f@6", 3}, {"main@1 f@7", 3}))
    -- no line has enough samples
    assert.same({"c"}, timeof({"main@1 f@4 [C]find", 2}, {"main@1 f@5 [C]find", 2}, {"main@1 f@6 [C]find", 2},
                              {"main@1 f@3", 2}))
    assert.same({"lua"}, timeof({"main@1 f@4 [C]find", 2}, {"main@1 f@5", 2}, {"main@1 f@6", 2},
                                {"main@1 f@3", 2}))
  end)

  -- A former bug: the sentence about time named a line that had one of 14 time samples.
  it("names no line or C function that has fewer than three time samples", function()
    local stacks = {{"main@1 f@22 [C]concat <minor>", profiles.TIME, 2},
                    {"main@1 f@23 <minor>", profiles.TIME, 2}, {"main@1", profiles.TIME, 4}}
    local profile = profiles.of(stacks, {undecided = 0})
    local time = verdict.of(profile, totals.of(profile)).time
    assert.same({"gc", 1 / 2}, {time.sort, time.gc, time.at})
    stacks[1][3] = 3
    profile = profiles.of(stacks, {undecided = 0})
    assert.equal(22, verdict.of(profile, totals.of(profile)).time.at.line)
  end)

  -- A former bug: two of ten time samples were enough to say that 20% of the time is spent in collections.
  it("does not report a share of collections that may be chance", function()
    local function sort(collections, others, pauses)
      local profile = profiles.of({{"main@1 f@22 <minor>", profiles.TIME, collections},
                                   {"main@1", profiles.TIME, others}}, {undecided = 0})
      profile.course, profile.duration = {pauses = {total = pauses or 0}}, 1
      return verdict.of(profile, totals.of(profile)).time.sort
    end
    assert.equal("lua", sort(2, 8))
    assert.equal("gc", sort(2, 8, 0.4e6))  -- us of pauses in a run of one second
    assert.equal("lua", sort(4, 15))
    assert.equal("gc", sort(4, 6))
    assert.equal("gc", sort(20, 80))
    assert.equal("gc", sort(2000, 8000))
  end)

  -- A former bug: the verdict had no warning if samples were lost for lack of memory.
  it("says that samples were lost", function()
    local path, profile = profiled ""
    assert.is_nil(verdict.of(profile, totals.of(profile), leaks.of(profile)).lost)
    profile.allocated = 2 * profile.bytes
    assert.equal(profile.bytes, verdict.of(profile, totals.of(profile), leaks.of(profile)).lost)
    os.remove(path)
  end)
end)
