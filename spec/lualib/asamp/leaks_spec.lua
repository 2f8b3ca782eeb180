-- SPDX-License-Identifier: MIT
-- What is taken for a leak, and what is not.

local leaks = require "asamp.leaks"
local profiles = require "spec.support.profiles"

local N = 16

-- A profile in N parts. lines[i] (line i): function(part) -> samples,
-- survived; heap(part) -> bytes in use.
local function session(lines, heap)
  local stacks = {}
  for i in ipairs(lines) do
    stacks[i] = {"f@" .. i, profiles.TABLE, 1, 1}
  end
  local p = profiles.of(stacks)
  local bins = {start = 0, width = 1000, n = N, bin = {}, node = {}, kind = {},
                samples = {}, bytes = {}, survived = {}, survivedbytes = {}}
  for part = 0, N - 1 do
    for i, line in ipairs(lines) do
      local samples, survived = line(part)
      if samples > 0 then
        local at = #bins.bin + 1
        bins.bin[at], bins.node[at], bins.kind[at] = part, p.sites.node[i], 1
        bins.samples[at], bins.bytes[at] = samples, 100 * samples
        bins.survived[at], bins.survivedbytes[at] = survived, 100 * survived
      end
    end
    p.collections[part + 1] = {time = part * 1000 + 500, inuse = heap(part)}
  end
  p.bins = bins
  return p
end

local function growing(part) return 100000 + 2000 * part end
local function steady() return 500000 end

-- Lines that are found.
local function found(lines, heap)
  local list = {}
  for i, row in ipairs(leaks.of(session(lines, heap or growing)).rows) do
    list[i] = row.line
  end
  return list
end

describe("a likely leak", function()
  it("is a line whose survivors keep coming while the heap grows", function()
    local r = leaks.of(session({
      function() return 2, 2 end, function() return 50, 0 end,
      function() return 4, 3 end}, growing))
    assert.is_true(r.grew)
    assert.equal(108000, r.before)
    assert.equal(124000, r.after)
    assert.equal(N, r.parts)
    assert.equal(2, #r.rows)
    assert.same({file = "x.lua", line = 3, name = "f", samples = 64,
                 survived = 48, survivedbytes = 4800, kept = 48,
                 keptbytes = 4800, late = 2400, parts = 16},
                r.rows[1])
    assert.equal(1600 + 2400, r.late)
    assert.equal(1, r.rows[2].line)
  end)

  it("is none where the heap does not grow", function()
    local r = leaks.of(session({function() return 2, 2 end}, steady))
    assert.is_false(r.grew)
    assert.same({}, r.rows)
  end)

  it("is not what start-up loads, nor what comes at the end only", function()
    assert.same({}, found{
      function(part) return part < 4 and 50 or 0, part < 4 and 50 or 0 end,
      function(part) return part > 11 and 50 or 0, part > 11 and 50 or 0 end})
  end)

  it("is not a cache that has filled", function()
    assert.same({}, found{function(part)
      return 20, part < 10 and 20 or 1
    end})
    assert.same({1}, found{function() return 20, 20 end})
  end)

  it("is none among much more that died later", function()
    local function heap(part) return 100000 + 10000 * part end
    -- from 140000 to 220000: 80000 more
    local leak = function() return 20, 20 end
    assert.same({1}, found({leak}, heap))
    assert.same({2, 1}, found({leak, function() return 100, 100 end}, heap))
    -- too much for the heap: most of it has to have died
    assert.same({}, found({leak, function() return 300, 300 end}, heap))
    -- of line 2 alone more survived than the heap can have kept
    assert.same({1}, found({leak, function() return 160, 160 end}, heap))
  end)

  it("is none that is next to nothing of what the heap grew by", function()
    local function heap(part) return 100000 + 10000 * part end
    local leak = function() return 60, 60 end
    assert.same({1}, found({leak, function() return 4, 4 end}, heap))
    assert.same({1, 2}, found({leak, function() return 5, 5 end}, heap))
  end)

  it("has stopped when nothing survives in the last quarter", function()
    assert.same({}, found{function(part)
      return 20, part < 12 and 20 or 0
    end})
    assert.same({}, found{function(part)
      return 20, part < 8 and 10 or part < 12 and 20 or 0
    end})
  end)

  it("is not a line of which most dies young", function()
    assert.same({}, found{function() return 20, 9 end})
    assert.same({1}, found{function() return 20, 10 end})
  end)

  it("is not told from a handful of samples", function()
    assert.same({}, found{function(part)
      return part < 11 and 1 or 0, part < 11 and 1 or 0
    end})
    assert.same({1}, found{function(part)
      return part ~= 5 and 1 or 0, part ~= 5 and 1 or 0
    end})
    local p = session({function() return 1, 1 end}, function(part)
      return 100000 + 10000 * part
    end)
    for _, column in pairs(p.bins) do  -- 8 parts of the same
      if type(column) == "table" then
        for i = #column, 9, -1 do column[i] = nil end
      end
    end
    p.bins.n = 8
    for i = 1, 8 do p.bins.survivedbytes[i] = 1000 end
    assert.is_true(leaks.of(p).kept)
    assert.same({}, leaks.of(p).rows)
    for i = 1, 8 do p.bins.survived[i], p.bins.samples[i] = 2, 2 end
    assert.equal(1, #leaks.of(p).rows)
  end)

  it("cannot be told from files without times, fates or lines", function()
    for _, change in ipairs{
      function(p) p.bins = nil end, function(p) p.bins.n = 7 end,
      function(p) p.fates = false end, function(p) p.lines = false end,
      function(p) p.collections = {} end, function(p) p.survived = 0 end,
    } do
      local p = session({function() return 2, 2 end}, growing)
      assert.truthy(leaks.of(p))
      change(p)
      assert.is_nil(leaks.of(p))
    end
  end)

  -- The same with what died later: lines[i](part) -> samples, survived, later.
  local function proved(lines, major)
    local plain = {}
    for i, line in ipairs(lines) do
      plain[i] = function(part)
        local samples, survived = line(part)
        return samples, survived
      end
    end
    local p = session(plain, growing)
    p.followed = 1000
    p.bins.later, p.bins.laterbytes = {}, {}
    for i, part in ipairs(p.bins.bin) do
      for k, line in ipairs(lines) do
        if p.sites.node[k] == p.bins.node[i] then
          p.bins.later[i] = select(3, line(part))
          p.bins.laterbytes[i] = 100 * p.bins.later[i]
        end
      end
    end
    if major then p.collections[major].major = true end
    return leaks.of(p)
  end
  local function leak() return 40, 10, 0 end
  local function window(part) return 10, 10, part < 11 and 10 or 0 end
  local function lines(result)
    local list = {}
    for i, row in ipairs(result.rows) do list[i] = row.line end
    return list
  end

  it("is proved by what is alive: not by a cache that drops the old", function()
    local found_ = proved({leak, window}, 15)
    assert.is_true(found_.proved)
    -- the 15th collection comes within part 14: 14 parts are known
    assert.equal(14, found_.parts)
    assert.same({1}, lines(found_))
    local row = found_.rows[1]
    assert.same({140, 14000, 160}, {row.kept, row.keptbytes, row.survived})
  end)

  it("is guessed when no major collection came late enough", function()
    for _, major in ipairs{false, 3} do
      local found_ = proved({leak, window}, major)
      assert.is_false(found_.proved)
      assert.equal(N, found_.parts)
      assert.same({2}, lines(found_))  -- a quarter of line 1 survives only
    end
  end)
end)
