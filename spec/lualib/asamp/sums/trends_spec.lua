-- SPDX-License-Identifier: MIT
--
-- The live bytes of lines over time (asamp.sums.trends). They must be those of the same samples in report
-- --at, with a slope that the spec computes itself.

local process = require "spec.support.process"
local reader = require "profiler.reader"
local shell = require "spec.support.shell"
local show = require "asamp.show.trends"
local totals = require "asamp.sums.totals"
local trends = require "asamp.sums.trends"

-- Returns a profile of one line. In second i it has born[i] new samples and loses gone[i], each of 1,000
-- bytes.
local function made(born, gone)
  local function columns(list)
    local c = {bin = {}, node = {}, kind = {}, samples = {}, bytes = {}, width = 1000000, n = #born}
    for i, n in ipairs(list) do
      c.bin[i], c.node[i], c.kind[i], c.samples[i], c.bytes[i] = i - 1, 1, 1, n, 1000 * n
    end
    c.survived, c.survivedbytes = c.samples, c.bytes
    return c
  end
  return {bins = columns(born), gone = columns(gone), lines = true, fates = true, followed = 9,
          functions = {{name = "f", file = "a.lua", line = 1, native = false}},
          nodes = {parent = {0}, fn = {1}, line = {7}}, kinds = {{name = "table"}}}
end

describe("trends", function()
  it("are births less deaths, added up, with the slope of the line through them", function()
    local t = trends.of(made({5, 5, 5, 5, 5, 5, 5, 5}, {0, 1, 1, 1, 1, 1, 1, 1}))
    local row = t.lines[1]
    assert.same({5000, 9000, 13000, 17000, 21000, 25000, 29000, 33000}, row.alive)
    assert.equal(33000, row.peak)
    assert.is_true(math.abs(row.slope - 4000) < 1e-6, row.slope)
    assert.is_true(row.grows and row.error > 0 and row.error < 1300, row.error)
    assert.same({1, 2, 3, 4, 5, 6, 7, 8}, t.seconds)
    assert.equal("f", t.functions[1].name)
    local line = {slope = 4000, error = 1250}
    assert.equal("+13.7M ±4.3M", show.growth(line, {seconds = {1800, 3600}}))
    -- A former bug: for a run of a second, the printed growth was that of an hour.
    assert.equal("+234.4K ±73.2K", show.growth(line, {seconds = {300, 600}}))
    assert.equal("+3.9K ±1.2K", show.growth(line, {seconds = {0.5, 1}}))
  end)

  it("do not grow by chance", function()
    local row = trends.of(made({3, 2, 4, 3, 2, 3, 4, 3}, {2, 2, 3, 4, 2, 3, 3, 3})).lines[1]
    assert.is_false(row.grows)
    assert.equal("level", show.growth(row, {seconds = {1, 2}}))
    assert.equal("▂▅█ ", show.sparkline({1, 4, 8, 0}, 8))
  end)

  it("need a profile with deaths, and slices", function()
    local p = made({1, 1}, {})
    assert.is_nil(trends.of(p))
    p = made({1, 1, 1, 1, 1, 1, 1, 1}, {})
    p.followed = 0
    assert.is_nil(trends.of(p))
  end)

  it("end with the bytes alive, and agree with the report of any instant", function()
    local path, script = os.tmpname(), os.tmpname()
    shell.write(script, [[
local keep, cache, up = {}, {}, nil
for i = 1, 60000 do
  keep[i] = {i, i}
  cache[i % 1000] = ("x"):rep(100) .. i
  if i == 30000 then up = ("y"):rep(500000) end
  if i % 10000 == 0 then collectgarbage() end
end
]])
    local status, _, err = process.run{"-l", "profiler", script,
      env = {LUA_PROFILER = ("out=%s,overwrite=1,quiet,seed=4,alloc=2K"):format(path)}}
    assert.same({0, ""}, {status, err})
    local profile = assert(reader.read(path, {bins = 16}))
    local t, alive = trends.of(profile), {}
    for _, row in ipairs(totals.of(profile).lines) do alive[row.line] = row.self.alivebytes end
    assert.is_true(#t.lines >= 3 and #t.seconds >= 8)
    for _, row in ipairs(t.lines) do
      assert.equal(alive[row.line], row.alive[#row.alive], row.line)
    end
    local grown = 0
    for k = 2, #t.seconds - 1, 3 do
      local at = assert(reader.read(path, {at = math.floor(t.seconds[k] * 1e6 + 0.5) - 1}))
      assert.equal(at.survivedbytes, t.whole.alive[k], k)
      grown = math.max(grown, at.survivedbytes)
    end
    assert.is_true(grown > 1000000, grown)
    local out = shell.output("build/bin/asamp report --show trends --width 100 " .. path)
    assert.matches("Over time, by line\n", out)
    assert.matches("█", out)
    assert.matches('"trends": {', shell.output("build/bin/asamp report --json " .. path))
  end)
end)
