-- SPDX-License-Identifier: MIT
-- Profiles of a process that is killed by SIGKILL at an arbitrary place of its code: the flushed part of
-- the file must be readable and repairable.

local peers = require "peers"
local process = require "spec.support.process"
local reader = require "profiler.reader"
local samples = require "spec.support.samples"

-- Repairs a profile. Reads the repaired copy (or the profile, if it was not damaged) by the reader and by
-- the specs' own decoder. Returns the decoder's samples, the reader's profile and the result of the repair.
local function repaired(path)
  local out = os.tmpname()
  local r = assert(reader.repair(path, out))
  local profile = assert(reader.read(r.whole and path or out))
  local list = samples.read(r.whole and path or out)
  os.remove(out)
  return list, profile, r
end

describe("SIGKILL at any moment", function()
  -- A child process takes a few samples at a time, so that the file grows only at a flush. It records the
  -- number of samples that it had taken before the last but one flush.
  local CHILD = [[
    local gen = require "profilegen"
    local path, notes, format = ...
    local p = assert(gen.open{path = path, format = tonumber(format), resolve = "plain",
                              timeperiod = 1000000})
    p:name(8, "f", 1, "@x.lua")
    local taken, before, size = 0, 0, p:totals().bytes
    while true do
      for i = 1, 10 do
        p:sample{0x7f0001 + 2 * (taken % 50), 0, 8, taken}
        p:time{8, taken}
        taken = taken + 2
      end
      p:collection{fates = ("01"):rep(5)}
      gen.sleep(0.005)
      if p:totals().bytes > size then
        size = p:totals().bytes
        local f = io.open(notes, "w")
        f:write(before, "\n")
        f:close()
        before = taken
      end
    end
  ]]

  for format = 6, 7 do
    it("leaves every sample of before the last flush, version " .. format, function()
      local seed = 4 + format
      math.randomseed(seed)
      local script, children = process.file(CHILD), {}
      for i = 1, 6 do
        local path, notes = os.tmpname(), os.tmpname()
        children[i] = {path = path, notes = notes, after = math.random() * 3,
                       pid = process.start{script, path, notes, format}}
      end
      table.sort(children, function(a, b) return a.after < b.after end)
      local now = 0
      for _, c in ipairs(children) do
        peers.sleep(c.after - now)
        now = c.after
        assert(peers.kill(c.pid, 9))
      end
      -- The child that lived longest has flushed at least once, on any machine.
      for _, c in ipairs(children) do
        local before = tonumber(process.read(c.notes):match "^(%d+)\n") or 0
        local profile, message = reader.read(c.path)
        if before > 0 then
          assert(profile, message)
          local list, whole, r = repaired(c.path)
          assert.is_false(profile.complete)
          assert.is_false(r.whole)
          assert.is_true(whole.complete)
          assert.is_true(r.samples + r.timesamples >= before,
                         ("%d samples before the flush, seed %d"):format(before, seed))
          assert.equal(profile.samples, whole.samples)
          for i, s in ipairs(list) do assert.equal(2 * (i - 1), s.stack[2].line) end
        else
          assert.is_true(profile == nil or profile.samples >= 0)
        end
        os.remove(c.path)
        os.remove(c.notes)
      end
    end)
  end
end)

