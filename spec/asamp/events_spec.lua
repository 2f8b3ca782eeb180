-- SPDX-License-Identifier: MIT
-- Records of a profile in both versions of the file format: time samples, classes, collections, markers,
-- and stacks written as differences. A decoder that belongs to the specs reads them back. The bytes of a
-- few records are compared literally.

local gen = require "profilegen"
local samples = require "spec.support.samples"
local vmprof = require "spec.support.vmprof"

local US, MS = 1000, 1000000  -- a microsecond and a millisecond in ns

-- Opens a profile, calls fill(profile, time) to write its records, and closes it. Returns its samples, the
-- text of the first details record, and the time in ns that was passed to 'fill'.
local function written(format, fill, options)
  local path = os.tmpname()
  local config = {path = path, format = format}
  for k, v in pairs(options or {}) do config[k] = v end
  local p = assert(gen.open(config))
  local t = gen.now()
  fill(p, t)
  local ok, totals = p:close()
  local bytes = vmprof.load(path)
  assert.is_true(ok)
  local log = vmprof.decode(bytes)
  vmprof.checkperiod(log)
  if format == 7 then vmprof.checkextended(log) end
  local list = samples.of_log(log)
  local details, n = {}, 1
  while log.metas["asamp." .. n] do
    details[n] = log.metas["asamp." .. n]
    n = n + 1
  end
  return list, table.concat(details), t, totals
end

local function functions(p)
  p:name(8, "main chunk", 0, "@/t/prog.lua")
  p:name(16, "f", 10, "@/t/prog.lua")
end

