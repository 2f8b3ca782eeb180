-- SPDX-License-Identifier: MIT
-- Lines of a program that the report lists as likely leaks, and lines that it must not list.

local leaks = require "asamp.sums.leaks"
local profiles = require "spec.support.profiles"

local N = 16

-- Returns a profile in N time slices ("parts"). lines[i](part) returns two numbers for line i, its samples
-- and its survivors in this part. heap(part) returns the bytes in use. stacks[i] is the stack of line i
-- (default "f@i"), types[i] the type of its objects (default "table"). period(part) returns the bytes that
-- a sample represents (default 100).
local function session(lines, heap, stacks, types, period)
  local list = {}
  for i in ipairs(lines) do
    -- A quarter of the objects survived in the whole session. If all did, the program would be taken for
    -- one that loads data.
    list[i] = {stacks and stacks[i] or "f@" .. i, profiles.TABLE, 4, 1}
  end
  local p = profiles.of(list)
  for i, fn in ipairs(p.functions) do
    fn.line = fn.name == "main" and 0 or i
  end
  for i = 1, #lines do
    p.kinds[4 + i] = {name = types and types[i] or "table", blocks = 0, objects = 0, outside = 0}
  end
  local bins = {start = 0, width = 1000, n = N, bin = {}, node = {}, kind = {},
                samples = {}, bytes = {}, survived = {}, survivedbytes = {}}
  for part = 0, N - 1 do
    for i, line in ipairs(lines) do
      local samples, survived = line(part)
      if samples > 0 then
        local at = #bins.bin + 1
        bins.bin[at], bins.node[at], bins.kind[at] = part, p.sites.node[i], 4 + i
        local bytes = period and period(part) or 100
        bins.samples[at], bins.bytes[at] = samples, bytes * samples
        bins.survived[at], bins.survivedbytes[at] = survived, bytes * survived
      end
    end
    p.collections[part + 1] = {time = part * 1000 + 500, inuse = heap(part)}
  end
  p.bins = bins
  return profiles.summed(p)
end

local function growing(part) return 100000 + 2000 * part end
local function steady() return 500000 end

-- Returns the numbers of the lines that are listed as likely leaks.
local function found(lines, heap)
  local list = {}
  for i, row in ipairs(leaks.of(session(lines, heap or growing)).rows) do
    list[i] = row.line
  end
  return list
end

