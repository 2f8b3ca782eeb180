-- SPDX-License-Identifier: MIT
-- Files and disks that take no more, from the beginning or in the middle of a run:
-- the program goes on, the end says what was lost, what is there can be read.

local process = require "spec.support.process"
local reader = require "profiler.reader"
local sessions = require "spec.support.sessions"

local run = sessions.run

describe("a file that takes no more", function()
  it("costs one warning and samples, not the script", function()
    local script = process.file [[
      local natives = require "natives"
      for i = 1, 20000 do natives.userdata(100) end
      print "done"
    ]]
    local status, out, err = process.run{"-l", "profiler", script,
      env = {LUA_PROFILER = "alloc=64,fixed,quiet,out=/dev/full"}}
    os.remove(script)
    assert.equal(0, status)
    assert.equal("done\n", out)
    local lost = err:match "^profiler: /dev/full: No space left on device; (%d+) samples are lost\n$"
    assert.is_true(tonumber(lost) >= 20000, err)
  end)

  it("at a limit of the process keeps what went before", function()
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
    assert.truthy(err:find "^profiler: [^\n]+: File too large; %d+ samples are lost\n$")
    local profile = assert(reader.read(path))
    os.remove(path)
    assert.is_false(profile.complete)
    assert.is_true(profile.offset > 0)
  end)
end)

describe("a disk that becomes full in the middle of a run", function()
  -- Samples stacks that differ, so that the file grows; 'limit' bytes are left for
  -- it when half of the work is done ("none": there is no more room then).
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
    if limit ~= "disk" then gen.filelimit(size() + limit) end
    work(10000)
    io.write "done"
    io.stdout:flush()]]

  -- What is checked of every run: the words, and the account.
  local function checked(status, out, err, path, reason, told)
    assert.equal(0, status, told)
    assert.equal("done", out, told)
    local samples, lost = err:match("^profiler: (%d+) samples, one every 64 bytes, of [^\n]*; profile: " ..
      "[^\n]+\nprofiler: [^\n]+: " .. reason .. "; (%d+) samples are lost\n$")
    if not samples then
      assert.truthy(err:find "^profiler: %d+ samples[^\n]*\n$", told .. err)
      assert.is_true(assert(reader.read(path)).complete, told)
      return false
    end
    samples, lost = tonumber(samples), tonumber(lost)
    assert.is_true(lost > 0, told)
    local got, times = 0, 0
    local profile, message = reader.read(path)
    if profile then
      assert.is_false(profile.complete, told)
      local new = os.tmpname()
      local r, wrong = reader.repair(path, new)
      if r then
        local whole = assert(reader.read(new))
        assert.is_true(whole.complete, told)
        got, times = whole.samples, whole.timesamples or 0
      else assert.truthy(wrong:find "no sample is left in it", told) end
      os.remove(new)
    else assert.truthy(message:find "^cannot read profile", told) end
    -- what had been flushed is there; a part of what is lost may be, too
    assert.is_true(got <= samples, told)
    assert.is_true(got + times + lost >= samples,
                   ("%s: %d + %d + %d of %d"):format(told, got, times, lost, samples))
    return true
  end

  -- SIGXFSZ ends a process that does not ignore it; the writer's thread blocks it.
  for _, signal in ipairs{"ignored", "not ignored"} do
    it("by a limit, costs what came after, SIGXFSZ " .. signal, function()
      local seed, n = 77, 0
      math.randomseed(seed)
      local script, path, full = process.file(PROGRAM), os.tmpname(), 0
      local sh = [[{ "$0" "$@" 2>"$ERR"; echo " $?"; } | cat]]
      if signal == "ignored" then sh = "trap '' XFSZ; " .. sh end
      for _, options in ipairs{"", ",compress=0", ",format=extended", ",format=extended,compress=0"} do
        for _, limit in ipairs{0, math.random(100), math.random(20000)} do
          n = n + 1
          local err, time = os.tmpname(), n % 2 == 0 and ",time=1000" or ""
          local _, out = process.run{"-c", sh, process.interpreter(), "-l", "profiler", script, limit,
            program = "sh", env = {ERR = err,
                   LUA_PROFILER = "alloc=64,fixed,native=0,seed=1,overwrite,out=" ..
                                   path .. options .. time}}
          local told = ("%d more bytes, options %s%s, seed %d: "):format(limit, options, time, seed)
          local text, status = out:match "^(.*) (%d+)\n$"
          if checked(tonumber(status), text, process.read(err), path, "File too large", told) then
            full = full + 1
          end
          os.remove(err)
        end
      end
      os.remove(script)
      os.remove(path)
      assert.is_true(full >= 6, full)
    end)
  end

  -- A file system of its own, in a name space of its own, for root only.
  local MOUNT = "mount -t tmpfs -o size=%dk none %s"
  local folder = os.tmpname()
  os.remove(folder)
  local allowed = os.execute(("mkdir %s && unshare -m sh -c '%s' 2>/dev/null")
                             :format(folder, MOUNT:format(64, folder)))
  if allowed then
    it("costs what came after", function()
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
      os.remove(folder)
    end)
  else
    pending "a disk of its own needs root, who may mount"
    os.remove(folder)
  end
end)
