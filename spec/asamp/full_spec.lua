-- SPDX-License-Identifier: MIT
-- Files and disks that are full, from the start or during a run: the program must continue, a message at
-- the end must report the number of lost samples, and the part of the file that was written must be
-- readable.

local fewer = require "spec.support.fewer"
local process = require "spec.support.process"
local reader = require "profiler.reader"
local samples = require "spec.support.samples"
local sessions = require "spec.support.sessions"

local run = sessions.run

describe("a file that takes no more", function()
  it("costs one warning and samples, not the script", function()
    local status, out, err = process.run{load = "profiler", code = [[
      local natives = require "natives"
      for i = 1, 20000 do natives.userdata(100) end
      print "done"
    ]], env = {LUA_PROFILER = "alloc=64,fixed,quiet,out=/dev/full"}}
    assert.equal(0, status)
    assert.equal("done\n", out)
    local lost = err:match "^profiler: /dev/full: No space left on device; (%d+) samples are lost\n$"
    assert.is_true(tonumber(lost) >= 20000, err)
  end)

  -- If no sample could be written, the profiler prints one line. A former bug: it printed a second line
  -- before it, which named the file and counted all samples.
  it("is reported in one line if it has no sample", function()
    for variable, load in pairs{LUA_PROFILER = "profiler", ASAMP = false} do
      local status, _, err = process.run{load = load or nil,
        code = "local t = {} for i = 1, 20000 do t[i] = {i} end",
        env = {[variable] = "alloc=64,fixed,out=/dev/full"}}
      assert.equal(0, status)
      assert.matches("^profiler: /dev/full: No space left on device; %d+ samples are lost\n$", err)
    end
  end)

  it("at a limit of the process keeps the data before it", function()
    local path, status, out, err = run [[
      local profiler, natives, gen = require "profiler", require "natives", require "profilegen"
      gen.filelimit(65536)
      assert(profiler.alloc_start(64, {out = ..., compress = false, native = false}))
      for i = 1, 5000 do natives.userdata(100) end
      local ok, message, errno = profiler.disable()
      print(ok, message, errno, profiler.stats().lost > 0)
    ]]
    assert.equal(0, status)
    assert.equal("nil\tFile too large\t27\ttrue\n", out)
    assert.truthy(err:find("^profiler: [^\n]+: File too large; samples are lost until the file can be " ..
                           "written again\nprofiler: [^\n]+: File too large; %d+ samples are lost\n$"), err)
    local profile = assert(reader.read(path))
    os.remove(path)
    assert.is_false(profile.complete)
    assert.is_true(profile.offset > 0)
  end)
end)

describe("a file that another program truncates", function()
  -- A former bug: after a failed write, later records were written after a hole of zeros, without
  -- their header.
  it("ends there, with all samples lost and the reason", function()
    for _, options in ipairs{"", ", compress = false"} do
      local path, status, out, err = run(([[
        local profiler, natives = require "profiler", require "natives"
        local path = ...
        assert(profiler.alloc_start(64, {out = path, fixed = true, native = false %s}))
        for i = 1, 5000 do natives.userdata(100) end
        assert(profiler.dump())
        assert(io.open(path)):close()
        assert(io.open(path, "w")):close()
        for i = 1, 5000 do natives.userdata(100) end
        print(profiler.disable())
        print(profiler.stats().lost == profiler.stats().samples)
      ]]):format(options))
      assert.equal(0, status, err)
      assert.truthy(out:find "^nil\t[^\n]*\ntrue\n$", out)
      assert.truthy(err:find("program truncated the profile while it was written; use rotate= instead; " ..
                             "%d+ samples are lost\n$"), err)
      assert.equal("", process.read(path))
      os.remove(path)
    end
  end)
end)

