-- SPDX-License-Identifier: MIT
-- The sum of several profiles (asamp.sums.united): numbers are added, and rows with equal names are merged.

local gen = require "profilegen"
local lifetimes = require "asamp.sums.lifetimes"
local measures = require "asamp.sums.measures"
local reader = require "profiler.reader"
local run = require "spec.support.commands".of((require "asamp.commands.report"))
local totals = require "asamp.sums.totals"
local united = require "asamp.sums.united"

-- Writes a random profile of functions f1 to f6. The ids of the functions differ between files.
local function write(path, seed, period, timeperiod)
  math.randomseed(seed)
  local p = assert(gen.open{path = path, period = period, timeperiod = timeperiod, followed = 100,
                            command = "lua x.lua"})
  local shift = math.random(50)
  for f = 1, 6 do p:name(8 * (f + shift), "f" .. f, f, "@x.lua") end
  for c = 1, 3 do p:class(c, "C" .. (c + seed) % 4) end
  local n = 0
  for _ = 1, 200 do
    local stack = {kind = math.random(0, 3), size = 32 << math.random(5), count = math.random(3)}
    for k = 1, math.random(4) do
      stack[2 * k - 1], stack[2 * k] = 8 * (math.random(6) + shift), math.random(3)
    end
    if math.random(3) == 1 then p:time(stack) else
      p:sample(stack)
      n = n + 1
    end
    if math.random(20) == 1 then
      local fates, classes = {}, {}
      for i = 1, n do fates[i], classes[i] = math.random(2) == 1 and "1" or "0", math.random(0, 3) end
      p:collection{fates = table.concat(fates), classes = classes, inuse = 1 << 20}
      p:collection{deaths = {0, 1}, major = true}
      n = 0
    end
  end
  p:allocated(seed * 1000000)
  assert(p:close())
end

-- Returns the key of a row. For a line it is the file and the line number, because the function in the row
-- may differ.
local function keyof(row)
  return row.defined and row.file .. ":" .. row.line or ("%s %s %s"):format(row.name, row.file, row.line)
end

-- Returns the sums of rows by their keys, rounded to nine digits.
local function byname(rows, field)
  local all = {}
  for _, row in ipairs(rows) do
    local sums = {}
    for key, n in pairs(row[field]) do sums[key] = ("%.9g"):format(n) end
    all[row.key or keyof(row)] = sums
  end
  return all
end

-- Returns the sum of the rows of several profiles, as a list with one row for each key. Arguments: the
-- results of totals.of for the profiles, the name of the list of rows in each result, and the name of the
-- field of a row to add.
local function added(list, what, field)
  local rows, byrow = {}, {}
  for _, t in ipairs(list) do
    for _, row in ipairs(t[what]) do
      local key = keyof(row)
      if not byrow[key] then
        byrow[key] = {key = key, [field] = {}}
        rows[#rows + 1] = byrow[key]
      end
      local sums = byrow[key][field]
      for name, n in pairs(row[field]) do sums[name] = (sums[name] or 0) + n end
    end
  end
  return byname(rows, field)
end

describe("several profiles as one", function()
  local paths
  before_each(function() paths = {os.tmpname(), os.tmpname(), os.tmpname()} end)
  after_each(function() for _, path in ipairs(paths) do os.remove(path) end end)

  it("have the sums of each row, by name", function()
    for seed = 1, 5 do
      local profiles, each = {}, {}
      for i, path in ipairs(paths) do
        write(path, 3 * seed + i, 4096, 1000000)
        profiles[i] = assert(reader.read(path))
        each[i] = totals.of(profiles[i])
      end
      local p = united.of(profiles)
      local t = totals.of(p)
      for _, what in ipairs{"functions", "lines", "types"} do
        assert.same(added(each, what, "self"), byname(t[what], "self"))
      end
      for _, what in ipairs{"functions", "lines"} do
        assert.same(added(each, what, "total"), byname(t[what], "total"))
      end
      assert.equal(profiles[1].samples + profiles[2].samples + profiles[3].samples, p.samples)
      assert.equal((9 * seed + 6) * 1000000, p.allocated)
      local lives = 0
      for _, one in ipairs(profiles) do
        for _, row in ipairs(lifetimes.of(one)) do lives = lives + row.bytes end
      end
      for _, row in ipairs(lifetimes.of(p)) do lives = lives - row.bytes end
      assert.equal(0, lives)
      assert.is_true(#p.functions <= 8, #p.functions)
    end
  end)

  it("represent bytes and time whatever their periods are", function()
    local bytes, seconds, variance = 0, 0, 0
    local profiles = {}
    for i, path in ipairs(paths) do
      write(path, i, 1024 << i, 1000000 * i)
      profiles[i] = assert(reader.read(path))
      local t = totals.of(profiles[i])
      bytes = bytes + t.whole.bytes
      variance = variance + measures.variance(profiles[i], t.whole, "bytes")
      seconds = seconds + t.whole.timesamples * profiles[i].timeperiod
    end
    local p = united.of(profiles)
    local whole = totals.of(p).whole
    assert.equal(bytes, whole.bytes)
    assert.equal(variance, measures.variance(p, whole, "bytes"))
    assert.is_true(math.abs(whole.timesamples * p.timeperiod - seconds) < 1e-9)
  end)

  it("list the data omitted from each, and add up the earlier samples of flight recorders", function()
    for i, path in ipairs(paths) do write(path, i, 1 << 20, 1000000) end
    local list = {assert(reader.read(paths[1])), assert(reader.read(paths[2]))}
    assert.same({"data of each collection", "likely leaks and trends"}, united.of(list).alone)
    list[1].marknames, list[2].holders, list[2].states = {{name = "m", count = 1}}, {}, {}
    list[1].ring = {samples = 2, bytes = 200, seconds = 50, wanted = 60}
    list[2].ring = {samples = 3, bytes = 600, seconds = 20}
    list[2].walks, list[2].walked, list[2].longestwalk = 2, 30, 20
    local all = united.of(list)
    assert.same({"marks", "data of each collection", "likely leaks and trends", "holders of live objects",
                 "Lua states and OS threads"}, all.alone)
    assert.same({samples = 5, bytes = 800, seconds = 20, wanted = 60}, all.ring)
    assert.same({2, 30, 20}, {all.walks, all.walked, all.longestwalk})
    local _, text = run("--sum", "--width", "200", paths[1], paths[2])
    assert.is_truthy(text:find("A sum of several files does not include data of each collection, " ..
                               "likely leaks and trends, which are data of single runs. A profile", 1, true))
  end)

  it("are those of asamp report --sum", function()
    for i, path in ipairs(paths) do write(path, i, 1 << 20, 1000000) end
    local code, out, err = run("--sum", paths[1], paths[2], paths[3])
    assert.same({0, ""}, {code, err})
    assert.truthy(out:find("^3 profiles\nlua x.lua\n"), out)
    local _, count = out:gsub("By function, by bytes", "")
    assert.equal(1, count)
    -- a profile that cannot be read is reported, and the sum of the others is shown
    os.remove(paths[2])
    code, out, err = run("--sum", paths[1], paths[2], paths[3])
    assert.equal(1, code)
    assert.truthy(out:find("^2 profiles\n"), out)
    assert.truthy(err:find(paths[2], 1, true))
    assert.equal(2, (run("--sum", "--by", "state", paths[1])))
    os.remove(paths[1])
    os.remove(paths[3])
    code, out = run("--sum", paths[1])
    assert.same({1, ""}, {code, out})
  end)
end)
