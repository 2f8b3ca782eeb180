-- SPDX-License-Identifier: MIT
-- `asamp convert` to pprof, collapsed stacks, speedscope and the other version of VMProf. The spec decodes
-- each file and compares it with the reader's totals, to the byte. It also covers the arguments of the
-- command, and its reaction if the file cannot be written.

local asamp = require "asamp.commands.convert"
local cjson = require "cjson"
local commands = require "spec.support.commands"
local process = require "spec.support.process"
local profiler = require "profiler.convert"
local protobuf = require "spec.support.protobuf"
local reader = require "profiler.reader"
local runs = require "spec.support.runs"
local shell = require "spec.support.shell"
local vmprof = require "spec.support.vmprof"

local folder, path

local run = commands.of(asamp)

local function convert(...)
  local out = folder .. "/out"
  local code, _, err = run("-o", out, ...)
  assert.equal(0, code, err)
  return (vmprof.load(out))
end

local function list()
  return shell.output("ls -A '" .. folder .. "'")
end

-- Returns the sums of samples, objects and bytes over all allocation sites of a profile. Time samples are
-- summed separately, in the field 'time'.
local function sums(profile)
  local sites, s = profile.sites, {time = 0}
  for i in ipairs(sites.node) do
    if profile.kinds[sites.kind[i]].time then
      s.time = s.time + sites.samples[i]
    end
  end
  return s
end

