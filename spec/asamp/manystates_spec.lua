-- SPDX-License-Identifier: MIT
--
-- One profile of all Lua states of a process: each state has its own outcomes of samples, classes and
-- collections, function names are written once for all states, and the sums must be exact.

local convert = require "profiler.convert"
local hosts = require "asamp.host"
local process = require "spec.support.process"
local profilegen = require "profilegen"
local protobuf = require "spec.support.protobuf"
local reader = require "profiler.reader"
local shell = require "spec.support.shell"
local states = require "asamp.sums.states"
local vmprof = require "spec.support.vmprof"

local prefix = process.interpreter():match "^(.*)/bin/[^/]+$"
local STATES = tonumber(os.getenv "MANYSTATES" or 600)
local sanitized = prefix:find "asan" and " -fsanitize=address,undefined" or ""

-- {== the file ===============================================================

-- Writes a profile of two states that allocate alternately, and of a third one that is created after these
-- two are closed.
local function interleaved(path)
  local p = assert(profilegen.open{path = path, states = true, period = 100, followed = 10})
  for id = 0, 1 do
    p:start(id)
    p:name(8, id == 0 and "only0" or "only1", 1, "@a.lua")
    p:name(16, "both", 2, "@a.lua")
    p:class(1, id == 0 and "Zero" or "One")
    p:called("script" .. id)
  end
  p:of(0)
  -- the object of this sample survives a collection and dies later
  p:sample{8, 1}
  p:of(1)
  p:sample{16, 2}                      -- dies young
  p:sample{8, 1, 16, 2}                -- survives
  p:of(0)
  p:sample{16, 2}               -- dies young
  p:collection{fates = "10", classes = {1, 0}, inuse = 1000, time = 0}
  p:of(1)
  p:collection{fates = "01", classes = {0, 1}, inuse = 500}
  p:of(0)
  p:collection{deaths = {0, 1}, major = true, inuse = 900}
  return p
end

local function bykey(profile)
  local t, s = {}, profile.sites
  for i = 1, #s.node do
    local fn = profile.functions[profile.nodes.fn[s.node[i]]].name
    local kind = profile.kinds[s.kind[i]]
    local key = fn .. (kind.class and " " .. kind.class or "")
    t[key] = ("%d %d %d"):format(s.samples[i], s.survived[i], s.later[i])
  end
  return t
end

describe("a file of many states", function()
  local path
  before_each(function() path = os.tmpname() end)

  it("has the fates, deaths and classes of each with its own samples", function()
    interleaved(path):close()
    local r = assert(reader.read(path))
    assert.is_true(r.complete)
    assert.same({["only0 Zero"] = "1 1 1", ["both"] = "2 0 0", ["only1 One"] = "1 1 0"}, bykey(r))
    -- the function 'both' is counted once, although two states define it
    assert.equal(3, #r.functions)
    assert.equal(2, r.begun)
    assert.same({"script0", "script1"}, {r.states[1].name, r.states[2].name})
    assert.equal(1400, r.course.last.inuse)
    assert.same({200, 0}, {r.states[1].bytes, r.states[1].survivedbytes - r.states[1].laterbytes})
  end)

  -- A former bug: if more than 16,384 states were open at a time, each further state received a new
  -- row each time that it reported something.
  it("has one row for each state, however many there are at a time", function()
    local p = assert(profilegen.open{path = path, states = true, period = 100, followed = 10})
    for id = 0, 16389 do p:start(id) end
    for _ = 1, 3 do
      for id = 16380, 16389 do
        p:of(id)
        p:sample{61, 0}
      end
    end
    p:close()
    local r = assert(reader.read(path))
    assert.same({16390, 30}, {#r.states, r.samples})
    -- A former bug: if the reader's option 'states' requested any state, it also read the samples of all
    -- states beyond the limit.
    for id, samples in pairs{[5] = 0, [16380] = 3, [16389] = 3} do
      assert.equal(samples, reader.read(path, {states = {id}}).samples, id)
    end
  end)

  it("is restricted to the requested states", function()
    interleaved(path):close()
    local all = assert(reader.read(path))
    local ids = assert(states.find(all, "script1"))
    assert.same({1}, ids)
    local r = assert(reader.read(path, {states = ids}))
    assert.same({["both"] = "1 0 0", ["only1 One"] = "1 1 0"}, bykey(r))
    assert.same({2, 500}, {r.samples, r.course.last.inuse})
    assert.is_nil(states.find(all, "nobody"))
  end)

  -- A former bug: the survivors of all states for which the reader had no space were subtracted from the
  -- survivors of the requested states whose deaths the file does not record.
  it("has the survivors without a recorded death of the requested states #plain", function()
    local most = 1 << 20  -- READERFOLLOW_MOST, the largest number of live survivors of a state
    local p = assert(profilegen.open{path = path, states = true, period = 100, followed = 2 * most})
    for id = 0, 1 do p:start(id) end
    p:of(0)
    p:flood(most + 10, {8, 1})
    p:collection{fates = ("1"):rep(most + 10)}
    p:of(1)
    for _ = 1, 5 do p:sample{8, 1} end
    p:collection{fates = "01222"}
    p:close()
    local function left(wanted)
      local r, found = assert(reader.read(path, {states = wanted})), {}
      for _, row in ipairs(r.left) do found[row.what] = row.count end
      return {r.unfollowed, found.followed, found.unfollowed}
    end
    assert.same({13, 10, 3}, left(nil))
    assert.same({10, 10, nil}, left{0})
    assert.same({3, nil, 3}, left{1})
  end)

  -- A former bug: with the option 'states', the reader returned the heap walks of all states, not only
  -- those of the selected states.
  it("has the walks of the requested states", function()
    local p, now = interleaved(path), profilegen.now()
    for id = 0, 1 do
      p:of(id)
      p:holders{id}
      p:walk(now, 1000 * (id + 1))
    end
    p:close()
    for i, walked in ipairs{1, 2} do
      local r = assert(reader.read(path, {states = {i - 1}}))
      assert.same({1, walked, walked, 1}, {r.walks, r.walked, r.longestwalk, #r.walktimes})
    end
    assert.same({2, 3}, {reader.read(path).walks, reader.read(path).walked})
  end)

  -- A former bug: lines of the details that name no existing state were attributed to the first state of
  -- the file.
  it("ignores lines that name no state", function()
    local function try(lines)
      shell.write(path, vmprof.head() .. vmprof.header(6, 2) .. vmprof.meta("asamp.format", "4") ..
        vmprof.meta("sample_allocated_bytes", "100") ..
        vmprof.meta("asamp.1", "n 0\nN 1 7\nY one\ng 1 1\nm 0 1 a\nA 5\n") ..
        vmprof.stack(1, 1, {0, 1, 5, 100}, {7}) .. vmprof.meta("asamp.2", "n 1\n" .. lines) ..
        vmprof.trailer(1))
      local r = assert(reader.read(path))
      return {r.complete, r.minors, r.majors, #r.marks, r.walks, r.period, r.states, r.threads, r.labels}
    end
    local none = try ""
    assert.same({"one", 5, 1}, {none[7][1].name, none[7][1].allocated, none[7][1].minors})
    for _, line in ipairs{"g 1 1", "G 1 1", "m 1 1 x", "w 1 5", "Y two", "A 9", "X 1 9", "L 0 9", "f 1",
                          "d 0 1", "H 1 0 x", "h 1 1 0", "p 1 50", "T 1 99"} do
      assert.same(none, try(line .. "\n"), line)
    end
    assert.is_not_same(none, try "S 7\nA 9\n")
  end)

  -- States of the same name differ only by their number, which is printed after the name. A former bug: if
  -- a name was too long for its column, the number was cut off.
  it("has the number that --state takes, however long its name is", function()
    local p = assert(profilegen.open{path = path, states = true, period = 100, followed = 10})
    for id = 0, 1 do
      p:start(id)
      p:name(61, "n", 1, "@a.lua")
      p:called("/srv/app/" .. ("handler"):rep(20) .. ".lua")
      p:sample{61, 0}
    end
    p:close()
    local text = shell.output("build/bin/asamp report --by state --width 80 '%s'", path)
    for id = 0, 1 do
      assert.matches(("\n[^\n]*  %d  …[handler]+%%.lua\n"):format(id), text .. "\n")
    end
  end)

  -- If a report is restricted to a part of the samples, its table of states still has all samples of the
  -- run. A former bug: nothing in the report stated that.
  it("has tables of the whole run next to a part of the samples", function()
    interleaved(path):close()
    local function report(options)
      return shell.output("build/bin/asamp report %s '%s'", options, path)
    end
    for _, part in ipairs{"--from 0", "--function both"} do
      local text = report("--show scripts,states,threads " .. part)
      assert.matches("\nBy Lua state, of the whole run\n", text)
      assert.matches("\nBy OS thread, of the whole run\n", text)
      assert.is_nil(report("--json " .. part):find('"states"', 1, true))
    end
    assert.matches("\nBy Lua state\n", report "--show states")
    assert.matches('"states"', report "--json")
  end)

  it("counts the live objects of a closed state until the next one starts", function()
    local p = interleaved(path)
    p:of(1)
    p:leave(12345)
    p:close()
    local r = assert(reader.read(path))
    assert.equal("1 1 0", bykey(r)["only1 One"])
    os.remove(path)
    p = interleaved(path)
    p:of(1)
    p:leave(12345)
    p:start(2)
    p:leave(5, 7)
    p:close()
    r = assert(reader.read(path))
    assert.equal("1 1 1", bykey(r)["only1 One"])
    assert.same({12350, 12345, 5, 3}, {r.allocated, r.states[2].allocated, r.states[3].allocated,
                                       r.begun})
  end)

  -- A former bug: in the profile of a killed process, only the states that had ended have exact bytes; they
  -- were reported as the exact bytes of all states.
  it("reports the exact bytes of some states if it has those of each", function()
    local p = interleaved(path)
    p:of(1)
    p:leave(12345)
    p:start(2)
    p:called("script1")
    p:sample{61, 0}
    p:close()
    local ids = states.find(assert(reader.read(path)), "script1")
    assert.same({1, 2}, ids)
    assert.same({12345, nil}, {reader.read(path, {states = {1}}).allocated,
                               reader.read(path, {states = ids}).allocated})
    local text = vmprof.load(path)
    local file = assert(io.open(path, "wb"))
    file:write((text:sub(1, -2)))
    file:close()
    local r = assert(reader.read(path, {states = ids}))
    assert.same({false, nil, 3, 12345}, {r.complete, r.allocated, r.samples, r.states[2].allocated})
    assert.equal(12345, reader.read(path, {states = {1}}).allocated)
    assert.is_nil(reader.read(path, {states = {2}}).allocated)
    local reported = shell.output("build/bin/asamp report --state script1 '%s' 2>/dev/null", path)
    assert.matches("300 bytes allocated in [^,]+, estimated from 3 samples", reported)
    local rows = {}
    for _, row in ipairs(states.names(reader.read(path))) do rows[row.name] = row.allocated end
    assert.same({script0 = 0, script1 = 0}, rows)
  end)

  it("is read by format 3 alone as one state's, and cut anywhere without harm", function()
    local p = interleaved(path)
    p:leave(1)
    p:close()
    shell.output("gzip -dc %s >%s.plain", path, path)
    local text = process.read(path .. ".plain")
    for n = 1, #text, 7 do
      shell.write(path .. ".plain", text:sub(1, n))
      reader.read(path .. ".plain")
    end
    os.remove(path .. ".plain")
  end)
end)

-- ==}

-- {== a host =================================================================

describe("a host with many states", function()
  local folder, host
  setup(function()
    folder = shell.folder()
    host = folder .. "/host"
    shell.output("gcc -g%s -I%s/include/lua5.4 -Ilua spec/support/hosts/manystates.c -o %s -L%s/lib " ..
        "-l:liblua5.4.so.0 -Wl,-rpath,%s/lib -lpthread", sanitized, prefix, host, prefix, prefix)
    shell.write(folder .. "/s.lua", [[
      local Point, keep = setmetatable({}, {__name = "Point"}), {}
      local function build(n) for i = 1, n do keep[i % 50] = setmetatable({i}, Point) end end
      build(300 + N % 7 * 20)
    ]])
  end)

  local function run(wish, threads, all, kept)
    local code, out, err = process.run{program = host, threads, all, kept, "s.lua",
      directory = folder, env = {ASAMP = wish, LUA_PATH = "", LUA_CPATH = ""}}
    return code, out, err
  end

  -- A former bug: if a state had no sample outside its nursery when it was closed, its objects had no
  -- holders.
  it("searches holders in closing states with young samples only", function()
    shell.write(folder .. "/young.lua", [[
      list = {}
      for i = 1, 200 do list[i] = {i} end
      if N == 50 then os.execute "sleep 1.1" end  -- holders are not searched in states younger than 1 s
    ]])
    local code, _, err = process.run{program = host, 1, 50, 50, "young.lua",
      directory = folder,
      env = {ASAMP = "alloc=64K,out=y.vmprof,seed=1,quiet", LUA_PATH = "", LUA_CPATH = ""}}
    assert.same({0, ""}, {code, err})
    local r = assert(reader.read(folder .. "/y.vmprof", {bins = 16}))
    local held = {[true] = 0, [false] = 0}
    for i, node in ipairs(r.holders.node) do
      if r.functions[r.nodes.fn[node]].file == "young.lua" then
        held[r.holders.path[i] > 0] = held[r.holders.path[i] > 0] + r.holders.samples[i]
      end
    end
    assert.is_true(held[true] > 4, held[true])
    assert.equal(0, held[false])
  end)

  it("on 8 OS threads: one profile, whose sums are the states' own", function()
    local code, out, err = run("alloc=4K,time=1000,out=p.vmprof,quiet", 8, 400, 25)
    assert.same({0, ""}, {code, err})
    local r = assert(reader.read(folder .. "/p.vmprof"))
    local reported, counted = {}, {}
    for n in out:gmatch "(%d+)\n" do reported[#reported + 1] = tonumber(n) end
    -- removes the last line, which is the sum of all states
    local sum = table.remove(reported)
    for i, s in ipairs(r.states) do
      counted[i] = s.allocated
      assert.is_true(s.ended)
    end
    table.sort(reported)
    table.sort(counted)
    assert.same(reported, counted)
    assert.same({sum, 400, 400, 8, 0}, {r.allocated, r.begun, #r.states, #r.threads, r.undetailed})
    local samples, times = 0, 0
    for _, s in ipairs(r.states) do
      samples, times = samples + s.samples, times + s.timesamples
    end
    assert.same({r.samples, r.timesamples}, {samples, times})
    -- With a sample every 4 KiB, the standard error of the number of samples is its square root. Memory
    -- that lua_newstate allocates is not sampled. A former bug: the exact sum included it, a tenth of the
    -- memory of small states.
    local wanted = r.allocated / 4096
    assert.is_true(math.abs(r.bytes / 4096 - wanted) < 6 * math.sqrt(wanted), r.bytes / r.allocated)
    -- sums the bytes in the pprof file: for each thread, and for all threads
    local threads, bytes = {}, 0
    local out7 = folder .. "/p.pb.gz"
    assert(convert.pprof(folder .. "/p.vmprof", out7, {}))
    for _, s in ipairs(protobuf.profile(process.read(out7)).samples) do
      -- samples without a label "thread" represent live bytes by holder, of all states together
      local id = tonumber(s.labels.thread) or 0
      threads[id], bytes = (threads[id] or 0) + s.values[2], bytes + s.values[2]
    end
    for _, t in ipairs(r.threads) do
      if t.bytes > 0 then assert.equal(t.bytes, threads[t.id]) end
    end
    assert.same({r.bytes, 0}, {bytes, threads[0] or 0})
    for _, row in ipairs(states.names(r)) do
      assert.is_truthy(row.name == "s.lua" or row.count < 20, row.name)
    end
  end)

  -- A former bug: at exit, states that another thread had run lacked data. The closing line lacked the last
  -- sample of such a state. Its exact bytes lacked those that were allocated after this sample.
  it("counts at exit all samples and bytes of states that no thread runs, or this one", function()
    shell.output("gcc -g%s -I%s/include/lua5.4 -Ilua spec/support/hosts/leftopen.c -o %s/leftopen " ..
        "-L%s/lib -l:liblua5.4.so.0 -Wl,-rpath,%s/lib -lpthread", sanitized, prefix, folder, prefix, prefix)
    for _, threads in ipairs{"ended", "waiting", "moved", "inside"} do
      local path = folder .. "/" .. threads .. ".vmprof"
      local code, out, err = process.run{program = folder .. "/leftopen", threads, directory = folder,
                                         env = {ASAMP = "alloc=2K,time=0,native=0,out=" .. path}}
      local profile = assert(reader.read(path))
      assert.truthy(err:find(("profiler: %d samples,"):format(profile.samples), 1, true),
                    profile.samples .. "; " .. err)
      assert.same({0, threads, tonumber(out)}, {code, threads, profile.allocated})
    end
  end)

  -- A former bug: Ctrl-C in a host that does not handle it ended the host, and its profile was cut.
  it("ends with a whole profile by a signal of the terminal", function()
    shell.write(folder .. "/loop.lua", [[
      local t, ready = {}, os.getenv "READY"
      for i = 1, 1e9 do
        t[i % 100 + 1] = {}
        if i == 100000 then io.open(ready, "w"):close() end  -- the profile is open, and has samples
      end]])
    for signal, number in pairs{INT = 2, HUP = 1, QUIT = 3} do
      local path = folder .. "/" .. signal .. ".vmprof"
      local code = process.run{program = "/bin/sh", directory = folder, "-c", ([[
        env --default-signal=INT,QUIT "$0" 1 1 1 loop.lua & while ! test -e "$READY"; do sleep 0.1; done
        kill -%s $!; wait $!]]):format(signal), host,
        env = {ASAMP = "alloc=64K,quiet,out=" .. path, LUA_PATH = "", LUA_CPATH = "",
               READY = path .. ".ready"}}
      assert.equal(128 + number, code)
      local r = assert(reader.read(path))
      assert.is_true(r.complete, r.message)
    end
  end)

  -- A former bug: a query read the list of states while other threads removed states and freed them. Sums
  -- decreased, and ThreadSanitizer reported a data race.
  it("answers while its states come and go", function()
    local pid = process.start{program = host, 8, STATES, 25, "s.lua", directory = folder,
      env = {ASAMP = "alloc=4K,ring=1m,listen=x.sock,out=a.vmprof,quiet", LUA_PATH = "", LUA_CPATH = "",
             ASAN_OPTIONS = "detect_leaks=0:exitcode=77"}}
    -- stays 0 if, on a busy machine, the host ends before the first query
    local made, samples = 0, 0
    for _ = 1, 20000 do
      local text = hosts.query(folder .. "/x.sock", "stats\n")
      if text then
        local m, n = tonumber(text:match "\nmade (%d+)"), tonumber(text:match "\nsamples (%d+)")
        assert.is_true(m >= made and n >= samples, ("%d %d, %d %d"):format(made, m, samples, n))
        made, samples = m, n
      elseif process.ended(pid) then break
      else hosts.pause(1) end
    end
    assert.is_true(made <= STATES, made)
    for _ = 1, 12000 do
      if process.read(folder .. "/a.vmprof") then break end
      hosts.pause(10)
    end
    local r = assert(reader.read(folder .. "/a.vmprof"))
    assert.is_true(r.complete, r.message)
    assert.equal(STATES, r.begun)
  end)

  -- A former bug: each state measured resident memory when it ended, even if the profile did not record the
  -- result. The spec preloads a library. It is left out with ASan, whose own library must be preloaded
  -- first.
  if not prefix:find "asan" then
    it("measures the memory of an ending state only for a picture in the profile", function()
      shell.write(folder .. "/large.lua", "keep = {} for i = 1, 3000 do keep[i] = {i} end")
      local path = folder .. "/large.vmprof"
      local code, _, err = process.run{program = host, 1, 100, 1, folder .. "/large.lua",
        env = {ASAMP = "alloc=1K,quiet,out=" .. path, LUA_PATH = "", LUA_CPATH = "",
               LD_PRELOAD = package.searchpath("measures", package.cpath)}}
      local pictures = #assert(reader.read(path)).pictures
      assert.equal(0, code)
      -- tolerance: a measurement of resident memory (a "picture") is due if the resident size has changed
      -- enough, and that size may change back before the measurement
      assert.is_true(tonumber(err) > 0 and tonumber(err) <= pictures + 5, err .. " for " .. pictures)
    end)
  end

  it("requires nothing from the program: no missing module or wrong option ends it", function()
    for wish, says in pairs{["allok=1"] = "unknown option", ["alloc=1"] = "must be a period",
        ["out=/nowhere/at/all.vmprof"] = "No such file", ["format=extended"] = "has only one state",
        ["alloc=0"] = "nothing to sample: the option 'alloc' is 0, and neither"} do
      local code, out, err = run(wish, 1, 3, 1)
      assert.equal(0, code)
      assert.is_truthy(out:find "sum 3 ")
      assert.is_truthy(err:find(says, 1, true) and err:find "nothing is profiled", err)
      assert.equal(1, select(2, err:gsub("\n", "")))
    end
  end)

  it("keeps a profile that is there, and writes names with %p, %n, %t, %h and %%", function()
    run("quiet,out=k.vmprof", 1, 1, 1)
    local first = process.read(folder .. "/k.vmprof")
    local _, _, err = run("quiet,out=k.vmprof", 1, 1, 1)
    assert.is_truthy(err:find "is an existing profile; this profile is written to '.*k%.2%.vmprof'")
    assert.equal(first, process.read(folder .. "/k.vmprof"))
    run("quiet,out=n-%n-%%-%h-%t-%p.vmprof", 1, 1, 1)
    local list = shell.output("ls " .. folder)
    assert.is_truthy(list:find "n%-1%-%%%-[^%s%%]+%-%d+T%d+%-%d+%.vmprof\n", list)
  end)
end)

-- ==}
