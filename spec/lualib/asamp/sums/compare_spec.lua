-- SPDX-License-Identifier: MIT
-- The comparison of two profiles: which differences count as changes, and which rows belong to the same
-- function.

local compare = require "asamp.sums.compare"
local heldpairs = require "asamp.sums.heldpairs"
local profiles = require "spec.support.profiles"
local totals = require "asamp.sums.totals"

local of = profiles.of

-- Returns the comparison of profile b with profile a.
local function compared(a, b, options)
  local o = {sigma = 3}
  for k, v in pairs(options or {}) do
    o[k] = v
  end
  return compare.of(a, totals.of(a), b, totals.of(b), o.field or "bytes", o)
end

-- Calls the function f of the module compare with two profiles and their totals.
local function both(f, a, b)
  return f(a, totals.of(a), b, totals.of(b))
end

-- Returns rows as "name a b". The mark "~" before a name means that the difference may be chance.
local function short(rows)
  local list = {}
  for i, row in ipairs(rows) do
    list[i] = ("%s%s %g %g"):format(row.noise and "~" or "", row.name, row.a,
                                    row.b)
  end
  return list
end

describe("a comparison", function()
  -- A former bug: the time grew with the square of the number of paths with the same start.
  it("has n holders without n times n steps", function()
    local n, started = 60000, os.clock()
    local h = {step = {}, parent = {}, path = {}, samples = {}, bytes = {}}
    for i = 1, n do
      h.step[i], h.parent[i], h.path[i], h.samples[i], h.bytes[i] = "s" .. i, 0, i, 1, 100
    end
    local all = {samples = n, bytes = 100 * n}
    assert.same({{name = "(small holders)", a = all, b = all, parted = false}}, heldpairs.of(h, h))
    assert.is_true(os.clock() - started < 5, ("%.1f seconds"):format(os.clock() - started))
  end)

  it("has the largest changes first, and noise after them", function()
    local q = profiles.of{{"f@1", 1, 430}, {"g@1", 1, 300}, {"k@1", 1, 20}}
    q.functions[3].line = 90
    local r = compared(of{{"f@1", 1, 400}, {"g@1", 1, 100}, {"h@1", 1, 50}},
                       q)
    assert.same({"g 10000 30000", "h 5000 0", "k 0 2000", "~f 40000 43000"},
                short(r.functions))
    assert.equal(55000, r.a)
    assert.equal(75000, r.b)
  end)

  it("keeps the first rows of each list, and counts all", function()
    local a, b = of{{"f@1", 1, 400}, {"g@1", 1, 100}, {"h@1", 1, 50}}, of{{"f@1", 1, 430}, {"g@1", 1, 300}}
    local list = compared(a, b, {most = 1}).functions
    assert.same({"g 10000 30000"}, short(list))
    assert.same({3, 1, false}, {list.n, list.noise, list.same})
    assert.is_true(compared(a, a, {most = 1}).functions.same)
  end)

  it("treats differences below a number of standard errors as noise", function()
    -- n samples of 100 bytes have the standard error 100 √n
    local a, b = of{{"f@1", 1, 100}}, of{{"f@1", 1, 125}}
    local row = compared(a, b).functions[1]
    assert.equal(100 * 15, row.error)
    assert.equal(2500, row.change)
    assert.is_true(row.noise)
    assert.is_false(compared(a, b, {sigma = 1.6}).functions[1].noise)
    assert.is_true(compared(a, b, {sigma = 1.7}).functions[1].noise)
    -- By chance, 10 samples against 0 occur in one of 512 pairs, 9 against 0 in one of 256, and a
    -- difference of 3 standard errors in one of 370.
    assert.is_false(compared(of{{"f@1", 1, 10}}, of{{"g@1", 1, 10}})
                    .functions[1].noise)
    assert.is_true(compared(of{{"f@1", 1, 9}}, of{{"g@1", 1, 9}})
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

  it("has self, or all that was called", function()
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

  it("compares the bytes alive at the end, by their own samples", function()
    local function alive(n)
      local p = profiles.of({{"f@1", 1, 900, 400}}, {followed = 9})
      p.sites.later, p.sites.laterbytes = {400 - n}, {100 * (400 - n)}
      return p
    end
    local function fieldof(a, b)
      return both(function(...) return compare.fieldof("alive", ...) end, a, b)
    end
    local a, b = alive(100), alive(225)
    assert.equal("alivebytes", fieldof(a, b))
    assert.equal("alivebytes", fieldof(a, alive(0)), "the leak is mended")
    assert.is_nil(fieldof(a, of{{"f@1", 1, 9, 4}}))
    local row = compared(a, b, {field = "alivebytes"}).functions[1]
    assert.same({10000, 22500, math.sqrt(1000 ^ 2 + 1500 ^ 2)}, {row.a, row.b, row.error})
  end)

  it("weighs missing rows by the period: 9 samples against none may be chance", function()
    local function survived(n) return of({{"f@1", 1, 900, n}}, {size = 1 << 20}) end
    local row = compared(survived(9), survived(0), {field = "survivedbytes"}).functions[1]
    assert.same({9 << 20, 0, true}, {row.a, row.b, row.noise})
    assert.is_false(compared(survived(10), survived(0), {field = "survivedbytes"})
                    .functions[1].noise)
  end)

  it("compares time in seconds", function()
    local a = profiles.of({{"f@1", 3, 400}}, {timeperiod = 0.01})
    local b = profiles.of({{"f@1", 3, 900}}, {timeperiod = 0.001})
    local r = compared(a, b, {field = "timesamples"})
    assert.is_true(r.seconds)
    local row = r.functions[1]
    assert.equal(4.0, row.a)
    assert.equal(0.9, row.b)
    assert.near(math.sqrt(0.2 ^ 2 + 0.03 ^ 2), row.error, 1e-9)
    b.timeperiod = nil
    r = compared(a, b, {field = "timesamples"})
    assert.is_false(r.seconds)
    assert.equal(400, r.functions[1].a)
  end)

  it("takes the periods that a stack of time represents as one observation", function()
    local a, b = of{{"f@1", 3, 400}}, of{{"f@1", 3, 520}}
    local function whole(field)
      return compared(a, b, {field = field}).functions[1]
    end
    assert.is_false(whole "timesamples".noise)
    a.sites.timesquares, b.sites.timesquares = {1600}, {2080}  -- 100 and 130 samples of 4 periods, 4^2 each
    local row = whole "timesamples"
    assert.is_true(row.noise)
    assert.near(0.001 * math.sqrt(4 * (400 + 520)), row.error, 1e-12)
  end)

  it("knows how much samples weigh when their period was set again", function()
    -- Returns a profile with 100 samples of 10 bytes and one sample of 1,000 bytes.
    local function mixed(sum)
      local p = of({{"f@1", 1, 101}}, {periods = 1, size = 10})
      p.sites.bytes = {sum}
      p.sites.bytesquares = {100 * 10 ^ 2 + 1000 ^ 2}
      p.sites.survivedsquares, p.sites.latersquares = {0}, {0}
      return p
    end
    local row = compared(mixed(2000), mixed(2000)).functions[1]
    assert.near(math.sqrt(2 * 1010000), row.error, 1e-9)
    assert.is_true(compared(mixed(2000), mixed(4000)).functions[1].noise)
  end)

  it("lets no row pass for a change because there are many", function()
    -- of 200 rows without a change, by chance one differs by 3 standard errors in one of two comparisons
    local function many(n)
      local stacks = {}
      for i = 1, 200 do
        stacks[i] = {("f%d@%d"):format(i, i), 1, i == 1 and n or 100}
      end
      return of(stacks)
    end
    local function changes(n)
      local changed = 0
      for _, row in ipairs(compared(many(100), many(n)).functions) do
        changed = changed + (row.noise and 0 or 1)
      end
      return changed
    end
    assert.equal(0, changes(148))  -- a difference of 3.05 standard errors
    assert.equal(1, changes(180))  -- a difference of 4.8 standard errors
  end)

  it("has the exact totals if both files have them", function()
    local a, b = of({{"f@1", 1, 100}}, {random = true}), of({{"f@1", 1, 110}}, {random = true})
    a.allocated = 10400
    assert.same({10000, 11000}, {compared(a, b).a, compared(a, b).b})
    b.allocated = 10500
    local r = compared(a, b)
    assert.same({10400, 10500, 0}, {r.a, r.b, r.error})
    assert.same({"~f 10000 11000"}, short(r.functions))
    assert.is_true(compared(a, b, {field = "samples"}).error > 0)
    assert.near(105 / 104, compared(a, b, {scaled = true}).scale, 1e-12)
  end)

  it("compares no CPU time with wall time", function()
    local a, b = of{{"f@1", 3, 400}, {"f@1", 1, 9}}, of{{"f@1", 3, 400}, {"f@1", 1, 9}}
    b.wall = true
    local function time(...) return compare.fieldof("time", ...) end
    assert.same({"bytes"}, both(compare.fields, a, b))
    assert.same({n = 2, nil, "A has CPU time, B wall time"}, table.pack(both(time, a, b)))
    a.wall = true
    assert.same({"bytes", "timesamples"}, both(compare.fields, a, b))
    assert.equal("timesamples", both(time, a, b))
    -- a profile whose file has neither flag
    b.own, b.wall = false, false
    assert.equal("timesamples", both(time, a, b))
  end)

  it("counts no row twice", function()
    local p = profiles.of{{"f@10", 1, 100}, {"h@20", 1, 200}}
    local q = profiles.of{{"f@13", 1, 100}, {"h@13", 1, 200}}
    p.functions[1].line, p.functions[2].line = 10, 20
    q.functions[1].line, q.functions[2].line = 13, 13
    local sum = 0
    for _, row in ipairs(compared(p, q).lines) do
      sum = sum + row.b
    end
    assert.equal(30000, sum)
  end)

  it("finds code again that was moved and edited", function()
    local p, q = profiles.of{{"f@3", 1, 100}}, profiles.of{{"f@9", 1, 300}}
    q.functions[1].line = 7
    p.functions[1].file, q.functions[1].file = "/usr/lib/x.lua", "new/x.lua"
    local r = compared(p, q)
    assert.same({"f 10000 30000"}, short(r.functions))
    assert.same({"f 10000 30000"}, short(r.lines))
    assert.equal("new/x.lua", r.lines[1].file)
    assert.equal(9, r.lines[1].line)
  end)
end)