for format = 6, 7 do
  describe("version " .. format, function()
    describe("time samples", function()
      it("stand between those of allocation, in one order of time", function()
        local list, details, _, totals = written(format, function(p, t)
          functions(p)
          p:time{8, 1, time = t + 1 * MS}
          p:sample{16, 2, 8, 1, kind = 3, size = 40, time = t + 2 * MS}
          p:time{16, 3, 8, 1, time = t + 3 * MS}
          p:sample{8, 4, kind = 0, size = 5000, outside = true, time = t + 4 * MS}
          p:collection{fates = "01", time = t + 5 * MS}
        end, {timeperiod = MS})
        assert.equal(2, #list)
        assert.equal(2, #list.times)
        assert.equal(2, totals.samples)
        assert.equal(2, totals.timesamples)
        assert.same({1, 3}, {list.times[1].number, list.times[2].number})
        assert.same({2, 4}, {list[1].number, list[2].number})
        assert.equal("main chunk:1", samples.text(list.times[1].stack))
        assert.equal("f:3 main chunk:1", samples.text(list.times[2].stack))
        assert.equal("f:2 main chunk:1", samples.text(list[1].stack))
        assert.same({"string", "table"}, {list[1].kind, list[2].kind})
        assert.same({false, true}, {list[1].survived, list[2].survived})
        assert.same({false, true}, {list[1].outside, list[2].outside})
        local all = {list.times[1], list[1], list.times[2], list[2]}
        for i = 2, 4 do
          assert.is_true(math.abs(all[i].time - all[i - 1].time - 1000) <= 2)
        end
        assert.truthy(details:find "\ns 40 5000\n")
        assert.truthy(details:find "\no 4\n")
        if format == 7 then assert.truthy(details:find "\nkda\n") end
      end)

      it("have records of their own, without a type", function()
        local list = written(format, function(p)
          functions(p)
          p:time{16, 3, 8, 1, thread = 5}
          p:sample{8, 4}
        end, {timeperiod = MS})
        local stack = list.log.stacks[1]
        assert.equal(1, stack.marker)
        assert.same({3, 16, 1, 8}, stack.words)
        assert.equal(5, stack.thread)
        assert.equal(format == 7 and 9 or 1, list.log.stacks[2].marker)
        if format == 7 then
          assert.is_true(stack.lead > 0 and stack.lead <= list.log.stacks[2].lead)
        end
      end)

      it("within a collection have it as leaf", function()
        local list = written(format, function(p)
          functions(p)
          p:time{57, 0, 8, 1}
          p:time{59, 0, 8, 1}
        end, {timeperiod = MS})
        assert.equal("[minor collection] main chunk:1", samples.text(list.times[1].stack))
        assert.equal("[major collection] main chunk:1", samples.text(list.times[2].stack))
        assert.equal("n:[minor collection]:0:-", list.log.names[57])
        assert.equal("n:[major collection]:0:-", list.log.names[59])
      end)

      it("that represent several ticks are as many records", function()
        local list, details, _, totals = written(format, function(p)
          p:time{8, 1, count = 3}
          p:sample{8, 2, count = 2}
          p:time{8, 3}
          p:name(8, "f", 1, "@x")
        end, {timeperiod = MS})
        assert.equal(6, #list.log.stacks)
        assert.same({3, 1}, {list.times[1].count, list.times[2].count})
        assert.equal(2, list[1].count)
        assert.truthy(details:find "\nc 1 3 3 2 2 2\n")
        assert.equal(4, totals.timesamples)
        assert.equal(2, totals.samples)
      end)

      it("leave the fates to those of allocation", function()
        local list = written(format, function(p)
          functions(p)
          for i = 1, 1000 do
            p:time{8, i}
            if i % 10 == 0 then p:sample{8, i} end
            if i % 100 == 50 then p:collection{fates = "0110100101"} end
          end
        end, {timeperiod = MS})
        assert.equal(1000, #list.times)
        assert.equal(100, #list)
        local fates = {}
        for i = 1, 95 do fates[i] = list[i].survived and "1" or "0" end
        -- the record of the first collection has more outcomes than there were samples; the surplus is
        -- ignored
        assert.equal("01101" .. ("0110100101"):rep(9), table.concat(fates))
        for i = 96, 100 do assert.is_nil(list[i].survived) end
        assert.equal(5, list.undecided)
      end)

      it("alone make a profile that the converters take", function()
        local list = written(format, function(p)
          functions(p)
          for i = 1, 10 do p:time{8, i} end
        end, {timeperiod = 250 * US})
        assert.equal("0.00025", list.log.metas.period)
        assert.equal(250, list.log.period)
        assert.equal(0, list.undecided)
      end)
    end)

    describe("the period of time", function()
      it("is in the head if the profile starts with it", function()
        for _, wall in ipairs{false, true} do
          local list, details = written(format, function(p)
            p:time{8, 1}
            p:name(8, "f", 1, "@x")
          end, {timeperiod = MS, wall = wall})
          assert.equal(1000, list.log.period)
          assert.equal("0.001", list.log.metas.period)
          assert.same({{after = 0, ns = MS, wall = wall}}, list.timeperiods)
          assert.truthy(details:find(wall and "\nq 0 1000000 w\n" or "\nq 0 1000000 c\n"))
        end
      end)

      it("is 0.0 without a time sample, for a converter divides by them", function()
        local list = written(format, function(p) p:sample{8, 1} p:name(8, "f", 1, "@x") end,
                             {timeperiod = MS})
        assert.equal("0.0", list.log.metas.period)
        list = written(format, function(p)
          p:timeperiod(MS)
          p:sample{8, 1}
          p:timeperiod(0)
          p:name(8, "f", 1, "@x")
        end)
        assert.equal("0.0", list.log.metas.period)
        assert.equal(0, list.log.period)
      end)

      it("may start late, change and end; the meta has the first", function()
        local list = written(format, function(p)
          p:name(8, "f", 1, "@x")
          p:sample{8, 1}
          p:timeperiod(2 * MS)
          p:time{8, 2}
          p:time{8, 3}
          p:timeperiod(1000000001, true)
          p:time{8, 4}
          p:timeperiod(0, true)
        end)
        assert.equal("0.002", list.log.metas.period)
        assert.same({{after = 1, ns = 2 * MS, wall = false},
                     {after = 3, ns = 1000000001, wall = true},
                     {after = 4, ns = 0, wall = true}}, list.timeperiods)
      end)

      it("is written to the nanosecond, without an exponent", function()
        for ns, text in pairs{[1] = "0.000000001", [33333] = "0.000033333", [10 * MS] = "0.01",
                              [1500 * MS] = "1.5", [2000 * MS] = "2.0"} do
          local list = written(format, function(p) p:time{8, 1} p:name(8, "f", 1, "@x") end,
                               {timeperiod = ns})
          assert.equal(text, list.log.metas.period)
        end
      end)
    end)

    describe("classes", function()
      it("go with the fates, in runs", function()
        local list, details = written(format, function(p)
          p:name(8, "f", 1, "@x")
          for i = 1, 6 do p:sample{8, i} end
          p:class(1, "Point")
          p:class(2, "a class\nof two lines, \255 \27[1m:")
          p:collection{fates = "000111", classes = {1, 1, 0, 2, 1, 1}}
          p:sample{8, 7}
          p:collection{fates = "1", classes = {2}}
          p:sample{8, 8}
          p:collection{fates = "0"}
        end)
        assert.same({"Point", "a class;of two lines, \u{FFFD} ;[1m:"}, list.classes)
        local got = {}
        for i, s in ipairs(list) do
          got[i] = (s.class or "-"):sub(1, 1) .. (s.survived and "1" or "0")
        end
        assert.equal("P0 P0 -0 a1 P1 P1 a1 -0", table.concat(got, " "))
        -- the second collection has the same time in us as the first one, so that the letter g of its record
        -- has no numbers
        assert.truthy(details:find "\nf 3 3\nl 2 1 1 0 1 2 2 1\ng[ \n]")
        assert.truthy(details:find "\nf 0 1\nl 1 2\ng[ \n]")
        assert.truthy(details:find "\nf 1\ng[ \n]")
      end)

      it("follow their fates through many pieces", function()
        local n, fates, classes = 150000, {}, {}
        for i = 1, n do
          fates[i] = i % 7 == 0 and "1" or "0"
          classes[i] = i % 1000 < 500 and i // 50000 % 3 or 0
        end
        local list = written(format, function(p)
          p:name(8, "f", 1, "@x")
          p:flood(n, {8, 1})
          p:class(1, "one")
          p:class(2, "two")
          p:collection{fates = table.concat(fates), classes = classes}
        end)
        local names = {[0] = nil, "one", "two"}
        for i = 1, n do
          if list[i].class ~= names[classes[i]] or list[i].survived ~= (i % 7 == 0) then
            error("sample " .. i .. " has another fate or class")
          end
        end
      end)

      it("with a long name lose its end, not half a character", function()
        local list = written(format, function(p) p:class(1, "x" .. ("é"):rep(500)) end)
        assert.equal("x" .. ("é"):rep(127), list.classes[1])
      end)
    end)

    it("collections have time, memory, duration, tenured bytes and state", function()
      local list, details, t = written(format, function(p, t)
        p:collection{time = t, inuse = 100, held = 1000, rss = 5000 * 1024, duration = 1234567,
                     tenured = 77, state = 1, planned = 512, charged = 520, processor = 1000999}
        p:collection{time = t + 5 * MS, inuse = 90, held = 2000, rss = 5000 * 1024, major = true,
                     minors = 3, majors = 1, state = 3, planned = 5, charged = 9}
        p:collection{time = t + 6 * MS, inuse = 95, held = 1500, rss = 4000 * 1024, duration = 999,
                     tenured = 1 << 40, majors = 2, planned = 512, charged = 512, remembered = 70,
                     stacks = 1 << 33, listed = 9, left = 7654321, slices = 1234567, mutator = 2345678}
      end)
      local start = math.tointeger(list.log.metas["asamp.start"])
      for _, g in ipairs(list.gcs) do g.time = g.time + start - t // US end
      local function near(us) return math.abs(us) <= 1 and 0 or us end
      assert.equal(0, near(list.gcs[1].time))
      assert.equal(0, near(list.gcs[2].time - 5000))
      assert.equal(0, near(list.gcs[3].time - 6000))
      for _, g in ipairs(list.gcs) do g.time = nil end
      local function looked(g)
        local l = {g.remembered, g.stacks, g.weak, g.listed}
        g.remembered, g.stacks, g.weak, g.listed = nil, nil, nil, nil
        return l
      end
      assert.same({0, 0, 0, 0}, looked(list.gcs[1]))
      assert.same({0, 0, 0, 0}, looked(list.gcs[2]))
      assert.same({70, 1 << 33, 0, 9}, looked(list.gcs[3]))
      assert.same({
        {major = false, inuse = 100, held = 1000, rss = 5000 * 1024, duration = 1234, tenured = 77,
         state = 1, minors = 0, majors = 0, planned = 512, charged = 520, processor = 1000, left = 0,
         slices = 0, mutator = 0},
        {major = true, inuse = 90, held = 2000, rss = 5000 * 1024, duration = 0, tenured = 0, state = 3,
         minors = 3, majors = 1, planned = 5, charged = 9, processor = 0, left = 0, slices = 0,
         mutator = 0},
        {major = false, inuse = 95, held = 1500, rss = 4000 * 1024, duration = 0, tenured = 1 << 40,
         state = 0, minors = 0, majors = 2, planned = 512, charged = 512, processor = 0, left = 7654,
         slices = 1234, mutator = 2345}},
        list.gcs)
      assert.truthy(details:find "\ng %-?%d+ 1234 77 23 1000 5000 1 0 0 0 512 8 %-234\n")
      assert.truthy(details:find "\nG 5000 0 0 %-10 1000 0 3 3 1 0 5 4\n")
    end)

    if format == 7 then
      it("object records have the state of the major collection", function()
        local list = written(7, function(p)
          p:name(8, "f", 1, "@x")
          for state = 0, 3 do
            p:sample{8, 1}
            p:collection{fates = "1", state = state}
          end
          p:sample{8, 1}
          -- a complete major collection in one call: no phase of a collection is active afterwards
          p:collection{fates = "1", major = true}
          p:sample{8, 1}
          p:collection{fates = "1", major = true, state = 2}
        end)
        local states = {}
        for i, o in ipairs(vmprof.checkextended(list.log)) do states[i] = o.stats[4] end
        assert.same({0, 1, 2, 3, 3, 2}, states)
      end)

      it("no object record of marking comes directly after one of finalizing", function()
        local list = written(7, function(p)
          p:name(8, "f", 1, "@x")
          for state in ("33112311"):gmatch "." do
            p:sample{8, 1}
            p:collection{fates = "1", state = tonumber(state)}
          end
        end)
        local states = {}
        for i, o in ipairs(vmprof.checkextended(list.log)) do states[i] = o.stats[4] end
        assert.equal("33012301", table.concat(states))
      end)
    end

    describe("markers", function()
      it("have time, name and value, among the collections", function()
        local list, details = written(format, function(p, t)
          p:mark("loaded", "", t + 1 * MS)
          p:collection{time = t + 3 * MS}
          p:mark("a b", " 12 c", t + 4 * MS)
          p:mark("early", "x", t + 2 * MS)
        end)
        assert.same({"loaded", "a b", "early"},
                    {list.marks[1].name, list.marks[2].name, list.marks[3].name})
        assert.same({"", " 12 c", "x"},
                    {list.marks[1].value, list.marks[2].value, list.marks[3].value})
        local base = list.marks[1].time
        assert.equal(2000, list.gcs[1].time - base)
        assert.equal(3000, list.marks[2].time - base)
        assert.equal(1000, list.marks[3].time - base)
        assert.truthy(details:find "\nm %d+ 6 loaded\ng 2000\n")
        assert.truthy(details:find "\nm 1000 3 a b 12 c\nm %-2000 5 earlyx\n")
      end)

      it("of any bytes stay one line of UTF-8, the name as long as it says", function()
        local list = written(format, function(p)
          p:mark("\255é\n", "\0\226\130")
          p:mark("", "")
          p:mark(("€"):rep(100), ("é"):rep(3000))
        end)
        assert.same({name = "\u{FFFD}é;", value = ";\u{FFFD}\u{FFFD}"},
                    {name = list.marks[1].name, value = list.marks[1].value})
        assert.same({"", ""}, {list.marks[2].name, list.marks[2].value})
        assert.equal(("€"):rep(85), list.marks[3].name)
        assert.equal(("é"):rep(2047), list.marks[3].value)
      end)

      it("in thousands fill several batches", function()
        local value = ("v"):rep(4000)
        local list = written(format, function(p)
          for i = 1, 400 do p:mark("m" .. i, value) end
        end)
        assert.equal(400, #list.marks)
        assert.truthy(list.log.metas["asamp.3"])
        for i, m in ipairs(list.marks) do assert.equal("m" .. i, m.name) end
      end)
    end)

    -- The model is the whole stack of every sample. The spec passes the number of outer frames that are
    -- unchanged since the previous sample, or a smaller number, which is always valid, and the other
    -- frames.
    it("stacks reported as differences are complete in the file", function()
      local seed = 20261121 + format
      local random = math.random
      math.randomseed(seed)
      local model, stack = {}, {}  -- 'stack': list of {id, line}, outermost frame first
      local list = written(format, function(p)
        for i = 1, 40 do p:name(8 * i, "f" .. i, i, "@x") end
        for i = 1, 3000 do
          local shared = random(0, #stack)
          local deep = random(60) == 1 and 2500 or 12
          for k = #stack, shared + 1, -1 do stack[k] = nil end
          local new = {}
          for _ = 1, random(0, deep) do
            stack[#stack + 1] = {random(40) * 8, random(0, 999)}
          end
          shared = random(4) == 1 and random(0, shared) or shared
          for k = #stack, shared + 1, -1 do
            new[#new + 1] = stack[k][1]
            new[#new + 1] = stack[k][2]
          end
          new.shared = shared
          if random(2) == 1 then p:sample(new) else p:time(new) end
          local words = {}
          for k = #stack, 1, -1 do
            if #stack > 1024 and k == #stack - 512 then
              words[#words + 1] = "0 63"
            elseif #stack <= 1024 or k > #stack - 512 or k <= 511 then
              words[#words + 1] = stack[k][2] .. " " .. stack[k][1]
            end
          end
          model[i] = #words == 0 and "0 61" or table.concat(words, " ")
        end
      end, {timeperiod = MS})
      assert.equal(3000, #list.log.stacks)
      local allocation = {}
      for _, s in ipairs(list) do allocation[s.number] = true end
      for i, s in ipairs(list.log.stacks) do
        local typed = format == 6 and allocation[i]
        if table.concat(s.words, " ", typed and 3 or 1) ~= model[i] then
          error(("sample %d differs (seed %d)"):format(i, seed))
        end
      end
    end)
  end)
end