describe("a disk that becomes full in the middle of a run", function()
  -- A program whose samples have different stacks, so that the file grows. When half of the work is done,
  -- it limits the file's growth to 'limit' more bytes ("none": no growth).
  local PROGRAM = [[
    local natives, gen = require "natives", require "profilegen"
    local limit, kept = ..., {}
    local path = os.getenv "LUA_PROFILER":match "out=([^,]+)"
    local function size()
      local f <close> = io.open(path)
      return f:seek "end"
    end
    local function work(n)
      local function down(d) if d > 0 then return (down(d - 1)) end kept[n % 100] = natives.userdata(100) end
      for i = 1, n do down(i * 7919 % 40) end
    end
    work(10000)
    -- stderr is a file, too. Its limit must permit the messages, so the profile grows first. (On a full
    -- disk of 4 KiB it cannot.)
    if limit ~= "disk" then
      while size() < 4096 do work(1000) end
      gen.filelimit(size() + limit)
    end
    work(10000)
    io.write "done"
    io.stdout:flush()]]

  -- Checks the messages of a run, and that the numbers of written and lost samples add up to all samples.
  local function checked(status, out, err, path, reason, note)
    assert.equal(0, status, note)
    assert.equal("done", out, note)
    local stalls
    err, stalls = err:gsub("profiler: [^\n]+: " .. reason ..
                           "; samples are lost until the file can be written again\n", "")
    local summary, lost = err:match("^(.*)profiler: [^\n]+: " .. reason .. "; (%d+) samples are lost\n$")
    if not lost then
      assert.truthy(err:find "^profiler: %d+ samples[^\n]*\n$", note .. err)
      assert.is_true(assert(reader.read(path)).complete, note)
      return false
    end
    local said = tonumber(summary:match "^profiler: (%d+) samples, one every 64 bytes, of [^\n]*\n$")
    local saidtimes = tonumber(summary:match "; (%d+) time samples?; ")
    assert.equal(1, stalls, note)  -- the loss is reported once, when it happens
    assert.is_true(tonumber(lost) > 0, note)
    local got, times = 0, 0
    local profile, message = reader.read(path)
    if profile then
      assert.is_false(profile.complete, note)
      local new = os.tmpname()
      local r, wrong = reader.repair(path, new)
      if r then
        local whole = assert(reader.read(new))
        assert.is_true(whole.complete, note)
        got, times = whole.samples, whole.timesamples or 0
      else assert.truthy(wrong:find "its readable part contains no sample", note) end
      os.remove(new)
    else assert.truthy(message:find "^cannot read profile", note) end
    -- A former bug: the closing line counted lost samples, too, and it named the file even if no sample was
    -- written to it.
    if got + times == 0 then assert.equal("", summary, note)
    else assert.same({got, times}, {said, saidtimes or 0}, note) end
    return true
  end

  -- A former bug: all samples since the last pause of the program were reported as lost, although the file
  -- is flushed after each MiB.
  it("reports the exact number of lost samples, however fast they came", function()
    local function count(limit)
      local path, status, out, err = run(([[
        local profiler, gen = require "profiler", require "profilegen"
        local kept = {}
        local function down(d) if d > 0 then return (down(d - 1)) end kept[#kept %% 100 + 1] = {} end
        gen.filelimit(%d)
        assert(profiler.alloc_start(64, {out = ..., compress = false, native = false, fixed = true}))
        for i = 1, 60000 do down(i * 7919 %% 40) end
        profiler.disable()
        print(profiler.stats().lost)]]):format(limit))
      assert.equal(0, status, err)
      local r = assert(reader.read(path))
      os.remove(path)
      return r.samples, tonumber(out)
    end
    local all, none = count(1 << 30)
    assert.equal(0, none)
    for _, limit in ipairs{1500000, 4000000} do
      local got, lost = count(limit)
      assert.is_true(got > 0 and lost > 0, limit)
      -- The difference may be one sample, because the first sample point depends on the address at which
      -- the nursery starts.
      assert.is_true(math.abs(all - got - lost) <= 1, ("%d + %d of %d"):format(got, lost, all))
    end
  end)

  -- The signal SIGXFSZ ends a process that does not ignore it, so the profiler's writer thread blocks it.
  for _, signal in ipairs{"ignored", "not ignored"} do
    it("by a limit, costs the data after it, SIGXFSZ " .. signal, function()
      local seed, n = 77, 0
      math.randomseed(seed)
      local script, path, full = process.file(PROGRAM), os.tmpname(), 0
      local sh = [[{ "$0" "$@" 2>"$ERR"; echo " $?"; } | cat]]
      if signal == "ignored" then sh = "trap '' XFSZ; " .. sh end
      for _, options in ipairs{"", ",compress=0", ",format=extended", ",format=extended,compress=0"} do
        for _, limit in ipairs{0, fewer(math.random(100)), fewer(math.random(20000))} do
          n = n + 1
          local err, time = os.tmpname(), n % 2 == 0 and ",time=1000" or ""
          local _, out = process.run{"-c", sh, process.interpreter(), "-l", "profiler", script, limit,
            program = "sh", env = {ERR = err,
                   LUA_PROFILER = "alloc=64,fixed,native=0,seed=1,overwrite,out=" ..
                                   path .. options .. time}}
          local note = ("%d more bytes, options %s%s, seed %d: "):format(limit, options, time, seed)
          local text, status = out:match "^(.*) (%d+)\n$"
          if checked(tonumber(status), text, process.read(err), path, "File too large", note) then
            full = full + 1
          end
          os.remove(err)
        end
      end
      os.remove(script)
      os.remove(path)
      assert.is_true(full >= fewer(6, 3), full)
    end)
  end

  -- A small file system, mounted in a separate mount namespace. Only root can create it.
  local MOUNT = "mount -t tmpfs -o size=%dk none %s"
  local folder = os.tmpname()
  os.remove(folder)
  local allowed = os.execute(("mkdir %s && unshare -m sh -c '%s' 2>/dev/null")
                             :format(folder, MOUNT:format(64, folder)))
  if allowed then
    it("costs the data after it", function()
      local script, path = process.file(PROGRAM), os.tmpname()
      for _, options in ipairs{"", ",compress=0"} do
        for _, size in ipairs{4, 20, 64} do
          local sh = MOUNT:format(size, folder) .. [[ && "$0" "$@"; status=$?; cp $COPY; exit $status]]
          local status, out, err = process.run{"-m", "sh", "-c", sh, process.interpreter(), "-l", "profiler",
            script, "disk", program = "unshare",
            env = {COPY = folder .. "/x.vmprof " .. path,
                   LUA_PROFILER = "alloc=64,fixed,native=0,seed=1,out=" .. folder .. "/x.vmprof" .. options}}
          local full = checked(status, out, err, path, "No space left on device",
                               size .. "K" .. options .. ": ")
          assert.is_true(full or options == "", size)
        end
      end
      os.remove(script)
      os.remove(path)
    end)

    it("keeps a process without a profile until there is room", function()
      local script = process.file(([[
        local folder, keep = %q, {}
        local function work() for i = 1, 10000 do keep[i %% 100] = {i} end collectgarbage() end
        work()
        assert(os.execute("mount -o remount,nr_inodes=9 " .. folder))
        repeat work() until io.open(folder .. "/x.vmprof")
        for i = 1, 10 do work() end]]):format(folder))
      local copy = os.tmpname()
      local sh = ("mount -t tmpfs -o nr_inodes=1 none %s && ASAMP=alloc=64,quiet,out=%s/x.vmprof \"$0\" %s "
        .. "&& cp %s/x.vmprof %s"):format(folder, folder, script, folder, copy)
      local status, _, err = process.run{"-m", "sh", "-c", sh, process.interpreter(), program = "unshare"}
      assert.same({0, ("profiler: cannot write profile '%s/x.vmprof': No space left on device\n")
                      :format(folder)}, {status, err})
      local p = assert(reader.read(copy))
      assert.is_true(p.complete and p.samples > 1000)
    end)
  else
    pending "a disk of its own needs root, who may mount"
    os.remove(folder)
  end
end)

describe("a file that takes no more for a while", function()
  local gen = require "profilegen"
  local convert = require "asamp.commands.convert"
  local vmprof = require "spec.support.vmprof"

  local function size(path)
    local f <close> = assert(io.open(path))
    return f:seek "end"
  end

  -- Waits at most two minutes, until what() returns true.
  local function await(what)
    for _ = 1, 12000 do
      if what() then return end
      gen.sleep(0.01)
    end
    error "waited in vain"
  end

  it("is cut back to its complete part, and continues with all kept data when there is space", function()
    local all = {}
    -- the last profile has large flushes, which the library ISA-L compresses
    for _, o in ipairs{{}, {plain = true}, {format = 7}, {format = 7, plain = true}, {more = 20000}} do
      o.n = 1000 + (o.more or 0)
      o.path, o.native, o.resolve, o.followed = os.tmpname(), true, "plain", 1000
      o.p = assert(gen.open(o))
      all[#all + 1] = o
    end
    -- writes a thousand samples with different stacks, a new function, and survival outcomes, to each
    -- profile
    local function work(from)
      for _, o in ipairs(all) do
        o.p:name(8 * from, "f" .. from, 1, "@x.lua")
        for i = 1, 1000 do o.p:sample{8 * from, i, 0x7f0001 + 2 * (from * 1000 + i), 0} end
        if o.more then
          local deep = {}
          for i = 1, 20 do deep[2 * i - 1], deep[2 * i] = 8 * from, i end
          o.p:flood(o.more, deep)
        end
        o.p:collection{fates = ("01"):rep(o.n // 2), major = true, deaths = {from, 1}}
      end
    end
    local function readable(n)
      for _, o in ipairs(all) do
        await(function()
          local p = reader.read(o.path)
          return p and p.samples == n * o.n
        end)
      end
    end
    work(1)
    readable(1)
    gen.filelimit(0)
    work(2)
    for _, o in ipairs(all) do
      await(function() return o.p:totals().error == 27 end)
      o.p:time{8, 1, count = 3}
      assert.equal(3, o.p:totals().lost)
    end
    readable(1)
    work(3)
    gen.filelimit(1 << 30)
    for _, o in ipairs(all) do await(function() return o.p:totals().error == 0 end) end
    readable(3)
    work(4)
    for _, o in ipairs(all) do
      local _, totals = o.p:close()
      local n = 4 * o.n
      assert.same({samples = n, lost = 3, timesamples = 0, error = 0, bytes = size(o.path)}, totals)
      local p = assert(reader.read(o.path))
      assert.is_true(p.complete, p.message)
      assert.same({n, 3, 0}, {p.samples, p.lost, p.undetailed})
      local marks = {}
      for i, m in ipairs(p.marks) do marks[i] = m.name .. "=" .. m.value end
      assert.same({"samples lost=3: File too large"}, marks)
      assert.equal(4, p.majors)
      if not o.more then
        local list = samples.read(o.path)
        local survived = 0
        for _, s in ipairs(list) do survived = survived + (s.survived and 1 or 0) end
        assert.same({n, n // 2}, {#list, survived})
        local log = vmprof.read(o.path)
        assert.equal(n, #log.stacks)
        for k = 1, 4 do assert.equal(("py:f%d:1:x.lua"):format(k), log.names[8 * k]) end
      end
      local r = assert(reader.repair(o.path, o.path .. ".new"))
      assert.is_true(r.whole)
      for _, format in ipairs{"pprof", "firefox", "collapsed", "speedscope", "vmprof"} do
        local none = function() end
        local world = {out = none, err = error, progress = function() return none, none end}
        assert.equal(0, convert.run({"--to", format, "-o", o.path .. ".out", o.path}, world))
      end
      os.remove(o.path .. ".out")
      os.remove(o.path)
    end
  end)

  it("costs a session the samples of that time, and is reported at once", function()
    local path, status, out, err = run [[
      local profiler, natives, gen = require "profiler", require "natives", require "profilegen"
      local path = ...
      assert(profiler.alloc_start(64, {out = path, native = false, seed = 1}))
      profiler.time_start(1000)
      local kept = {}
      local function work(n)
        for i = 1, n do kept[i % 100] = natives.userdata(100) end
        collectgarbage()
      end
      local function await(stalled)
        local clock = os.time()
        repeat
          work(1000)
        until (profiler.stats().error ~= nil) == stalled or os.time() > clock + 60
      end
      local function size()
        local f <close> = assert(io.open(path))
        return f:seek "end"
      end
      work(5000)
      repeat work(1000) until size() > 5000  -- larger than every file that the specs write
      gen.filelimit(size())
      await(true)
      io.stderr:write "stalled\n"
      print(profiler.stats().error)
      local lost = profiler.stats().lost
      work(50000)
      print(profiler.stats().lost > lost + 50000)
      gen.filelimit(1 << 30)
      await(false)
      work(5000)
      print(profiler.stats().samples, profiler.stats().lost)
      print(profiler.disable())
      print(profiler.stats().lost)
    ]]
    assert.equal(0, status, err)
    local taken, lost, last = out:match "^File too large\ntrue\n(%d+)\t(%d+)\ntrue\n(%d+)\n$"
    assert.truthy(taken, out)
    local said = ("profiler: %s: File too large; samples are lost until the file can be written " ..
                  "again\nstalled\nprofiler: %s: there is space again, and writing " ..
                  "continues; "):format(path, path)
    assert.equal(said, err:sub(1, #said))
    local note = err:sub(#said + 1):match "^(%d+) samples were lost %(mark [^\n]*keep=\n$"
    note = assert(tonumber(note), err)
    assert.is_true(note > 50000 and note <= tonumber(lost), err)
    local p = assert(reader.read(path))
    assert.is_true(p.complete)
    assert.equal(tonumber(last), p.lost)
    assert.is_true(tonumber(lost) <= tonumber(last))
    assert.is_true(p.samples >= tonumber(taken))
    assert.same({"samples lost", note .. ": File too large"}, {p.marks[1].name, p.marks[1].value})
    local list = samples.read(path)
    assert.equal(0, list.undecided)
    for _, s in ipairs(list) do assert.is_true(s.kind == nil or s.survived ~= nil) end
  end)
end)