describe("SIGKILL of a program that is sampled", function()
  -- Repairs a profile that was cut at an arbitrary byte. Returns the result of the repair and the profile
  -- of the repaired file, or nil if the cut file has no sample. Checks that both files have the stacks
  -- whose details were cut off.
  local function recovered(path)
    local out = os.tmpname()
    local r, message = reader.repair(path, out)
    if not r then
      assert.truthy(message:find "^cannot repair '[^']+': its readable part contains no sample that " or
                    message:find "^cannot read profile '[^']+': [^\n]*empty", message)
      return nil
    end
    local whole = assert(reader.read(r.whole and path or out))
    os.remove(out)
    assert.is_true(whole.complete)
    return r, whole
  end

  local function userdata(profile)
    local n = 0
    for _, k in ipairs(profile.kinds) do
      if k.name == "userdata" then n = n + k.blocks end
    end
    return n
  end

  -- A program that keeps 50 blocks, flushes the profile 'flushes' times, allocates 'more' bytes, and is
  -- killed at the place that 'how' names. It records how many blocks it had allocated before the last but
  -- one flush. It takes few samples at a time, so that the file grows only at a flush.
  local PROGRAM = [[
    local how, path, notes, flushes, more = ...
    flushes, more = tonumber(flushes), tonumber(more)
    local profiler, natives, gen = require "profiler", require "natives", require "profilegen"
    local core, peers = require "profiler.core", require "peers"
    local kept, taken = {}, 0
    local function take(n)
      for _ = 1, n do
        taken = taken + 1
        kept[taken % 50] = natives.userdata(1000)
      end
    end
    local die = {
      lua = gen.kill,
      ["C function"] = function() natives.through(gen.kill) end,
      coroutine = function() coroutine.wrap(gen.kill)() end,
      finalizer = function()
        setmetatable({}, {__gc = gen.kill})
        collectgarbage()
      end,
      hook = function() debug.sethook(gen.kill, "", 1) take(1) end,
      flood = function() take(20000) gen.kill() end,
      mark = function() profiler.mark("last", ("x"):rep(1000)) gen.kill() end,
      ["end of sampling"] = function()
        setmetatable({}, {__gc = gen.kill})
        profiler.alloc_stop()
        collectgarbage()
      end,
      ["end of session"] = function()
        setmetatable({}, {__gc = gen.kill})
        profiler.disable()
        gen.kill()
      end,
      -- most calls of lua_Alloc come from collections
      collection = function()
        back()
        while true do
          take(1000)
          collectgarbage()
        end
      end,
      fork = function()
        local pid = peers.fork()
        if pid == 0 then
          take(1000)
          assert(profiler.enable{alloc = 64, fixed = true, out = path .. ".child"})
          take(1000)
          gen.kill()
        end
        peers.wait(pid)
        gen.kill()
      end,
      orphan = function()
        if peers.fork() > 0 then gen.kill() end
        take(1000)
        os.exit(0, true)
      end,
    }
    local function size()
      local f <close> = io.open(path)
      return f and f:seek "end" or 0
    end
    assert(profiler.enable{alloc = 64, time = 1000, fixed = true, seed = 1, out = path, native = false})
    local last, before, stop = size(), 0, nil
    if flushes == 0 then stop = core.allocated() + more end
    while not stop or core.allocated() < stop do
      take(5)
      if not stop then gen.sleep(0.005) end
      if size() > last then
        -- a flush consists of several writes; this loop ends when the file has kept its size for 0.2 s
        repeat last = size() gen.sleep(0.2) until size() == last
        local f <close> = io.open(notes, "w")
        f:write(before, "\n")
        before = taken
        flushes = flushes - 1
        if flushes == 0 then stop = core.allocated() + more end
      end
    end
    die[how]()
  ]]

  -- Runs the program in a Lua state whose lua_Alloc kills the process. The program calls back(); the n-th
  -- call of lua_Alloc after that kills.
  local START = [[
    local peers, code = require "peers", ...
    local s = peers.new{}
    s:back(function() s:killin(tonumber((select(7, table.unpack(arg))))) end)
    assert(s:run(code, select(2, ...)))]]

  local HOW = {"lua", "C function", "coroutine", "finalizer", "hook", "flood", "mark", "end of sampling",
               "end of session", "collection", "collection", "collection", "fork", "orphan"}

  -- The process is killed before or during the first flush that has samples (0), or later (2).
  for _, flushes in ipairs{0, 2} do
    it("at any place leaves the flushed data, after " .. flushes .. " flushes", function()
      local seed = 11 + flushes
      math.randomseed(seed)
      local script, runs = process.file(START), {}
      for i, how in ipairs(HOW) do
        local r = {how = how, path = os.tmpname(), notes = os.tmpname()}
        os.remove(r.path)
        -- the utility timeout ends a process that was not killed
        r.pid = process.start{program = "timeout", 60, process.interpreter(), script, PROGRAM,
                               how, r.path, r.notes, flushes, math.random(0, 1 << 18), math.random(1, 400)}
        runs[i] = r
      end
      for _, r in ipairs(runs) do
        while peers.kill(r.pid, 0) do peers.sleep(0.01) end
        local text = ("%s, seed %d"):format(r.how, seed)
        local before = tonumber(process.read(r.notes):match "^(%d+)\n") or 0
        assert.is_true(flushes == 0 or before > 0, text)
        local got, whole = recovered(r.path)
        assert.is_true(before == 0 or got ~= nil and userdata(whole) >= before, text)
        assert.is_true(got == nil or got.whole == (r.how == "end of session"), text)
        if r.how == "fork" then
          recovered(r.path .. ".child")
          os.remove(r.path .. ".child")
        end
        os.remove(r.path)
        os.remove(r.notes)
      end
    end)
  end

  -- The profile is written to a pipe: the writer thread stays in a write until a process reads the pipe.
  it("within a write leaves a repairable file, cut anywhere", function()
    local seed = 5
    math.randomseed(seed)
    for _, compress in ipairs{"0", "1"} do
      local pipe = os.tmpname()
      os.remove(pipe)
      assert(os.execute("mkfifo " .. pipe))
      local script = process.file [[
        local profiler, natives, peers = require "profiler", require "natives", require "peers"
        local path, compress = ...
        while not profiler.alloc_start(64, {out = path, fixed = true, seed = 1,
                                            compress = compress == "1"}) do
          peers.sleep(0.01)
        end
        while true do natives.deep(math.random(50), function() natives.userdata(1000) end) end]]
      local pid = process.start{script, pipe, compress}
      local f = assert(io.open(pipe, "rb"))
      local text = f:read(math.random(1, 500000))
      assert(peers.kill(pid, 9))
      text = text .. f:read "a"
      f:close()
      local path = process.file(text)
      local r, whole = recovered(path)
      local note = ("%d bytes of the pipe, seed %d"):format(#text, seed)
      assert.is_true(r ~= nil and not r.whole and r.samples > 100, note)
      assert.is_true(whole.samples >= r.samples, note)
      for _, name in ipairs{pipe, path, script} do os.remove(name) end
    end
  end)
end)