describe("asamp convert", function()
  before_each(function()
    folder = shell.folder()
    path = folder .. "/p.vmprof"
  end)

  -- Calls f with 16 profiles of random programs (seeds 1 to 16). Some profiles have only allocation
  -- samples, some only time samples.
  local function each(f)
    for seed = 1, 16 do
      runs.write(path, {
        seed = seed, format = 6 + seed % 2, time = seed % 3 ~= 0,
        allocations = seed % 5 ~= 0, undecided = seed % 4 == 0,
        actions = 50 * seed,
      })
      f(assert(reader.read(path)), seed)
    end
  end

  it("--to pprof: sample types, totals, labels", function()
    each(function(profile)
      local p = protobuf.profile(convert("--to", "pprof", path))
      local heap = "alloc_objects/count alloc_space/bytes " ..
                   "inuse_objects/count inuse_space/bytes"
      local time = "samples/count " .. (profile.wall and "wall" or "cpu") ..
                   "/nanoseconds"
      assert.equal(profile.timesamples == 0 and heap
                   or profile.samples == 0 and time
                   or heap .. " " .. time, table.concat(p.types, " "))
      local total = {}
      for _, s in ipairs(p.samples) do
        for i, v in ipairs(s.values) do
          total[p.types[i]] = (total[p.types[i]] or 0) + v
        end
        local kept = s.labels.type and s.values[4]
        assert.is_true(not kept or kept <= s.values[2])
      end
      if profile.samples > 0 then
        assert.equal(profile.bytes, total["alloc_space/bytes"])
        assert.equal(profile.survivedbytes - profile.laterbytes +
                       profile.undecidedbytes,
                     total["inuse_space/bytes"])
        assert.equal("space/bytes", p.periodtype)
        assert.equal(profile.period, p.period)
        local objects = 0
        for _, kind in ipairs(profile.kinds) do
          objects = objects + kind.objects
        end
        -- tolerance of half an object for each site, because the object count of each site is rounded
        assert.is_true(math.abs(objects - total["alloc_objects/count"])
                       <= #p.samples / 2 + 1)
      end
      if profile.timesamples > 0 then
        assert.equal(profile.timesamples, total["samples/count"])
      end
    end)
  end)

  it("pprof of a part has the samples in that part, and its length", function()
    local function part(options)
      assert(profiler.pprof(path, folder .. "/part", options))
      local p = protobuf.profile(vmprof.load(folder .. "/part"))
      local added = {}
      for _, s in ipairs(p.samples) do
        for i, v in ipairs(s.values) do added[i] = (added[i] or 0) + v end
      end
      return added, p.duration, p.nanos
    end
    each(function()
      local all, length, zero = part{}
      local middle = length // 2000
      local first, before = part{till = middle}
      local second, after, at = part{since = middle}
      assert.same({middle * 1000, length - middle * 1000, zero + middle * 1000}, {before, after, at})
      for i, n in ipairs(all) do  -- tolerance, because the number of objects of each line is rounded
        local sum = (first[i] or 0) + (second[i] or 0)
        assert.is_true(i % 2 == 0 and sum == n or math.abs(sum - n) < 1000, i)
      end
      assert.equal(length, select(2, part{till = length}))
      local none, nothing = part{since = middle, till = middle}
      assert.same({{}, 0}, {none, nothing})
    end)
  end)

  -- A former bug: the pprof file of an idle process, which has no time sample, had the sample types of
  -- allocations, although a CPU profile was requested.
  it("pprof has the sample types that are requested, without any sample of them, too", function()
    local heap = "alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes"
    local time = "samples/count cpu/nanoseconds"
    -- Profiles the code with these options. Returns the sample types of the converted profile, and
    -- its default type.
    local function types(options, code, first)
      local source = ("local p = require 'profiler' p.enable{out = %q, overwrite = true, %s} %s p.disable()")
        :format(path, options, code)
      assert.equal(0, (process.code(source)))
      assert(profiler.pprof(path, folder .. "/part", {first = first}))
      local p = protobuf.profile(vmprof.load(folder .. "/part"))
      return {table.concat(p.types, " "), p.default, p.period}
    end
    local allocate = "for i = 1, 1000 do local t = {i} end"
    assert.same({time, "cpu", 10000000}, types("alloc = 0, time = 100", "", "time"))
    assert.same({heap .. " " .. time, "cpu", 64}, types("alloc = 64", allocate, "time"))
    local busy = "local t = os.clock() while os.clock() - t < 0.2 do end"
    assert.same({heap .. " " .. time, "inuse_space", 524288},
                types("alloc = 0, time = 1000", busy, "inuse_space"))
  end)

  it("--to pprof: innermost frames first, lines, classes", function()
    local gen = require "profilegen"
    local p = assert(gen.open{path = path, period = 100})
    p:name(8, "leaf", 5, "@a.lua")
    p:name(16, "root", 1, "@b.lua")
    p:class(1, "Point")
    p:sample{8, 7, 16, 3, kind = 0, size = 50, count = 3}
    p:collection{fates = "1", classes = {1}}
    p:close()
    local f = protobuf.profile(convert("--to", "pprof", path))
    assert.equal(1, #f.samples)
    local s = f.samples[1]
    assert.same({6, 300, 6, 300}, s.values)
    assert.same({type = "table", class = "Point"}, s.labels)
    local leaf = f.locations[s.locations[1]]
    assert.same({name = "leaf (a.lua:5)", system = "leaf", file = "a.lua", line = 5},
                f.functions[leaf[1]])
    assert.equal(7, leaf[2])
    assert.equal("root (b.lua:1)", f.functions[f.locations[s.locations[2]][1]].name)
  end)

  -- `go tool pprof` merges functions with equal names. A former bug: all anonymous functions had the same
  -- name and were shown as one row.
  it("--to pprof: functions of one name are not one function", function()
    local gen = require "profilegen"
    local p = assert(gen.open{path = path, period = 100, resolve = "plain"})
    for i, place in ipairs{"anonymous 5 @a.lua", "anonymous 9 @a.lua", "anonymous 9 @b.lua",
                           "main 0 @a.lua"} do
      local name, line, file = place:match "(%S+) (%d+) (%S+)"
      p:name(8 * i, name, tonumber(line), file)
      p:sample{8 * i, 1, 0x7f0001, 0}
    end
    p:close()
    local f = protobuf.profile(convert("--to", "pprof", path))
    local names = {}
    for _, fn in pairs(f.functions) do names[#names + 1] = fn.name .. " = " .. fn.system end
    table.sort(names)
    assert.same({"[no stack] = [no stack]", "anonymous (a.lua:5) = anonymous",
                 "anonymous (a.lua:9) = anonymous", "anonymous (b.lua:9) = anonymous",
                 "main (a.lua) = main", "sym_7f0000 = sym_7f0000"}, names)
  end)

  -- A former bug: the C functions _start, main and pmain, which start the interpreter's script, were the
  -- outermost frames of every flame graph of a converted file. Every output format must leave them out, as
  -- reports do.
  describe("leaves out the C functions that come before every script,", function()
    local function write(stacks)
      local gen = require "profilegen"
      local p = assert(gen.open{path = path, period = 100, resolve = "plain"})
      p:name(8, "f", 1, "@a.lua")
      p:name(16, "g", 2, "@a.lua")
      for _, s in ipairs(stacks) do
        local stack = {}
        for _, id in ipairs(s) do
          stack[#stack + 1] = id
          stack[#stack + 1] = 0
        end
        p:sample(stack)
      end
      p:close()
    end

    local START, MAIN, SORT, OPEN = 0x7f0001, 0x7f0101, 0x7f0201, 0x7f0301
    local STACKS = {{8, MAIN, START}, {SORT, 16, MAIN, START}, {OPEN, MAIN, START},
                    {MAIN, START}}

    -- One reader for each output format. It returns the stacks of the converted file, outermost frame
    -- first.
    local read = {}
    function read.collapsed(text)
      local found = {}
      for line in text:gmatch "([^\n]+)\n" do
        found[#found + 1] = line:gsub(";%[table%] %d+$", ""):gsub(" %b()", ""):gsub(";", " ")
      end
      return found
    end
    function read.pprof(text)
      local p, found = protobuf.profile(text), {}
      for i, s in ipairs(p.samples) do
        local names = {}
        for k, at in ipairs(s.locations) do
          names[#s.locations - k + 1] = p.functions[p.locations[at][1]].system
        end
        found[i] = table.concat(names, " ")
      end
      return found
    end
    function read.speedscope(text)
      local f, found = cjson.decode(text), {}
      for i, stack in ipairs(f.profiles[1].samples) do
        local names = {}
        for k, frame in ipairs(stack) do names[k] = f.shared.frames[frame + 1].name end
        names[#names] = nil
        found[i] = table.concat(names, " ")
      end
      return found
    end
    function read.firefox(text)
      local p, found = cjson.decode(text), {}
      local t = p.shared
      for i, stack in ipairs(p.threads[1].nativeAllocations.stack) do
        local names = {}
        stack = t.stackTable.prefix[stack + 1]
        while stack ~= cjson.null do
          local fn = t.frameTable.func[t.stackTable.frame[stack + 1] + 1]
          table.insert(names, 1, t.stringArray[t.funcTable.name[fn + 1] + 1])
          stack = t.stackTable.prefix[stack + 1]
        end
        found[i] = table.concat(names, " ")
      end
      return found
    end

    local function stacks(format, ...)
      local found = read[format](convert("--to", format, ..., path))
      table.sort(found)
      return found
    end

    for _, format in ipairs{"collapsed", "pprof", "speedscope", "firefox"} do
      it("--to " .. format .. "; --start-up keeps them", function()
        write(STACKS)
        assert.same({"f", "g sym_7f0200", "sym_7f0100", "sym_7f0300"}, stacks(format, "--plain"))
        local start = "sym_7f0000 sym_7f0100"
        assert.same({start, start .. " f", start .. " g sym_7f0200", start .. " sym_7f0300"},
                    stacks(format, "--start-up"))
      end)
    end

    it("as far as these are the same, and not those between scripts", function()
      write{{8, SORT, MAIN, START}, {16, OPEN, MAIN, START}, {8, MAIN, 16, SORT, MAIN, START}}
      assert.same({"sym_7f0200 f", "sym_7f0200 g sym_7f0100 f", "sym_7f0300 g"},
                  stacks("collapsed", "--plain"))
    end)

    it("of nearly all stacks: one that could not be walked to its end changes nothing", function()
      local samples = {{8, MAIN}}
      for i = 1, 20 do samples[#samples + 1] = {8, 0x7f1001 + 256 * i, MAIN, START} end
      write(samples)
      local found = stacks("collapsed", "--plain")
      assert.equal("sym_7f0100 f", found[1])
      for i = 2, #found do assert.truthy(found[i]:find "^sym_7f%x+ f$", found[i]) end
    end)

    it("and of no stack that has no script, where there is none in the profile", function()
      write{{MAIN, START}, {OPEN, MAIN, START}}
      assert.same({"sym_7f0000 sym_7f0100", "sym_7f0000 sym_7f0100 sym_7f0300"},
                  stacks("collapsed", "--plain"))
    end)
  end)

  it("--to collapsed: weights, one stack a line", function()
    each(function(profile)
      local wanted = profile.samples > 0 and {
        bytes = profile.bytes, samples = profile.samples,
        survived = profile.survivedbytes,
        alive = profile.survivedbytes - profile.laterbytes} or {}
      for weight, total in pairs(wanted) do
        local sum = 0
        for line in convert("--to", "collapsed", "--weight", weight, path)
                    :gmatch "([^\n]*)\n" do
          local stack, n = line:match "^(.+) (%d+)$"
          assert(stack, "bad line: " .. line)
          assert(utf8.len(line), "not UTF-8")
          assert(not line:find "%c", "control character")
          assert(stack:find ";%[[^;]*%]$", "no kind: " .. line)
          sum = sum + n
        end
        assert.equal(total, sum)
      end
      if profile.timesamples > 0 then
        local lines = convert("--to", "collapsed", "--weight", "time", path)
        assert.equal(sums(profile).time > 0, lines ~= "")
      end
    end)
  end)

  it("--to collapsed: reports which data the profile lacks", function()
    local function refused(weight, reason)
      local code, out, err = run("--to", "collapsed", "--weight", weight, path)
      assert.same({1, ""}, {code, out})
      assert.equal(("asamp convert: '%s' %s; give another --weight\n"):format(path, reason), err)
    end
    runs.write(path, {seed = 1, time = false, deaths = false})
    refused("time", "has no time samples")
    refused("alive", "does not record which samples were alive at the end")
    runs.write(path, {seed = 1, allocations = false})
    refused("alive", "has no allocation samples")
    refused("bytes", "has no allocation samples")
    assert.equal("p.vmprof\n", list())
  end)

  it("--to collapsed: the parts of a line", function()
    local gen = require "profilegen"
    local p = assert(gen.open{path = path, period = 100, resolve = "plain",
                              timeperiod = 2000000})
    p:name(8, "le;af", 5, "@a.lua")
    p:name(16, "root", 0, "@b.lua")
    p:sample{0x7f0001, 0, 8, 7, 16, 3, kind = 0, count = 3}
    p:time{8, 7, 16, 3}
    p:close()
    assert.equal("root (b.lua);le,af (a.lua:5);sym_7f0000 (/lib/libgen.so);" ..
                 "[table] 300\n", convert("--to", "collapsed", path))
    assert.equal("root (b.lua);le,af (a.lua:5) 2000\n",
                 convert("--to", "collapsed", "--weight=time", path))
  end)

  it("--to collapsed: by default the weight that the profile has", function()
    runs.write(path, {seed = 2, allocations = false})
    assert.equal(convert("--to", "collapsed", "--weight", "time", path),
                 convert("--to", "collapsed", path))
    runs.write(path, {seed = 2})
    assert.equal(convert("--to", "collapsed", "--weight", "bytes", path),
                 convert("--to", "collapsed", path))
    -- a file whose sampling period is unknown
    local f = assert(io.open(path, "wb"))
    f:write(vmprof.head():sub(1, 24), ("\0"):rep(16), vmprof.header(6, 0),
            vmprof.stack(1, 1, {100}, {0}):rep(3),
            vmprof.name(100, "py:f:1:a.py"), vmprof.trailer(1))
    f:close()
    assert.equal("f (a.py:1) 3\n", convert("--to", "collapsed", path))
  end)

  it("--to speedscope: profiles whose samples and weights fit", function()
    each(function(profile)
      local f = cjson.decode(convert("--to", "speedscope", path))
      assert.equal("https://www.speedscope.app/file-format-schema.json",
                   f["$schema"])
      local totals = {}
      for _, p in ipairs(f.profiles) do
        assert.equal("sampled", p.type)
        assert.equal(#p.samples, #p.weights)
        local sum = 0
        for i, stack in ipairs(p.samples) do
          assert.is_true(#stack > 0)
          for _, frame in ipairs(stack) do
            assert.is_string(f.shared.frames[frame + 1].name)
          end
          assert.is_true(p.weights[i] > 0)
          sum = sum + p.weights[i]
        end
        assert.equal(p.endValue, sum)
        assert.equal(0, p.startValue)
        totals[p.name] = {sum, p.unit}
      end
      if profile.samples > 0 then
        assert.same({profile.bytes, "bytes"}, totals.Allocated)
        assert.same({profile.survivedbytes, "bytes"}, totals.Survived)
        assert.same({profile.survivedbytes - profile.laterbytes, "bytes"},
                    totals["Alive at the end"])
      end
      assert.equal(profile.timesamples > 0,
                   (totals["CPU time"] or totals["Wall time"]) ~= nil)
    end)
  end)

  it("--to speedscope: time in its order, allocations by stack", function()
    local gen = require "profilegen"
    local p = assert(gen.open{path = path, timeperiod = 1000})
    for i = 1, 3 do
      p:name(8 * i, "f" .. i, i, "@x.lua")
    end
    for _, stack in ipairs{{16, 1, 8, 1}, {8, 1}, {16, 1, 8, 1}, {24, 1}} do
      p:time(stack)
      p:sample(stack)
    end
    p:close()
    local f = cjson.decode(convert("--to", "speedscope", path))
    local function stacks(profile)
      local all = {}
      for i, stack in ipairs(profile.samples) do
        local names = {}
        for k, frame in ipairs(stack) do
          names[k] = f.shared.frames[frame + 1].name
        end
        all[i] = table.concat(names, " ")
      end
      return all
    end
    assert.same({"f1 [table]", "f1 f2 [table]", "f3 [table]"},
                stacks(f.profiles[1]))
    assert.same({"f1 f2", "f1", "f1 f2", "f3"},
                stacks(f.profiles[#f.profiles]))
  end)

  it("--to vmprof: the other flavour and back keep everything", function()
    -- Returns the data of a profile without the fields that depend on its path and file format.
    local function summary_of(file)
      local p = assert(reader.read(file, {bins = 64}))
      assert.is_true(p.complete)
      p.path, p.offset, p.version, p.compressed = nil, nil, nil, nil
      -- the order of nodes and functions follows that of the samples, so both are compared as sets
      return p
    end
    for seed = 1, 12 do
      runs.write(path, {seed = seed, format = 6 + seed % 2,
                        time = seed % 3 ~= 0, undecided = seed % 4 == 0})
      local there, back = folder .. "/there", folder .. "/back"
      assert.equal(0, (run("--to", "vmprof", "-o", there, path)))
      assert.equal(0, (run("--to", "vmprof", "-o", back, there)))
      local first = summary_of(path)
      local log = vmprof.read(there)
      assert.equal(7 - seed % 2, log.version)
      assert.same(first, summary_of(there))
      assert.same(first, summary_of(back))
    end
  end)

  it("--to vmprof refuses profiles without another format", function()
    shell.write(path, vmprof.head(), vmprof.header(6, 0),
            vmprof.stack(1, 1, {100}, {0}), vmprof.trailer(1))
    local code, _, err = run("--to", "vmprof", path)
    assert.equal(1, code)
    assert.equal("asamp convert: cannot read profile '" .. path ..
                 "': another profiler wrote the profile, and only profiles of Asamp can be converted to " ..
                 "vmprof; use another format\n", err)
    assert.equal("p.vmprof\n", list())
  end)

  describe("names the result", function()
    before_each(function() runs.write(path, {seed = 2, actions = 20}) end)

    it("after the profile", function()
      for format, name in pairs{
        firefox = "p.firefox.json.gz", pprof = "p.pb.gz",
        collapsed = "p.collapsed", speedscope = "p.speedscope.json",
        vmprof = "p.extended.vmprof",
      } do
        local code, out = run("--to", format, path)
        assert.equal(0, code)
        assert.equal(folder .. "/" .. name .. "\n", out)
        assert.truthy(io.open(folder .. "/" .. name))
      end
    end)

    it("as requested; a name in .gz is compressed, unless --plain", function()
      for name, packed in pairs{["a.json"] = false, ["a.json.gz"] = true} do
        assert.equal(0, (run("--to=speedscope", "--out", folder .. "/" .. name,
                             path)))
        assert.equal(packed,
                     select(2, vmprof.load(folder .. "/" .. name)))
      end
      run("--to", "pprof", "--plain", "-o", folder .. "/x", path)
      assert.is_false(select(2, vmprof.load(folder .. "/x")))
    end)

    it("but never the profile itself", function()
      local code, _, err = run("--to", "vmprof", "-o", path, path)
      assert.equal(2, code)
      assert.equal(("asamp convert: --out '%s' is the input '%s' itself; give another name; " ..
                    "see asamp convert --help\n"):format(path, path), err)
      local link = os.tmpname()
      assert.is_true(os.execute(("ln -sf %s %s"):format(path, link)))
      assert.equal(2, (run("--to", "vmprof", "-o", link, path)))
      assert.is_true(reader.read(path).complete)
    end)
  end)

  describe("leaves no half of a file:", function()
    before_each(function() runs.write(path, {seed = 2}) end)

    it("a folder that is not there", function()
      for _, format in ipairs{"firefox", "pprof", "collapsed", "speedscope",
                              "vmprof"} do
        local code, _, err = run("--to", format, "-o", folder .. "/no/x", path)
        assert.equal(1, code)
        assert.equal("asamp convert: cannot write '" .. folder ..
                     "/no/x': No such file or directory\n", err)
      end
      assert.equal("p.vmprof\n", list())
    end)

    it("a full disk", function()
      for _, format in ipairs{"firefox", "pprof", "collapsed", "speedscope",
                              "vmprof"} do
        local code, _, err = run("--to", format, "-o", "/dev/full", path)
        assert.equal(1, code)
        assert.equal("asamp convert: cannot write '/dev/full': " ..
                     "No space left on device\n", err)
      end
    end)

    it("an unreadable profile keeps the result of before", function()
      local out = folder .. "/out"
      assert.equal(0, (run("--to", "pprof", "-o", out, path)))
      local before = vmprof.load(out)
      local code, _, err = run("--to", "pprof", "-o", out, "/nowhere")
      assert.equal(1, code)
      assert.truthy(err:find "No such file")
      assert.equal(before, (vmprof.load(out)))
      assert.equal("out\np.vmprof\n", list())
    end)

    it("an error on the way", function()
      local convert_ = require "profiler.convert"
      for _, format in ipairs{"pprof", "collapsed", "speedscope"} do
        assert.has_error(function()
          convert_[format](path, folder .. "/out", {progress = function(f)
            if f == 1 then
              error "stop"
            end
          end})
        end)
        collectgarbage()
      end
      assert.has_error(function()
        convert_.firefox(path, folder .. "/out", {head = error})
      end)
      collectgarbage()
      assert.equal("p.vmprof\n", list())
    end)
  end)

  it("converts the part before damage, and reports the damage", function()
    runs.write(path, {seed = 2, plain = true})
    local bytes = vmprof.load(path)
    shell.write(path, bytes:sub(1, #bytes // 2))
    local profile = assert(reader.read(path))
    local code, _, err = run("--to", "pprof", path)
    assert.equal(0, code)
    assert.equal(("asamp convert: '%s': %s; the result covers only the " ..
                  "readable part\n"):format(path, profile.message), err)
    code = run("--to", "vmprof", path)
    assert.equal(0, code)
    assert.is_true(reader.read(folder .. "/p.extended.vmprof").complete)
  end)

  it("reports wrong arguments", function()
    local cases = {
      {{}, "no file given"}, {{"x"}, "no format given: use %-%-to FORMAT"},
      {{"--to", "svg", "x"}, "%-%-to needs firefox, pprof"},
      {{"--to", "pprof", "--weight", "time", "x"},
       "%-%-weight is only for %-%-to collapsed"},
      {{"--to", "pprof", "--flavour", "stock", "x"},
       "%-%-flavour is only for %-%-to vmprof"},
      {{"--to", "heapsnapshot", "--together", "x"},
       "%-%-together has no effect on a heap snapshot, which has no stacks"},
      {{"--to", "heapsnapshot", "--start-up", "x"}, "%-%-start%-up has no effect on a heap snapshot"},
      {{"--to", "pprof", "x", "y"}, "one file at a time"},
      {{"--to", "pprof", "x", "-o"}, "%-%-out needs a value"},
    }
    for _, case in ipairs(cases) do
      local code, _, err = run(table.unpack(case[1]))
      assert.equal(2, code)
      assert.truthy(err:find("^asamp convert: " .. case[2]), err)
      assert.equal(1, select(2, err:gsub("\n", "")))
    end
    local code, out = run "--help"
    assert.equal(0, code)
    assert.truthy(out:find "usage: asamp convert")
  end)
end)
