-- SPDX-License-Identifier: MIT
-- The bytes of both versions of VMProf files. They are checked by a decoder that shares no code with the
-- encoder and is as strict as the strictest reader of such files.

local gen = require "profilegen"
local vmprof = require "spec.support.vmprof"

local PERIOD = 4096

-- Opens a profile of this version, calls 'fill' to write its records, and closes it. Returns the decoded
-- file.
local function written(format, fill, options)
  local path = os.tmpname()
  local config = {path = path, format = format, period = PERIOD,
                  command = "lua prog.lua"}
  for k, v in pairs(options or {}) do
    config[k] = v
  end
  local p = assert(gen.open(config))
  fill(p)
  local ok, totals = p:close()
  local bytes, packed = vmprof.load(path)
  assert.is_true(ok)
  assert.equal(0, totals.lost)
  return vmprof.decode(bytes), totals, packed, bytes
end

-- Returns the names and lines of the frames of a stack as text, outermost first.
local function path(log, stack)
  local list = {}
  for i = #stack.words, 2, -2 do
    local name = assert(log.names[stack.words[i]], "frame without a name")
    list[#list + 1] = name:match "^%w+:([^:]*):" .. "@" .. stack.words[i - 1]
  end
  return table.concat(list, " ")
end

local function functions(p)
  p:name(8, "main chunk", 0, "@/t/prog.lua")
  p:name(16, "f", 10, "@/t/prog.lua")
end

describe("the stock flavour", function()
  local log, totals, packed, bytes = written(6, function(p)
    functions(p)
    p:sample{16, 12, 8, 3, kind = 0, size = 56}
    p:sample{16, 12, 0x7f0011, 0, 8, 4, kind = 3, size = 5 * PERIOD, count = 5,
             outside = true}
    p:collection{inuse = 1000, held = 2000, rss = 3000 * 1024, fates = "01"}
    p:sample{8, 5, kind = 11}
  end, {native = true, resolve = "plain"})

  it("is version 6 in lines mode by the interpreter lua", function()
    assert.equal(6, log.version)
    assert.equal(2 | 4, log.mode)
    assert.equal("lua", log.interpreter)
    assert.equal(0, log.period)
  end)

  it("is compressed, and plain on request", function()
    assert.is_true(packed)
    local other, _, otherpacked = written(6, functions, {plain = true})
    assert.is_false(otherpacked)
    assert.equal("lua", other.interpreter)
  end)

  it("starts with the five words and the big-endian version", function()
    assert.equal(string.pack("<i8i8i8i8i8", 0, 3, 0, 0, 0), bytes:sub(1, 40))
    assert.equal("\5\0\6\6\3lua\6", bytes:sub(41, 49))
  end)

  it("writes a sample as often as it counts", function()
    assert.equal(7, #log.stacks)
    assert.equal(7, totals.samples)
    for i = 3, 6 do
      assert.same(log.stacks[2].words, log.stacks[i].words)
    end
  end)

  it("shows the type as leaf, with an odd id that is no address", function()
    assert.equal("main chunk@3 f@12 table@0", path(log, log.stacks[1]))
    assert.equal("main chunk@4 sym_7f0010@0 f@12 string@0",
                 path(log, log.stacks[2]))
    assert.equal("main chunk@5 buffer@0", path(log, log.stacks[7]))
    for _, stack in ipairs(log.stacks) do
      local id = stack.words[2]
      assert.equal(1, id % 2)
      assert.is_true(id < 4096)
    end
  end)

  it("names the kinds that it has, and no other", function()
    local has, named = {}, {}
    for _, stack in ipairs(log.stacks) do has[stack.words[2]] = true end
    for k, kind in ipairs(gen.kinds) do
      local id = 2 * k - 1
      named[id] = has[id] and "n:" .. kind .. ":0:-"
      assert.equal(named[id], log.names[id])
    end
    assert.truthy(next(named))
  end)

  it("names native addresses by native records", function()
    assert.equal("n:sym_7f0010:0:/lib/libgen.so", log.names[0x7f0011])
  end)

  it("has the metas that readers want, and no time offset", function()
    assert.equal("linux", log.metas.os)
    assert.equal("64", log.metas.bits)
    assert.equal("0.0", log.metas.period)
    assert.equal(tostring(PERIOD), log.metas.sample_allocated_bytes)
    assert.equal("lua prog.lua", log.metas.argv)
    -- in a file with this metadata, a reader would take the counts of records for times
    assert.is_nil(log.metas.start_time_offset)
  end)

  it("ends with a trailer, and nothing after it", function()
    assert.equal(3, log.records[#log.records])
    assert.equal(0, log.left)
    assert.is_true(log.ended >= log.started)
    assert.is_true(math.abs(log.started / 1e6 - os.time()) < 3600)
  end)

  it("stores data without a record in version 6 in metas", function()
    local first = log.metas["asamp.1"]
    assert.equal("3", log.metas["asamp.format"])
    assert.equal("1", log.metas["asamp.undecided"])
    assert.truthy(first:find "^n 3\nt %d+ %d+ %d+\ns 56 20480 56\nc 2 5 5\no 2\n")
    assert.truthy(first:find "\nf 1 1\ng %d+ 0 0 1000 2000 3000\n")
  end)
end)

describe("the extended flavour", function()
  local log = written(7, function(p)
    functions(p)
    p:sample{16, 12, 8, 3, kind = 0, size = 56}
    p:sample{16, 12, 8, 4, kind = 3, size = 5 * PERIOD, count = 3,
             outside = true}
    p:sample{8, 3, kind = 4}
    p:collection{inuse = 1000, held = 2000, rss = 3000 * 1024, fates = "011"}
    p:collection{inuse = 900, held = 2000, rss = 3000 * 1024, fates = ""}
    p:sample{8, 6, kind = 7}
    p:collection{inuse = 800, held = 2000, rss = 3000 * 1024, major = true,
                 fates = "0"}
    p:sample{8, 5, kind = 11}
  end)
  local objects = vmprof.checkextended(log)

  it("is version 7 with GC stacks only", function()
    assert.equal(7, log.version)
    assert.equal(2, log.mode)
    for _, stack in ipairs(log.stacks) do
      assert.equal(9, stack.marker)
      assert.equal(0, stack.thread)
    end
    assert.equal("main chunk@3 f@12", path(log, log.stacks[1]))
  end)

  it("has an object for every stack, the undecided ones too", function()
    assert.equal(#log.stacks, #objects)
    local list = {}
    for i, o in ipairs(objects) do
      list[i] = ("%d%d%d"):format(o.type, o.outside, o.survived)
    end
    assert.equal("000 311 311 311 401 700 1100", table.concat(list, " "))
    assert.equal("1", log.metas["asamp.undecided"])
  end)

  it("writes the newest object of a record first, then the stats", function()
    local words = log.objects[1].words
    assert.same({4 << 2 | 1, 3 << 2 | 3, 3 << 2 | 3, 3 << 2 | 3, 0,
                 1000, 2000, 3000 * 1024, 0}, words)
  end)

  it("writes a record only for collections with samples", function()
    -- one record for each of two collections, and one for the undecided samples
    assert.equal(3, #log.objects)
    assert.same({800, 2000, 3000 * 1024, 3}, objects[6].stats)
  end)

  it("names the stats in their order, and the types", function()
    assert.equal("total_memory_used", log.metas.gc_stats__0)
    assert.equal("total_size_of_arenas", log.metas.gc_stats__1)
    assert.equal("VmRSS", log.metas.gc_stats__2)
    assert.equal("gc_state", log.metas.gc_stats__3)
    assert.is_nil(log.metas.gc_stats__4)
    for k, kind in ipairs(gen.kinds) do
      assert.equal(kind, log.metas["__rtype_" .. k - 1])
    end
  end)

  it("counts time from start_time_offset", function()
    local start = tonumber(log.metas.start_time_offset)
    local length = (log.ended - log.started) / 1e6
    for _, stack in ipairs(log.stacks) do
      assert.is_true(stack.lead >= start)
      assert.is_true(stack.lead <= start + length + 1e-3)
    end
  end)

  it("carries sizes, kinds and fates in the private metas too", function()
    assert.truthy(log.metas["asamp.1"]:find(
      "^n 5\nkadehl\ns 56 20480 56 56 56\nc 2 3 3\no 2\nf 1 2\ng[ \n]"))
  end)
end)

describe("traps of the readers", function()
  for format = 6, 7 do
    local function check(fill, options)
      local log, totals = written(format, fill, options)
      if format == 7 then
        vmprof.roomy(vmprof.checkextended, log)
      end
      return log, totals
    end

    describe("in version " .. format, function()
      it("no sample at all: still a log that ends well", function()
        local log = check(function() end)
        assert.equal(0, #log.stacks)
        assert.equal("0", log.metas["asamp.undecided"])
      end)

      it("colons and newlines in names", function()
        local log = check(function(p)
          p:name(8, "a:b\n\r\0x" .. "\27[1m", 1, "@c:/d\te.lua")
        end)
        assert.equal("py:a;b;;:1:c;/d;e.lua", log.names[8])
      end)

      it("control characters", function()
        local log = check(function(p)
          p:name(8, "\27[1m\127", 1, "=stdin")
        end)
        assert.equal("py:;[1m;:1:stdin", log.names[8])
      end)

      it("names that are not UTF-8", function()
        local bad = {"\255", "\192\128", "\237\160\128", "\244\144\128\128",
                     "\226\130", "\128", "\240\128\128\128", "\224\128\128"}
        local log = check(function(p)
          for i, s in ipairs(bad) do
            p:name(8 * i, "x" .. s .. "y", 1, "@" .. s)
          end
        end)
        for i, s in ipairs(bad) do
          local marks = ("\u{FFFD}"):rep(#s)
          assert.equal("py:x" .. marks .. "y:1:" .. marks, log.names[8 * i])
        end
      end)

      it("names that are", function()
        local good = "é€𝄞\u{D7FF}\u{E000}\u{10FFFF}"
        local log = check(function(p) p:name(8, good, 7, "@" .. good) end)
        assert.equal("py:" .. good .. ":7:" .. good, log.names[8])
      end)

      it("metas that are not UTF-8", function()
        local log = check(function() end, {command = "lua \255"})
        assert.equal("lua \u{FFFD}", log.metas.argv)
      end)

      it("empty names", function()
        local log = check(function(p) p:name(8, "", -1, "") end)
        assert.equal("py:?:0:-", log.names[8])
      end)

      it("names too long: the name loses its end, the file its start", function()
        for _, unit in ipairs{"a", "é", "€", "\255"} do
          local log = check(function(p)
            p:name(8, "N" .. unit:rep(2000), 1, "@" .. unit:rep(2000) .. "Z")
          end)
          local name, file = log.names[8]:match "^py:([^:]*):1:(.*)$"
          assert.truthy(name:find "^N" and #name > 390)
          assert.truthy(file:find "^%.%.%..*Z$" and #file > 390)
          assert.is_true(#log.names[8] <= 1023)
        end
      end)

      it("a file just as long as fits is not cut", function()
        local room = 1023 - #"py:f:1:"
        local log = check(function(p)
          p:name(8, "f", 1, "@" .. ("x"):rep(room))
          p:name(16, "f", 1, "@" .. ("x"):rep(room + 1))
        end)
        assert.equal("py:f:1:" .. ("x"):rep(room), log.names[8])
        assert.equal("py:f:1:..." .. ("x"):rep(room - 3), log.names[16])
      end)

      it("native names with colons and bytes of no encoding", function()
        local log = check(function(p) p:sample{0x7f0001, 0} end,
                          {resolve = "hostile"})
        assert.equal("n:std;;vector<\u{FFFD}>;:0:/lib/a;b\u{FFFD}.so",
                     log.names[0x7f0001])
      end)

      it("an address is named once, however often it comes", function()
        local log = check(function(p)
          for i = 1, 3000 do
            p:sample{0x7f0001 + 2 * (i % 1000), 0, 0x7f0001, 0}
          end
        end, {resolve = "plain"})
        for i = 0, 999 do
          assert.truthy(log.names[0x7f0001 + 2 * i])
        end
      end)

      it("an empty stack has a frame", function()
        local log = check(function(p) p:sample{} end)
        assert.truthy(path(log, log.stacks[1]):find "^%[no function%]@0")
      end)

      it("ids that read as lines are replaced", function()
        local log = check(function(p) p:sample{0, 1, -8, 2, math.mininteger, 3} end)
        assert.truthy(path(log, log.stacks[1]):find "^%[no function%]@3")
      end)

      it("a stack deeper than 1,024 frames is cut, and says so", function()
        local deep = {}
        for i = 1, 40000 do
          deep[2 * i - 1], deep[2 * i] = 8, 40001 - i
        end
        local log = check(function(p)
          p:name(8, "f", 1, "@x")
          p:sample(deep)
          p:sample(table.move(deep, 1, 2 * 1024, 1, {}))
        end)
        for i = 1, 2 do
          local words = log.stacks[i].words
          local lines, cut = {}, 0
          for k = #words - 1, 1, -2 do
            if log.names[words[k + 1]]:find "frames cut" then
              cut = cut + 1
            elseif words[k + 1] == 8 then
              lines[#lines + 1] = words[k]
            end
          end
          assert.equal(2 - i, cut)
          assert.equal(i == 1 and 1023 or 1024, #lines)
          if i == 1 then
            assert.equal(1, lines[1])
            assert.equal(40000, lines[#lines])
          end
        end
      end)

      it("metas are numbered without gaps over many batches", function()
        local n = 40000
        local log = check(function(p)
          p:flood(n, {8, 1})
          p:collection{fates = ("0"):rep(n)}
        end)
        local sum, batch = 0, 1
        while log.metas["asamp." .. batch] do
          sum = sum + tonumber(log.metas["asamp." .. batch]:match "^n (%d+)\n")
          batch = batch + 1
        end
        assert.is_true(batch > 3)
        assert.equal(n, sum)
        assert.equal(n, #log.stacks)
        assert.equal("0", log.metas["asamp.undecided"])
      end)

      it("more objects in a collection than a record takes", function()
        local n, fates = 70000, {}
        for i = 1, n do
          fates[i] = i % 3 == 0 and "1" or "0"
        end
        local log = check(function(p)
          for i = 1, n do
            p:sample{8, 1, kind = i % 5}
          end
          p:collection{fates = table.concat(fates), inuse = 77}
        end)
        if format == 7 then
          local objects = vmprof.roomy(vmprof.checkextended, log)
          assert.equal(2, #log.objects)
          assert.equal(n, #objects)
          for i, o in ipairs(objects) do
            local fate = i % 3 == 0 and 1 or 0
            if o.type ~= i % 5 or o.survived ~= fate or table.concat(o.stats, " ") ~= "77 0 0 0" then
              error(("object %d: type %d, survived %d"):format(i, o.type, o.survived))
            end
          end
        end
      end)

      it("a count of millions is not repeated for ever #plain", function()
        local log, totals = check(function(p)
          p:sample{8, 1, count = 1 << 40, size = 1 << 52}
          p:collection{fates = "1"}
        end)
        assert.equal(1 << 40, totals.samples)
        assert.is_true(#log.stacks > 300000 and #log.stacks < 1000000)
        local count, copies =
          log.metas["asamp.1"]:match "\nc 1 (%d+) (%d+)\n"
        assert.equal(tostring(1 << 40), count)
        assert.equal(tostring(#log.stacks), copies)
      end)

      it("times that go back are held at the latest", function()
        local t = gen.now() + 1000000000
        local log = check(function(p)
          p:sample{8, 1, time = t}
          p:sample{8, 1, time = t - 500000000}
          p:collection{fates = "11", time = t - 500000000}
        end)
        if format == 7 then
          assert.equal(log.stacks[1].lead, log.stacks[2].lead)
        else
          assert.truthy(log.metas["asamp.1"]:find "^n 2\nt %d+ 0\n")
        end
      end)
    end)
  end
end)
