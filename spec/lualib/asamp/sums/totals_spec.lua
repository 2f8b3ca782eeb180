-- SPDX-License-Identifier: MIT
-- The totals of a profile (asamp.sums.totals). Hand-written profiles are small enough for mental
-- arithmetic. Totals of random profiles are compared with their definition.

local measures = require "asamp.sums.measures"
local profiles = require "spec.support.profiles"
local since = require "asamp.sums.since"
local totals = require "asamp.sums.totals"

local profileof = profiles.of

-- Returns the rows as text: "name self/total" in samples.
local function short(rows, key)
  local list = {}
  for i, row in ipairs(rows) do
    list[i] = ("%s %d/%d"):format(key(row), row.self.samples,
                                  row.total.samples)
  end
  return table.concat(list, ", ")
end

local function name(row) return row.name end
local function line(row) return row.file .. ":" .. row.line end

describe("totals", function()
  it("of nothing are nothing", function()
    local t = totals.of(profileof{})
    assert.equal(0, t.whole.samples)
    assert.same({}, t.functions)
    assert.same({}, t.lines)
    assert.same({}, t.types)
  end)

  it("give self to the innermost frame, total to all", function()
    local t = totals.of(profileof{
      {"main@1 f@2", 1, 3, 1}, {"main@1 f@3", 1, 2}, {"main@5", 2, 4}})
    assert.equal("f 5/5, main 4/9", short(t.functions, name))
    assert.equal("x.lua:5 4/4, x.lua:2 3/3, x.lua:3 2/2, x.lua:1 0/5",
                 short(t.lines, line))
    assert.equal("bytes", t.unit)
    assert.same({samples = 9, bytes = 900, survived = 1, survivedbytes = 100,
                 later = 0, laterbytes = 0, alive = 0, alivebytes = 0,
                 undecided = 0, timesamples = 0,
                 nativesamples = 0, gcsamples = 0, timesquares = 0,
                 objects = 0, undecidedbytes = 0, bytesquares = 0, survivedsquares = 0, alivesquares = 0},
                t.whole)
    assert.equal(100, t.functions[1].self.survivedbytes)
  end)

  it("count survivors without a later death as alive", function()
    local p = profileof{{"main@1 f@2", 1, 9, 5}, {"main@1 g@3", 2, 9, 4, 2}}
    p.sites.later, p.sites.laterbytes = {2, 4}, {200, 400}
    -- 0, because the file contains no deaths, so that live bytes are unknown
    assert.equal(0, totals.of(p).whole.alivebytes)
    p.followed = 100
    local t = totals.of(p)
    assert.same({3, 300}, {t.whole.alive, t.whole.alivebytes})
    local rows = totals.sorted(t.functions, measures.field("alive", t.unit))
    assert.equal("f main", rows[1].name .. " " .. rows[2].name)
    assert.same({2, 300, 300}, {#rows, rows[1].self.alivebytes, rows[2].total.alivebytes})
    assert.equal(300, t.types[1].self.alivebytes + t.types[2].self.alivebytes)
    assert.equal("alive", measures.field("alive", "samples"))
  end)

  it("count recursion once", function()
    local t = totals.of(profileof{
      {"main@1 f@2 f@2 g@3 f@2", 1, 7}, {"main@1 f@2", 1, 1},
      {"main@1 g@3 f@2 f@4", 1, 2}})
    assert.equal("f 10/10, main 0/10, g 0/9", short(t.functions, name))
    assert.equal("x.lua:2 8/10, x.lua:4 2/2, x.lua:1 0/10, x.lua:3 0/9",
                 short(t.lines, line))
  end)

  it("attribute the own work of a C function to the line that called it", function()
    local t = totals.of(profileof{
      {"main@1 [C]gsub [C]alloc", 2, 4}, {"main@1 [C]gsub f@2", 2, 1},
      {"[C]start", 1, 1}})
    assert.equal("[C]alloc 4/4, [C]start 1/1, f 1/1, [C]gsub 0/5, main 0/5",
                 short(t.functions, name))
    assert.equal("x.lua:1 4/5, x.lua:2 1/1", short(t.lines, line))
  end)

  -- A former bug: allocations of C code in a program without Lua code had no row.
  it("attribute stacks without Lua code to the C function that called Lua's API", function()
    local p = profileof{
      {"[C]main [C]serve", 1, 4}, {"[C]main [C]serve [C]session [C]get", 2, 1}, {"[C]main f@2 [C]get", 1, 2}}
    p.functions[4].name = "luaL_ref"
    assert.equal("[C]serve 4/4, [C]session 1/1",
                 short(totals.sorted(totals.of(p).outside, "samples"), name))
    local rows, _, nearest = totals.linerows(p, true, true)
    assert.same({"[C]session", true, 0}, {nearest[4].name, nearest[4].native, nearest[4].line})
    assert.equal("f", nearest[#p.nodes.fn].name)
    -- the rows of f, main, serve and session
    assert.equal(4, #rows)
    assert.is_nil(select(3, totals.linerows(p, true))[4])
    local known = since.remember(totals.of(p))
    assert.equal("[C] libx.so  [C]serve", since.lines(totals.of(p))[1].name)
    assert.same({}, since.lines(totals.of(p), known))
  end)

  it("add up the types", function()
    local t = totals.of(profileof{
      {"main@1", 2, 4}, {"main@1", 1, 1}, {"main@2", 2, 3, 2}})
    assert.equal("string", t.types[1].name)
    assert.equal(7, t.types[1].self.samples)
    assert.equal(2, t.types[1].self.survived)
    assert.equal(1, t.types[2].self.samples)
  end)

  it("have no row without a sample", function()
    local p = profileof{{"main@1", 1, 2}, {"main@1 f@2", 3, 5}}
    p.sites.samples[2], p.timesamples = 0, 0
    assert.equal("main 2/2", short(totals.of(p).functions, name))
    assert.equal("x.lua:1 2/2", short(totals.of(p).lines, line))
  end)

  it("separate the time in Lua, in C and in collections", function()
    local t = totals.of(profileof{
      {"main@1 f@2", 3, 10}, {"main@1 f@2 [C]gsub", 3, 5},
      {"main@1 f@2 <minor>", 3, 2}, {"main@1 f@2 [C]gsub <minor>", 3, 1},
      {"main@1 f@2", 1, 4}})
    assert.same({"bytes", "timesamples"}, t.measures)
    local row = totals.sorted(t.lines, "timesamples")[1]
    assert.equal(2, row.line)
    assert.equal(18, row.self.timesamples)
    assert.equal(5, row.self.nativesamples)
    assert.equal(3, row.self.gcsamples)
    assert.equal(4, row.self.samples)
    local byname = {}
    for _, fn in ipairs(t.functions) do
      byname[fn.name] = fn
    end
    assert.equal(10, byname.f.self.timesamples)
    assert.equal(18, byname.f.total.timesamples)
    assert.equal(3, byname["[minor collection]"].self.gcsamples)
    assert.equal(5, byname["[C]gsub"].self.nativesamples)
    assert.equal(6, byname["[C]gsub"].total.timesamples)
  end)

  it("sort by time where there are no allocations", function()
    local t = totals.of(profileof{{"main@1 f@2", 3, 5}, {"main@2", 3, 9}})
    assert.same({"timesamples"}, t.measures)
    assert.equal("main", t.functions[1].name)
    assert.equal(14, t.functions[1].total.timesamples)
    assert.same({}, t.types)
  end)

  it("have the classes of a type below it", function()
    local t = totals.of(profileof{
      {"main@1", 1, 4}, {"main@1", 4, 3, 2}, {"main@2", 2, 5}})
    assert.equal("table", t.types[1].name)
    assert.equal(7, t.types[1].self.samples)
    assert.equal("Point", t.types[1].classes[1].name)
    assert.equal(3, t.types[1].classes[1].self.samples)
    assert.equal(2, t.types[1].classes[1].self.survived)
    assert.same({}, t.types[2].classes)
  end)

  it("count only the stacks that are covered", function()
    local p = profileof{{"main@1 f@2 g@3", 1, 4}, {"main@1 g@3", 1, 2},
                        {"main@1", 2, 1}}
    local covered = {}
    for i, f in ipairs(p.nodes.fn) do
      covered[i] = p.functions[f].name == "f" or
                   covered[p.nodes.parent[i]] or nil
    end
    local t = totals.of(p, {covered = covered})
    assert.equal("g 4/4, f 0/4, main 0/4", short(t.functions, name))
    assert.equal(4, t.whole.samples)
    assert.equal(1, #t.types)
  end)

  it("have no lines where the file has none", function()
    assert.same({}, totals.of(profileof({{"main@1", 1, 2}},
                                        {lines = false})).lines)
  end)

  it("count samples without a stack in the whole only", function()
    local p = profileof{{"main@1", 1, 2}}
    p.sites.node[1] = 0
    local t = totals.of(p)
    assert.equal(2, t.whole.samples)
    assert.same({}, t.functions)
  end)

  it("agree with the definition on random profiles", function()
    local seed = tonumber(os.getenv "ASAMP_SEED") or 20261121
    math.randomseed(seed)
    for round = 1, 30 do
      local stacks, own, total, ownline, totalline = {}, {}, {}, {}, {}
      for i = 1, 60 do
        local frames, seen, nearest = {}, {}, nil
        for k = 1, math.random(8) do
          local f = math.random(6)
          local native = f > 4
          local at = math.random(3)
          local fname = (native and "[C]" or "f") .. f
          frames[k] = fname .. (native and "" or "@" .. at)
          seen["fn " .. fname] = true
          if not native then
            seen["line " .. at] = true
            nearest = at
          end
          if k == #frames then
            frames.last = fname
          end
        end
        local n = math.random(9)
        stacks[i] = {table.concat(frames, " "), math.random(2), n}
        own[frames.last] = (own[frames.last] or 0) + n
        if nearest then
          ownline[nearest] = (ownline[nearest] or 0) + n
        end
        for key in pairs(seen) do
          local kind, what = key:match "^(%w+) (.*)$"
          local sums = kind == "fn" and total or totalline
          what = kind == "fn" and what or tonumber(what)
          sums[what] = (sums[what] or 0) + n
        end
      end
      local t = totals.of(profileof(stacks))
      local note = ("seed %d, round %d"):format(seed, round)
      for _, row in ipairs(t.functions) do
        assert.equal(own[row.name] or 0, row.self.samples, note)
        assert.equal(total[row.name], row.total.samples, note)
      end
      for _, row in ipairs(t.lines) do
        assert.equal(ownline[row.line] or 0, row.self.samples, note)
        assert.equal(totalline[row.line], row.total.samples, note)
      end
    end
  end)

  -- The profiled program is: for i = 1, n do pcall(function() local t = {i, {}} end) end. A former bug: the
  -- report named this line after the main chunk, whose row came first, although the inner function had
  -- twice as many bytes in the line.
  it("name a line after the function there that has most of it", function()
    local p = profileof{{"main@3", profiles.TABLE, 36, 30}, {"main@3 [C]pcall f@3", profiles.TABLE, 64, 1},
                        {"main@3", profiles.TIME, 9}, {"main@3 [C]pcall f@3 [C]sort", profiles.TIME, 2},
                        {"main@4", profiles.TABLE, 1}}
    p.sites.later, p.sites.laterbytes, p.followed = {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}, 100
    p.functions[3].line = 3
    local t = totals.of(p)
    local function first(field, key) return totals.sorted(t.lines, field, key)[1] end
    assert.equal("x.lua:3 100/100, x.lua:4 1/1", short(t.lines, line))
    assert.same({"f", 3}, {t.lines[1].name, t.lines[1].defined})
    assert.equal("main 36/100, f 64/64", short(t.lines[1].functions, name))
    assert.equal("f", first("bytes").name)
    assert.equal("main", first("bytes", "total").name)
    assert.equal("main", first("timesamples").name)
    assert.equal("main", first("alivebytes").name)
    assert.is_nil(t.lines[2].functions)
    assert.equal("f", totals.linerows(p)[1].name)
    -- with 'true', each line has the name of its function with most live bytes
    assert.equal("main", totals.linerows(p, true)[1].name)
  end)

  it("of a line are those of the look before, whichever function has most of it now", function()
    local before = totals.of(profileof{{"main@3", 1, 5}, {"main@3 f@3", 1, 2}})
    local now = totals.of(profileof{{"main@3", 1, 5}, {"main@3 f@3", 1, 8}})
    local row = since.lines(now, since.remember(before))[1]
    assert.same({"x.lua:3  f", 600}, {row.name, row.bytes})
  end)

  it("manage a stack of a hundred thousand frames", function()
    local p = profileof{}
    for i = 1, 100000 do
      p.nodes.parent[i], p.nodes.fn[i], p.nodes.line[i] = i - 1, 1, i % 7
    end
    p.functions[1] = {name = "f", file = "x.lua", line = 1, native = false}
    p.samples = 3
    p.sites = {node = {100000}, kind = {1}, samples = {3}, bytes = {300},
               survived = {0}, survivedbytes = {0}, undecided = {0}}
    local t = totals.of(p)
    assert.equal("f 3/3", short(t.functions, name))
    assert.equal(7, #t.lines)
  end)

  -- A former bug: for a server that had loaded its templates under 60,908 names, the report took 597 MB,
  -- because each name had four full arrays of sums, mostly of zeros.
  it("of many functions take little each", function()
    local n, p = 20000, profileof{}
    p.sites = {node = {}, kind = {}, samples = {}, bytes = {}, survived = {},
               survivedbytes = {}, undecided = {}}
    for i = 1, n do
      p.functions[i] = {name = "main chunk", file = i .. ".lua", line = 0, native = false}
      p.nodes.parent[i], p.nodes.fn[i], p.nodes.line[i] = 0, i, 1
      for key, value in pairs{node = i, kind = 1, samples = 1, bytes = 100, survived = 0,
                              survivedbytes = 0, undecided = 0} do
        p.sites[key][i] = value
      end
    end
    p.samples = n
    collectgarbage()
    local before = collectgarbage "count"
    local t = totals.of(p)
    collectgarbage()
    local each = (collectgarbage "count" - before) * 1024 / n
    assert.same({n, n, n}, {#t.functions, #t.lines, t.whole.samples})
    assert.is_true(each < 1500, each .. " bytes a function")
    -- fields with the value 0 are not stored, but must read as 0
    local fields = {}
    for field, value in pairs(t.functions[1].self) do fields[field] = value end
    assert.same({1, 100, 0, 0}, {fields.samples, fields.bytes, fields.alive, fields.timesquares})
  end)
end)
