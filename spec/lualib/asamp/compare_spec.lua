-- SPDX-License-Identifier: MIT
-- Two profiles against each other: what counts as a change, and what as the
-- same thing.

local compare = require "asamp.compare"
local profiles = require "spec.support.profiles"
local totals = require "asamp.totals"

local function of(stacks, options)
  return totals.of(profiles.of(stacks, options))
end

local function compared(a, b, options)
  local o = {sigma = 3}
  for k, v in pairs(options or {}) do
    o[k] = v
  end
  return compare.of(a, b, o.field or "bytes", o)
end

-- "name a b" of rows, noise with ~.
local function short(rows)
  local list = {}
  for i, row in ipairs(rows) do
    list[i] = ("%s%s %g %g"):format(row.noise and "~" or "", row.name, row.a,
                                    row.b)
  end
  return list
end

describe("a comparison", function()
  it("has what changed most first, and noise behind it", function()
    local q = profiles.of{{"f@1", 1, 430}, {"g@1", 1, 300}, {"k@1", 1, 20}}
    q.functions[3].line = 90
    local r = compared(of{{"f@1", 1, 400}, {"g@1", 1, 100}, {"h@1", 1, 50}},
                       totals.of(q))
    assert.same({"g 10000 30000", "h 5000 0", "k 0 2000", "~f 40000 43000"},
                short(r.functions))
    assert.equal(55000, r.a)
    assert.equal(75000, r.b)
  end)

  it("takes for noise what is less than so many standard errors", function()
    -- n samples of 100 bytes: the error is 100 √n
    local a, b = of{{"f@1", 1, 100}}, of{{"f@1", 1, 125}}
    local row = compared(a, b).functions[1]
    assert.equal(100 * 15, row.error)
    assert.equal(2500, row.change)
    assert.is_true(row.noise)
    assert.is_false(compared(a, b, {sigma = 1.6}).functions[1].noise)
    assert.is_true(compared(a, b, {sigma = 1.7}).functions[1].noise)
    assert.is_false(compared(of{{"f@1", 1, 9}}, of{{"g@1", 1, 9}})
                    .functions[1].noise)
    assert.is_true(compared(of{{"f@1", 1, 8}}, of{{"g@1", 1, 8}})
                   .functions[1].noise)
  end)

  it("weighs each side's samples by its own period", function()
    local row = compared(of({{"f@1", 1, 100}}, {size = 64}),
                         of({{"f@1", 1, 100}}, {size = 1024})).functions[1]
    assert.equal(6400, row.a)
    assert.equal(102400, row.b)
    assert.equal(math.sqrt(640 ^ 2 + 10240 ^ 2), row.error)
  end)

  it("scales the first to the second on request", function()
    local r = compared(of{{"f@1", 1, 400}, {"g@1", 1, 600}},
                       of{{"f@1", 1, 1000}, {"g@1", 1, 1000}},
                       {scaled = true})
    assert.equal(2, r.scale)
    assert.equal(100000, r.a)
    assert.same({"f 80000 100000", "g 120000 100000"}, short(r.functions))
  end)

  it("has own, or all that was called", function()
    local a, b = of{{"m@1 f@1", 1, 50}}, of{{"m@1 f@1", 1, 200}}
    assert.same({"f 5000 20000"}, short(compared(a, b).functions))
    assert.same({"f 5000 20000", "m 5000 20000"},
                short(compared(a, b, {cumulative = true}).functions))
  end)

  it("compares types and classes", function()
    local r = compared(of{{"f@1", 1, 100}, {"f@1", 4, 100}, {"f@1", 2, 400}},
                       of{{"f@1", 1, 100}, {"f@1", 4, 300}, {"f@1", 2, 100}})
    assert.same({"string 40000 10000", "table 20000 40000"}, short(r.types))
    assert.same({"Point (table) 10000 30000"}, short(r.classes))
  end)

  it("compares what is alive at the end, by its own samples", function()
    local function alive(n)
      local p = profiles.of({{"f@1", 1, 900, 400}}, {followed = 9})
      p.sites.later, p.sites.laterbytes = {400 - n}, {100 * (400 - n)}
      return totals.of(p)
    end
    local a, b = alive(100), alive(225)
    assert.equal("alivebytes", compare.fieldof("alive", a, b))
    assert.is_nil(compare.fieldof("alive", a, of{{"f@1", 1, 9, 4}}))
    local row = compared(a, b, {field = "alivebytes"}).functions[1]
    assert.same({10000, 22500, math.sqrt(1000 ^ 2 + 1500 ^ 2)}, {row.a, row.b, row.error})
  end)

  it("compares time in seconds", function()
    local a = profiles.of({{"f@1", 3, 400}}, {timeperiod = 0.01})
    local b = profiles.of({{"f@1", 3, 900}}, {timeperiod = 0.001})
    local weights, seconds = compare.timeweights(a, b)
    assert.is_true(seconds)
    local row = compared(totals.of(a), totals.of(b),
      {field = "timesamples", weights = weights}).functions[1]
    assert.equal(4.0, row.a)
    assert.equal(0.9, row.b)
    assert.is_true(math.abs(row.error - math.sqrt(0.2 ^ 2 + 0.03 ^ 2)) < 1e-9)
    b.timeperiod = nil
    weights, seconds = compare.timeweights(a, b)
    assert.same({1, 1}, weights)
    assert.is_false(seconds)
  end)

  it("counts no row twice", function()
    local p = profiles.of{{"f@10", 1, 100}, {"h@20", 1, 200}}
    local q = profiles.of{{"f@13", 1, 100}, {"h@13", 1, 200}}
    p.functions[1].line, p.functions[2].line = 10, 20
    q.functions[1].line, q.functions[2].line = 13, 13
    local sum = 0
    for _, row in ipairs(compared(totals.of(p), totals.of(q)).lines) do
      sum = sum + row.b
    end
    assert.equal(30000, sum)
  end)

  it("finds code again that was moved and edited", function()
    local p, q = profiles.of{{"f@3", 1, 100}}, profiles.of{{"f@9", 1, 300}}
    q.functions[1].line = 7
    p.functions[1].file, q.functions[1].file = "/usr/lib/x.lua", "new/x.lua"
    local r = compared(totals.of(p), totals.of(q))
    assert.same({"f 10000 30000"}, short(r.functions))
    assert.same({"f 10000 30000"}, short(r.lines))
    assert.equal("new/x.lua", r.lines[1].file)
    assert.equal(9, r.lines[1].line)
  end)
end)