describe("a likely leak", function()
  it("are not judged on lines with few samples, which are counted", function()
    local r = leaks.of(session({
      function(part) return part % 4 == 0 and 1 or 0, part % 4 == 0 and 1 or 0 end,
      function(part) return 1, part == 15 and 1 or 0 end,
      function() return 50, 0 end}, growing))
    assert.equal(0, #r.rows)
    assert.equal(1, r.few.lines)
  end)

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
                 keptbytes = 4800, late = 2400, parts = 16, of = 16,
                 type = "table", group = 1},
                r.rows[1])
    assert.equal(1600 + 2400, r.late)
    assert.equal(1, r.rows[2].line)
  end)

  -- A former bug: the bytes of such a leak were counted, but it had no row.
  it("is a C function that no Lua code called", function()
    local rows = leaks.of(session({function() return 2, 2 end, function() return 50, 0 end}, growing,
                                  {"[C]main [C]session", "f@2"})).rows
    assert.equal(1, #rows)
    assert.same({"[C]session", 0, true}, {rows[1].name, rows[1].line, rows[1].native})
  end)

  -- The first part of a flight recorder's file contains all older objects. A former bug: so if a process
  -- had leaked for a long time, no line seemed to leak in the recorded minutes.
  it("is a line that keeps more in a flight recorder's time than before", function()
    local function keeps(part) return part == 0 and 2000 or 5, part == 0 and 2000 or 5 end
    local function heap(part) return 20000 + 500 * part end
    local function kept(part) return part == 0 and 2000 or 0, part == 0 and 2000 or 0 end
    local p = session({keeps, kept}, heap)
    assert.same({}, leaks.of(p).rows)
    p.ring = {samples = 4000, bytes = 400000, ns = 1}
    local rows = leaks.of(p).rows
    assert.equal(1, #rows)
    assert.equal(1, rows[1].line)
  end)

  it("is none where the heap does not grow", function()
    local r = leaks.of(session({function() return 2, 2 end}, steady))
    assert.is_false(r.grew)
    assert.same({}, r.rows)
  end)

  -- A former bug: if Lua's heap stayed small, the growth of native memory, which C code requests, was not
  -- reported.
  it("is native memory that nobody frees, whatever the heap does", function()
    local p = session({function() return 2, 2 end, function() return 50, 0 end,
                       function(part) return 3, part < 4 and 3 or 0 end},
                      steady, nil, {"native", "native", "native"})
    -- if p.malloc is nil, the profiler sampled no native memory, and "native" is a type that another program
    -- chose
    assert.is_nil(leaks.of(p).rows[1])
    p.malloc = 1024
    p.bins.later, p.bins.laterbytes = {}, {}
    for i in ipairs(p.bins.bin) do p.bins.later[i], p.bins.laterbytes[i] = 0, 0 end
    local r = leaks.of(p)
    assert.equal(1, #r.rows)
    assert.equal(1, r.rows[1].line)
    assert.equal("native", r.rows[1].type)
    assert.equal(1600, r.native)
    assert.is_true(r.proved)
    p.collections = {}
    assert.equal(1, leaks.of(p).rows[1].line)
  end)

  it("is neither memory loaded at start-up nor memory allocated at the end only", function()
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
    -- with this function, the heap grows from 140,000 to 220,000 bytes, by 80,000
    local leak = function() return 20, 20 end
    assert.same({1}, found({leak}, heap))
    assert.same({2, 1}, found({leak, function() return 100, 100 end}, heap))
    -- more bytes survived at line 2 than are in use; so most of these survivors must have died later
    assert.same({}, found({leak, function() return 300, 300 end}, heap))
    -- at line 2 alone more bytes survived than the heap's growth
    assert.same({1}, found({leak, function() return 160, 160 end}, heap))
  end)

  it("is none if it is a tiny part of the heap's growth", function()
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

  -- A former bug: if a server was idle, or a program did not run, for half of the session, no likely leak
  -- was found, whatever it kept.
  it("is found where nothing at all is allocated for half of the time", function()
    local function busy(part) return part % 8 < 3 end
    local function keeps(part) return busy(part) and 9 or 0, busy(part) and 9 or 0 end
    assert.same({1}, found{keeps})
    assert.same({1}, found{keeps, function(part) return busy(part) and 50 or 0, 0 end})
    -- the second line allocates in all parts of the run, so that the program was never idle
    assert.same({}, found{keeps, function() return 50, 0 end})
  end)

  it("is not derived from a handful of samples", function()
    assert.same({}, found{function(part)
      return part < 11 and 1 or 0, part < 11 and 1 or 0
    end})
    assert.same({1}, found{function(part)
      return part ~= 5 and 1 or 0, part ~= 5 and 1 or 0
    end})
    local p = session({function() return 1, 1 end}, function(part)
      return 100000 + 10000 * part
    end)
    -- removes the rows of all parts after the eighth
    for _, column in pairs(p.bins) do
      if type(column) == "table" then
        for i = #column, 9, -1 do column[i] = nil end
      end
    end
    p.bins.n = 8
    for i = 1, 8 do p.bins.bytes[i], p.bins.survivedbytes[i] = 1000, 1000 end
    assert.is_true(leaks.of(p).kept)
    assert.same({}, leaks.of(p).rows)
    for i = 1, 8 do p.bins.survived[i], p.bins.samples[i] = 2, 2 end
    assert.equal(1, #leaks.of(p).rows)
  end)

  it("cannot be found in files without times, outcomes or lines", function()
    for _, change in ipairs{
      function(p) p.bins = nil end, function(p) p.bins.n = 7 end,
      function(p) p.fates = false end, function(p) p.lines = false end,
      function(p) p.course = nil end, function(p) p.survived = 0 end,
    } do
      local p = session({function() return 2, 2 end}, growing)
      assert.truthy(leaks.of(p))
      change(p)
      assert.is_nil(leaks.of(p))
    end
  end)

  -- Returns the leaks of a session for which later deaths are known. lines[i](part) returns three numbers:
  -- samples, survivors, and survivors that died later. 'major' has the parts in which a major collection
  -- ran. The other arguments are as for session().
  local function proved(lines, major, heap, stacks, types, period)
    local plain = {}
    for i, line in ipairs(lines) do
      plain[i] = function(part)
        local samples, survived = line(part)
        return samples, survived
      end
    end
    local p = session(plain, heap or growing, stacks, types, period)
    p.followed = 1000
    p.bins.later, p.bins.laterbytes = {}, {}
    for i, part in ipairs(p.bins.bin) do
      for k, line in ipairs(lines) do
        if p.sites.node[k] == p.bins.node[i] then
          p.bins.later[i] = select(3, line(part))
          p.bins.laterbytes[i] = (period and period(part) or 100) * p.bins.later[i]
        end
      end
    end
    if major then p.collections[major].major = true end
    return leaks.of(profiles.summed(p))
  end
  local function leak() return 40, 10, 0 end
  local function window(part) return 10, 10, part < 11 and 10 or 0 end
  local function lines(result)
    local list = {}
    for i, row in ipairs(result.rows) do list[i] = row.line end
    return list
  end

  it("is proved by live bytes: not by a cache that drops old entries", function()
    local found_ = proved({leak, window}, 15)
    assert.is_true(found_.proved)
    -- the 15th collection is within part 14, so that deaths are known for 14 parts
    assert.equal(14, found_.parts)
    assert.same({1}, lines(found_))
    local row = found_.rows[1]
    assert.same({140, 14000, 140, 560}, {row.kept, row.keptbytes, row.survived, row.samples})
  end)

  -- The heap grows by two megabytes, so that 1,000 bytes are insignificant.
  local function large(part) return 100000 + 125000 * part end
  -- Returns the function for the samples of an array that grows: 'size' samples in part 1, and twice as
  -- many each in parts 2, 4 and 8. Only the last vector is alive at the end.
  local function vector(size)
    return function(part)
      local n = ({[1] = 1, [2] = 2, [4] = 4, [8] = 8})[part]
      n = n and n * size or 0
      return n, n, part < 8 and n or 0
    end
  end

  it("is the closure that holds large objects, however small it is", function()
    local function payload() return 600, 600, 0 end
    local function closure() return 1, 1, 0 end
    -- this line keeps as many objects as it loses
    local function some() return 2, 2, 1 end
    local found_ = proved({payload, closure, some}, 15, large)
    assert.same({1, 2}, lines(found_))
    assert.same({14, 14, 14, 14}, {found_.rows[2].samples, found_.rows[2].kept,
                                   found_.rows[2].parts, found_.rows[2].of})
  end)

  it("is the table that grows, though only its last vector is alive", function()
    local function payload() return 600, 600, 0 end
    local types = {"string", "table array part", "table hash part", "table"}
    local grown = vector(1)
    local found_ = proved({payload, grown, grown, grown}, 15, large, nil, types)
    -- line 4, which allocates the table objects themselves, is not listed
    assert.same({1, 2, 3}, lines(found_))
    local row = found_.rows[2]
    assert.same({"table array part", 15, 8, 800, 4, 16},
                {row.type, row.samples, row.kept, row.keptbytes, row.parts, row.of})
    -- if no other line keeps objects, the array is listed only if it is large itself
    assert.same({}, lines(proved({grown}, 15, large, nil, {types[2]})))
    assert.same({1}, lines(proved({vector(100)}, 15, large, nil, {types[2]})))
  end)

  -- A former bug: numbers of samples were compared instead of bytes. The last vector had fewer samples than
  -- the smaller ones before it, because the period had been doubled.
  it("is the table that grows, by bytes and not by samples", function()
    local function sampled(part)
      local n = ({[1] = 300, [2] = 300, [4] = 300, [8] = 200})[part] or 0
      return n, n, part < 8 and n or 0
    end
    local function period(part) return ({[1] = 50, [2] = 100, [4] = 200, [8] = 600})[part] or 600 end
    assert.same({1}, lines(proved({sampled}, 15, large, nil, {"table array part"}, period)))
  end)

  it("is no table that was built once, nor one that is built again and again", function()
    local function early(part)
      local n = ({[0] = 10, 20, 40})[part] or 0
      return n, n, part < 2 and n or 0
    end
    local function again(part) return 20, 20, part < 15 and 20 or 0 end
    local function twice(part) return part % 8 == 7 and 20 or 0, part % 8 == 7 and 20 or 0, 0 end
    local types = {"table array part", "table array part", "table array part"}
    assert.same({}, lines(proved({early, again, twice}, 15, growing, nil, types)))
  end)

  it("is shown with related lines: of its function, its caller, or another callee", function()
    local function of(n) return function() return n, n, 0 end end
    local found_ = proved({of(50), of(90), of(10), of(20), of(5)}, 15, large, {
      "main@90 serve@91 body@1", "main@90 other@2", "main@90 serve@3",
      "main@90 other@92 helper@4", "main@90 serve@93 [C]pcall on@5"})
    assert.same({2, 4, 1, 3, 5}, lines(found_))
    local groups = {}
    for i, row in ipairs(found_.rows) do groups[i] = row.group end
    assert.same({1, 1, 2, 2, 2}, groups)
    -- functions that the main program calls are not grouped
    found_ = proved({of(50), of(90)}, 15, large, {"main@90 f@1", "main@91 g@2"})
    assert.same({1, 2}, {found_.rows[1].group, found_.rows[2].group})
  end)

  it("is guessed when no major collection came late enough", function()
    for _, major in ipairs{false, 3} do
      local found_ = proved({leak, window}, major)
      assert.is_false(found_.proved)
      assert.equal(N, found_.parts)
      -- of line 1 only a quarter of the samples survives
      assert.same({2}, lines(found_))
    end
  end)

  -- The option rate= doubles the period when there are too many samples. A former bug: a line that
  -- allocated the same number of bytes, but then had fewer samples, seemed to have stopped.
  local function doubled(part) return 100 << part // 2 end
  local function even(bytes, share)
    return function(part)
      local n = math.ceil(bytes / doubled(part))
      return n, n * (share or 1) // 1 | 0, 0
    end
  end
  local function doubling(part) return 100000 + 12500 * part end

  -- A queue that grows has removed its first elements.
  it("is a line that keeps objects of half of the run, if the heap grows evenly", function()
    local function queue(part) return 20, part > 6 and 20 or 0 end
    assert.same({1}, found{queue})
    assert.same({}, found({queue}, function(part) return part < 8 and 100000 or 130000 end))
  end)

  -- The line allocates less in the last quarter, but not below a quarter of its rate. Line 2 shows that the
  -- program did most of its work then.
  it("has stopped if the program does much other work later", function()
    local function warms(part) return part < 12 and 20 or 6, part < 12 and 20 or 6 end
    assert.same({1}, found{warms, function() return 50, 0 end})
    assert.same({}, found{warms, function(part) return part < 12 and 50 or 2000, 0 end})
  end)

  -- 1 sample is less than a quarter of the 5 that an even rate would give, but so few samples prove nothing.
  it("has not stopped if only a few samples are missing", function()
    local function keeps(times)
      return function(part)
        local n = part < 4 and 1 or part < 12 and 2 or part == 14 and 1 or 0
        return n * times, n * times
      end
    end
    local function other() return 50, 0 end
    assert.same({1}, found{keeps(1), other})
    assert.same({}, found{keeps(2), other})
  end)

  it("makes a slow growth one, if the leaks explain most of it", function()
    local function slow(part) return 1000000 + 5000 * part end
    local function keeps(n) return function() return n, n end end
    -- the heap grows by 4%: by 40,000 bytes; the line keeps 7,000 or 140,000 bytes from the second half
    assert.same({1}, found({keeps(10)}, slow))
    local function lives(n) return function() return n, n, 0 end end
    assert.same({1}, lines(proved({lives(10)}, 15, slow)))
    assert.same({}, lines(proved({lives(200)}, 15, slow)))
    assert.same({}, found({keeps(10)}, function(part) return 1000000 + 1000 * part end))
  end)

  it("is a growing table only if lines that have stopped keep less", function()
    local function loaded(n)
      return function(part) return part < 8 and n or 0, part < 8 and n or 0, 0 end
    end
    local types = {"table array part", "table"}
    assert.same({1}, lines(proved({vector(100), loaded(50)}, 15, large, nil, types)))
    assert.same({}, lines(proved({vector(100), loaded(150)}, 15, large, nil, types)))
  end)

  it("is no growing table if its last vector has few samples", function()
    local function big(samples)
      return function(part)
        local n = ({[1] = 1, [2] = 1, [4] = 2, [8] = samples})[part] or 0
        return n, n, part < 8 and n or 0
      end
    end
    local function heap(part) return 100000 + 1000 * part end
    -- the line also keeps some objects of the first slice, so that it has enough samples for a row
    local function some(part) return part == 0 and 3 or 0, part == 0 and 3 or 0, 0 end
    local types, stacks = {"table array part", "table"}, {"f@1", "f@1"}
    assert.same({}, lines(proved({big(5), some}, 15, heap, stacks, types)))
    assert.same({1}, lines(proved({big(6), some}, 15, heap, stacks, types)))
  end)

  it("is a line that allocates as many bytes at the end, in fewer samples", function()
    for _, major in ipairs{15, false} do
      assert.same({1}, lines(proved({even(12800), even(51200, 0)}, major, doubling, nil, nil, doubled)))
    end
  end)

  it("has stopped if its bytes, not its samples, are much fewer", function()
    local early = even(51200)
    local function loaded(part)
      if part < 12 then return early(part) end
      return part == 13 and 1 or 0, part == 13 and 1 or 0, 0
    end
    assert.same({}, lines(proved({loaded, even(409600, 0)}, 15, doubling, nil, nil, doubled)))
  end)

  it("is found though other processes slow the program down at the end", function()
    local function busy(part) return part < 12 and 8 or 0, part < 12 and 8 or 0 end
    local function slowed(samples)
      local function worked(part) return part < 12 and 4 or samples, 0 end
      local p = session({busy, function() return 1, 0 end, worked}, function(part)
        return 100000 + 2000 * math.min(part, 12)
      end, nil, {"table", "string", "time"})
      p.kinds[7].time = true
      return #leaks.of(p).rows
    end
    -- samples of CPU time show that the program worked
    assert.same({1, 0}, {slowed(0), slowed(4)})
  end)

  -- A program at its memory limit: many collections free nothing, and hardly any code runs between them.
  it("is found though only collections run in the second half", function()
    local function heap(part) return 100000 + 5000 * math.min(part, 7) end
    local function starved(kinds)
      local p = session({function(part) return part < 8 and 20 or 0, part < 8 and 20 or 0 end,
                         function() return 20, 0 end, function(part) return part == 9 and 2 or 0, 0 end},
                        heap, {"f@1", "f@1 " .. kinds, "f@2"}, {"table", "time", "time"})
      p.kinds[6].time, p.kinds[7].time = true, true
      return leaks.of(p).rows
    end
    assert.equal(1, #starved "<minor>")
    -- the program works, but allocates nothing
    assert.equal(0, #starved "[C]g")
  end)
end)

describe("a program that keeps most of its bytes, whose end has no holders,", function()
  local function holding(steps, freed)
    local p = session({function() return 20, 20 end, function() return freed, 0 end}, growing)
    local h = {path = {#steps}, node = {p.sites.node[1]}, samples = {100}, bytes = {10000}, step = steps,
               parent = {}}
    for i = 1, #steps do h.parent[i] = i - 1 end
    p.holders = h
    local s = p.sites
    s.bytes = {32000, 1600 * freed}
    s.survivedbytes, s.undecidedbytes = {32000, 0}, {0, 0}
    return leaks.of(p)
  end

  -- A leak in a local variable cannot be distinguished from data of a program that a signal ended while it
  -- loaded them.
  it("has no leak in a local variable, but may have one", function()
    for _, steps in ipairs{{'local "t" of main chunk (x.lua)', "[1..n]"},
                           {'local "n" of f (x.lua:1)', '["left"]', '["right"]'}} do
      local r = holding(steps, 10)
      assert.same({}, r.rows)
      local one = r.maybe[1]
      assert.same({1, 320, "x.lua", 1, "f"}, {#r.maybe, one.samples, one.file, one.line, one.name})
      assert.equal(steps[1], one.holder:sub(1, #steps[1]))
    end
  end)

  it("has one in a field, or if most of its bytes were freed", function()
    assert.equal(1, #holding({'local "t" of main chunk (x.lua)', '["log"]', "[1..n]"}, 10).rows)
    assert.equal(1, #holding({'local "t" of main chunk (x.lua)', "[1..n]"}, 40).rows)
  end)
end)
