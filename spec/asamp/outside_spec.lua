-- SPDX-License-Identifier: MIT
--
-- External bytes of userdata, which C libraries report by luaN_outside, are sampled like allocations, with
-- the stack that reported them, the class of the userdata, survival outcome and death. Without these
-- samples, a program that keeps files open has only 16 bytes for each file in its profile.

local core = require "profiler.core"
local embedding = require "embedding"
local natives = require "natives"
local process = require "spec.support.process"
local samples = require "spec.support.samples"

local PERIOD = 4096

local function summary(list)
  local found = {}
  for _, s in ipairs(list) do
    if s.kind == "outside" then found[#found + 1] = s end
  end
  return found
end

-- Returns the number of sample points that the samples represent, and the number of those whose sample
-- died.
local function points(list)
  local all, died = 0, 0
  for _, s in ipairs(summary(list)) do
    all = all + s.count
    if s.survived == false or s.died then died = died + s.count end
  end
  return all, died
end

describe("the external bytes of a userdata", function()
  after_each(function() embedding.stop() end)

  it("are sampled where they are reported, with the class, and count as allocated", function()
    local class = {__name = "Connection"}
    local kept = {}
    assert.is_true(embedding.start(PERIOD, true))
    local function connect()
      local u = debug.setmetatable(natives.userdata(16), class)
      natives.outside(u, 10 * PERIOD)
      kept[#kept + 1] = u
    end
    local before = core.allocated()
    for _ = 1, 10 do connect() end
    local bytes = core.allocated() - before
    assert.is_true(bytes >= 100 * PERIOD and bytes < 101 * PERIOD + 20000, bytes)
    embedding.stop()
    assert.is_nil(embedding.wrong())
    local list = summary(embedding.samples())
    assert.is_true(#list == 10 and points(list) >= 99 and points(list) <= 100)
    for _, s in ipairs(list) do
      assert.equal("Connection", s.class)
      assert.equal(10 * PERIOD, s.size)
      assert.is_true(s.survived)
      assert.matches("^native connect:", s.stack)
    end
  end)

  it("dies with the userdata, or when it is taken back", function()
    local kept = {}
    assert.is_true(embedding.start(PERIOD, true))
    for i = 1, 4 do
      kept[i] = natives.userdata(16)
      natives.outside(kept[i], 10 * PERIOD)
    end
    -- the external bytes are removed before the collection that decides the sample's survival
    natives.outside(kept[1], 0)
    collectgarbage()
    natives.outside(kept[2], 0)  -- after that collection
    kept[3] = false
    collectgarbage()
    embedding.stop()
    assert.is_nil(embedding.wrong())
    local list = summary(embedding.samples())
    assert.equal(4, #list)
    local function is(s, survived, died)
      assert.same({survived, died}, {s.survived, s.died})
    end
    is(list[1], false, false)
    is(list[2], true, true)
    is(list[3], true, true)
    is(list[4], true, false)
    assert.is_truthy(kept[4])
  end)

  -- A userdata whose external bytes grow in steps has several samples. A former bug: when all its external
  -- bytes were removed, only the last sample was reported dead, so that a pool of buffers looked like a
  -- leak.
  it("dies with all its samples, also of several steps, in one collection or two", function()
    local u = natives.userdata(16)
    assert.is_true(embedding.start(PERIOD, true))
    for step = 1, 20 do
      natives.outside(u, step * 3 * PERIOD)
      if step == 10 then collectgarbage() end
    end
    natives.outside(u, 0)
    collectgarbage()
    embedding.stop()
    assert.is_nil(embedding.wrong())
    local all, died = points(embedding.samples())
    assert.is_true(all >= 59 and all == died, all .. " " .. died)
  end)

  it("counts once where it goes up and down", function()
    local u = natives.userdata(16)
    assert.is_true(embedding.start(PERIOD, true))
    for _ = 1, 50 do
      natives.outside(u, 20 * PERIOD)
      natives.outside(u, PERIOD)
    end
    local before = core.allocated()
    natives.outside(u, 20 * PERIOD + 1)  -- one byte more than 20 periods
    local more = core.allocated() - before
    embedding.stop()
    local all, died = points(embedding.samples())
    assert.is_true(all >= 19 and all <= 21 and died == 0, all .. " " .. died)
    assert.is_true(more >= 64 and more < 64 + 500, more)
  end)

  it("may be as much as a size can say, and more than that together", function()
    local a, b = natives.userdata(16), natives.userdata(16)
    local before = collectgarbage("statistics").outside
    assert.is_true(embedding.start(PERIOD, true))
    natives.outside(a, -1)  -- as size_t, -1 is SIZE_MAX
    natives.outside(b, -1)
    natives.outside(b, math.maxinteger)
    local sum = collectgarbage("statistics").outside
    assert.equal((~0 >> 4), sum)
    natives.outside(a, 0)
    natives.outside(b, 64)
    assert.equal(before + 64, collectgarbage("statistics").outside)
    natives.outside(b, 0)
    embedding.stop()
    assert.is_nil(embedding.wrong())
  end)
end)

describe("open files in a profile", function()
  local SCRIPT = [[
    local profiler = require "profiler"
    local kept = {}
    local function leak() kept[#kept + 1] = io.open("/dev/null") end
    local function use() io.open("/dev/null"):close() end
    profiler.alloc_start(4096, {out = ..., format = select(2, ...), seed = 1})
    for _ = 1, 20 do leak() use() use() use() end
    collectgarbage()
    profiler.disable()
  ]]

  local function profile(format)
    local script, path = process.file(SCRIPT), os.tmpname()
    os.remove(path)
    local command = ("'%s' '%s' '%s' %s"):format(process.interpreter(), script, path, format)
    assert(os.execute(command), command)
    return path
  end

  it("show the line that opened them, and which are alive", function()
    for _, format in ipairs {"stock", "extended"} do
      local path = profile(format)
      local opened, alive = {}, {}
      for _, s in ipairs(samples.read(path)) do
        if s.kind == "outside" then
          local by
          for _, frame in ipairs(s.stack) do by = by or not frame.native and frame.name end
          opened[by] = (opened[by] or 0) + s.count
          if s.survived and not s.death then alive[by] = (alive[by] or 0) + s.count end
          assert.equal("FILE*", s.class)
          assert.equal(32768, s.size)
        end
      end
      -- each open file is represented by 8 sample points; 20 files leak and 60 are in use
      assert.is_true(math.abs(opened.leak - 160) < 60, format .. opened.leak)
      assert.is_true(math.abs(opened.use - 480) < 110, format .. opened.use)
      assert.equal(opened.leak, alive.leak)
      assert.is_nil(alive.use)
      os.remove(path)
    end
  end)

  it("are in the report, its JSON, the page, and converted files", function()
    local path = profile("stock")
    local main = process.file 'os.exit(require "asamp".main(arg), true)'
    local function asamp(...)
      local status, text, err = process.run{main, ...}
      assert.equal(0, status, err)
      return text
    end
    local report = asamp("report", path)
    assert.matches("lie outside of Lua's heap", report)
    assert.matches("outside\n[^\n]*FILE%*", report)
    assert.matches('"name": ?"outside"', asamp("report", "--json", path))
    local flame = asamp("convert", "--to", "collapsed", "--out", "-", path)
    assert.matches("leak[^\n]*;%[outside FILE%*%] %d+", flame)
  end)
end)
