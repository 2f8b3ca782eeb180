-- SPDX-License-Identifier: MIT
-- The ends of profiling sessions: by exit, by fork, by a signal. The program must always continue, and its
-- file must be readable. (full_spec.lua has full disks.)

local peers = require "peers"
local process = require "spec.support.process"
local reader = require "profiler.reader"
local samples = require "spec.support.samples"
local sessions = require "spec.support.sessions"

local blocks, run, START = sessions.blocks, sessions.run, sessions.START

describe("a session ends with", function()
  it("the end of the script", function()
    local path, status, _, err = run(START)
    assert.same({0, ""}, {status, err})
    local list = samples.read(path)
    local n, decided = blocks(list, 1000)
    assert.equal(500, n)
    assert.equal(500, decided)
    assert.equal(0, list.undecided)
  end)

  it("an error of the script, whose traceback stays as it is", function()
    local path, status, _, err = run(START .. "error 'the script is broken'")
    assert.equal(1, status)
    assert.truthy(err:find "the script is broken\nstack traceback:\n")
    assert.equal(500, (blocks(samples.read(path), 1000)))
  end)

  for call, status in pairs{["os.exit(3)"] = 3, ["os.exit(4, true)"] = 4, ["os.exit(true, true)"] = 0,
                            ["os.exit(false)"] = 1,
                            ["coroutine.wrap(function() os.exit(5) end)()"] = 5,
                            ["coroutine.wrap(function() os.exit(6, true) end)()"] = 6,
                            ["natives.through(os.exit, 7)"] = 7,
                            ["setmetatable({}, {__gc = function() os.exit(8) end}) collectgarbage()"] = 8} do
    it(call, function()
      local path, got, _, err = run(START .. call)
      assert.same({status, ""}, {got, err})
      local list = samples.read(path)
      local n, decided = blocks(list, 1000)
      assert.equal(500, n)
      -- exit() of C runs no collection, so that the outcomes of the last samples are undecided
      local undecided = 0
      for _, s in ipairs(list) do
        if s.survived == nil then undecided = undecided + 1 end
      end
      assert.equal(undecided, list.undecided)
      if call:find "true%)" then assert.equal(500, decided) end
    end)
  end

  it("os.exit(true, true), after to-be-closed values have allocated", function()
    for _, l in ipairs{false, true} do
      local path, status, out, err = run(START .. [[
        assert(profiler.time_start(1000))
        local pending <close> = setmetatable({}, {__close = function()
          print(profiler.stats().on)
          for i = 501, 1000 do kept[i] = natives.userdata(1000) end
        end})
        ]] .. (l and "coroutine.wrap(function() os.exit(true, true) end)()" or "os.exit(true, true)"))
      assert.same({0, ""}, {status, err})
      local list = samples.read(path)
      os.remove(path)
      assert.truthy(list.log.ended)
      local n, decided = blocks(list, 1000)
      -- the session ends when lua_close starts, before any finalizer runs
      assert.same({500, 500, out}, {n, decided, "false\n"})
    end
  end)

  it("profiler.disable() in a finalizer, where none can be decided any more", function()
    local path, status, _, err = run(START .. [[
      setmetatable({}, {__gc = function()
        for i = 501, 1000 do kept[i] = natives.userdata(2000) end
        assert(profiler.disable())
      end})
      collectgarbage()
      assert(not profiler.stats().on)
      for i = 1, 100 do kept[i] = natives.userdata(3000) end]])
    assert.same({0, ""}, {status, err})
    local list = samples.read(path)
    assert.same({500, 500}, {blocks(list, 1000)})
    assert.same({500, 0}, {blocks(list, 2000)})
    assert.equal(0, (blocks(list, 3000)))
    assert.is_true(list.undecided >= 500)
  end)

  -- After Ctrl-C, the code that handles the error is sampled, too: the traceback and __close metamethods.
  describe("Ctrl-C", function()
    local CTRL = [[
      local peers, natives = require "peers", require "natives"
      local kept, pid = {}, require "profiler.core".getpid()
      for i = 1, 500 do kept[i] = natives.userdata(1000) end
      local function interrupt() assert(peers.kill(pid, 2)) end
    ]]

    -- Runs the code under -l profiler. Returns its exit status, stderr, the samples and the profile.
    local function interrupted(code, options)
      local path, script = os.tmpname(), process.file(CTRL .. code)
      local status, out, err = process.run{load = "profiler", script,
        env = {LUA_PROFILER = "alloc=64,fixed,seed=1,out=" .. path .. (options or "")}}
      os.remove(script)
      assert.equal("", out)
      local list = status < 128 and samples.read(path)
      local profile = reader.read(path)
      os.remove(path)
      return status, (err:gsub(script, "SCRIPT"):gsub(path, "OUT")), list, profile
    end

    local MESSAGE = "^[^\n]*lua: SCRIPT:%d+: interrupted!\nstack traceback:\n.*\n" ..
      "profiler: %d+ samples, one every 64 bytes, of %d+%.?%d* [KM]iB allocated; [^\n]*profile: OUT\n$"

    for name, code in pairs{
      ["in a loop"] = "interrupt() while true do end",
      ["in a loop that allocates"] = "interrupt() while true do kept[501] = {} end",
      ["in a C function that calls back"] =
        "table.sort({1, 2, 3}, function(a, b) interrupt() return a < b end)",
      ["in a pcall of C functions only"] = "interrupt() pcall(string.rep, 'x', 10)",
      ["from a coroutine, when the main program goes on"] =
        "coroutine.wrap(function() interrupt() for i = 1, 1000 do kept[i + 500] = {} end end)()",
      ["with a variable that is to be closed"] = [=[
        local t <close> = setmetatable({}, {__close = function()
          for i = 1, 100 do kept[i] = natives.userdata(2000) end
        end})
        interrupt()
        while true do end]=],
    } do
      for _, options in ipairs{"", ",time=10000", ",time=10000,wall"} do
        it(("%s: an error of the script, and a whole profile%s"):format(name, options), function()
          local status, err, list, profile = interrupted(code, options)
          assert.equal(1, status)
          assert.truthy(err:find(MESSAGE), err)
          assert.is_true(profile.complete)
          assert.same({500, 500}, {blocks(list, 1000)})
          assert.equal(0, list.undecided)
          if name:find "closed" then assert.same({100, 100}, {blocks(list, 2000)}) end
        end)
      end
    end

    it("that the script catches: it goes on", function()
      local status, err, list = interrupted([[
        assert(not pcall(function() interrupt() while true do end end))
        for i = 1, 100 do kept[i] = natives.userdata(2000) end]], ",time=1000,quiet")
      assert.same({0, ""}, {status, err})
      assert.same({100, 100}, {blocks(list, 2000)})
    end)

    -- At the first SIGINT, the interpreter restores the default action, so that the second SIGINT ends the
    -- process.
    it("twice in a row ends the process; the flushed data are there", function()
      for _, code in ipairs{"pcall(function() interrupt() while true do end end)",
                            "coroutine.wrap(function() interrupt() interrupt() end)()"} do
        local status, err, _, profile = interrupted([[
          local path = os.getenv "LUA_PROFILER":match "out=([^,]+)"
          local function size()
            local f <close> = io.open(path)
            return f:seek "end"
          end
          for _ = 1, 2 do  -- the head, then the first samples
            local before = size()
            while size() == before do peers.sleep(0.01) natives.userdata(3000) end
          end
          ]] .. code .. [[
          interrupt() interrupt()]], ",time=1000")
        assert.same({128 + 2, ""}, {status, err})
        assert.is_false(profile.complete)
        assert.is_true(profile.samples >= 500, profile.samples)
      end
    end)
  end)

  it("chdir before: the file is where it was opened", function()
    local folder = os.tmpname()
    os.remove(folder)
    assert(os.execute("mkdir -p " .. folder .. "/other"))
    local interpreter = process.interpreter()
    local here = io.popen "pwd":read "l"
    local function whole(paths)
      return (paths:gsub("%f[^;%z]%./", here .. "/"):gsub(";%./", ";" .. here .. "/"))
    end
    local env = {LUA_PATH = whole(package.path), LUA_CPATH = whole(package.cpath)}
    assert.same({0, "", ""}, {process.run{code = START .. [[
      assert(require "peers".chdir "other")
      for i = 501, 1000 do kept[i] = natives.userdata(1000) end
      assert(profiler.disable())
      assert(profiler.alloc_start(64, {out = ...}))]], "x.vmprof", directory = folder,
                                          program = interpreter, env = env}})
    assert.same({1000, 1000}, {blocks(samples.read(folder .. "/x.vmprof"), 1000)})
    assert.truthy(samples.read(folder .. "/other/x.vmprof").log.ended)
  end)

  it("the end of a state while another goes on", function()
    local path, status, out, err = run(START .. [[
      local peers = require "peers"
      local s = peers.new{}
      assert(s:run("assert(require('profiler').alloc_start(64, {out = ...})) return 1", ... .. ".other"))
      s:close()
      for i = 1, 500 do kept[i] = natives.userdata(2000) end
      print(profiler.stats().on)
    ]])
    assert.same({0, ""}, {status, err})
    assert.equal("true\n", out)
    assert.truthy(samples.read(path .. ".other").log.ended)
    assert.equal(500, (blocks(samples.read(path), 2000)))
  end)

  it("_exit, which leaves the flushed data", function()
    local path, status = run(START .. [[
      local peers, path = require "peers", ...
      local function size()
        local f = io.open(path)
        local n = f:seek "end"
        f:close()
        return n
      end
      local before = size()
      while size() == before do peers.sleep(0.01) natives.userdata(3000) end
      peers._exit(9)
    ]])
    assert.equal(9, status)
    local profile = assert(reader.read(path))
    assert.is_false(profile.complete)
  end)
end)

describe("a session that starts while the state is being closed", function()
  -- A finalizer that runs in lua_close may request a profile. Objects that are created then have no
  -- finalizer, and exit() runs after the state is freed.
  it("is refused or finished, and exit() finds nothing of the dead state", function()
    local _, status, _, err = run [[
      local path = ...
      setmetatable({}, {__gc = function()
        local ok, profiler = pcall(require, "profiler")
        if ok then pcall(profiler.alloc_start, 64, {out = path}) end
        for i = 1, 100 do local _ = {i} end
      end})
    ]]
    assert.same({0, ""}, {status, err})
  end)
end)

describe("the child of a fork", function()
  -- Leak detection is off, because a forked child leaves the memory of the parent's writer thread allocated
  -- (profile_abandon).
  local ENV = {env = {ASAN_OPTIONS = "detect_leaks=0"}}
  local FORK = START .. [[
    local peers, path = require "peers", ...
    local pid = peers.fork()
    if pid == 0 then
      kept = nil
      collectgarbage()
      for i = 1, 500 do natives.userdata(2000) end
      %s
    end
    local status = peers.wait(pid)
    for i = 1, 500 do kept[i] = natives.userdata(3000) end
    assert(profiler.disable())
    os.exit(status)
  ]]

  for _, ending in ipairs{"os.exit(0)", "os.exit(0, true)", "peers._exit(0)"} do
    it("does not touch the parent's file: " .. ending, function()
      local path, status, _, err = run(FORK:format(ending), ENV)
      assert.same({0, ""}, {status, err})
      local list = samples.read(path)
      assert.equal(500, (blocks(list, 1000)))
      assert.equal(0, (blocks(list, 2000)))
      assert.equal(500, (blocks(list, 3000)))
      assert.equal(0, list.undecided)
    end)
  end

  -- A former bug: a thread forked while realloc moved a list of another thread. The child then freed memory
  -- that realloc had already freed. The spec preloads a library. It is left out with ASan, whose own
  -- library must be preloaded first.
  if os.getenv "ASAMP_VARIANT" ~= "asan" then
    it("finds lists in the middle of a change, when another thread has forked", function()
      local _, status, _, err = run([[
        local profiler = require "profiler"
        assert(profiler.alloc_start(64, {out = ..., fixed = true, native = false}))
        local kept = {}
        for i = 1, 20000 do kept[i] = {i} end
        collectgarbage()
        for i = 1, 20000 do kept[i] = {i} end
        profiler.disable()
      ]], {env = {LD_PRELOAD = package.searchpath("forking", package.cpath)}})
      assert.equal(0, status)
      local forks = err:match "^(%d+) forks\n$"
      assert.is_true(tonumber(forks) ~= nil and tonumber(forks) >= 10, err)
    end)
  end

  it("of a child may have a session of its own: a daemon", function()
    local path, status, out, err = run(START .. [[
      local peers, path = require "peers", ...
      local child = peers.fork()
      if child == 0 then
        assert(peers.setsid())
        if peers.fork() > 0 then os.exit(0) end
        assert(profiler.enable{alloc = 64, time = 1000, fixed = true, out = path .. ".daemon"})
        for i = 1, 500 do kept[i] = natives.userdata(2000) end
        assert(profiler.disable())
        os.rename(path .. ".daemon", path .. ".done")
        os.exit(0)
      end
      print(peers.wait(child))
      local f
      for _ = 1, 12000 do
        f = io.open(path .. ".done")
        if f then break end
        peers.sleep(0.01)
      end
      f:close()]], ENV)
    assert.same({0, ""}, {status, err})
    assert.equal("0\n", out)
    assert.same({500, 500}, {blocks(samples.read(path), 1000)})
    assert.same({500, 500}, {blocks(samples.read(path .. ".done"), 2000)})
  end)

  it("has no session: every function says so, none crashes", function()
    local _, status, out, err = run(FORK:format([[
      assert(not profiler.stats().on)
      assert(profiler.period() == nil)
      assert(not pcall(profiler.period, 128))
      assert(profiler.alloc_stop() == false)
      assert(profiler.disable() == false)
      os.exit(0, true)
    ]]), ENV)
    assert.equal("", err)
    assert.equal("", out)
    assert.equal(0, status)
  end)

  it("may have a session of its own", function()
    local path, status, _, err = run(FORK:format([[
      pcall(profiler.disable)
      assert(profiler.alloc_start(128, {out = path .. ".child", fixed = true}))
      for i = 1, 500 do natives.userdata(4000) end
      os.exit(0, true)
    ]]), ENV)
    assert.same({0, ""}, {status, err})
    local list = samples.read(path .. ".child")
    local n, decided = blocks(list, 4000)
    assert.equal(500, n)
    assert.equal(500, decided)
    assert.equal(500, (blocks(samples.read(path), 3000)))
  end)
end)

describe("a run that is killed", function()
  it("leaves all but its last second", function()
    local path = os.tmpname()
    local script = process.file [[
      local natives, sleep = require "natives", require "peers".sleep
      for i = 1, 1000 do natives.userdata(1000) end
      while true do natives.userdata(2000) sleep(0.001) end
    ]]
    local pid = process.start{"-l", "profiler", script,
      env = {LUA_PROFILER = "alloc=2K,fixed,seed=1,native=0,out=" .. path}}
    local function lines()
      local profile = reader.read(path)
      local n = {}
      if not profile or not profile.sites then return n, profile end
      for i, node in ipairs(profile.sites.node) do
        local line = node
        while line ~= 0 and profile.functions[profile.nodes.fn[line]].native do
          line = profile.nodes.parent[line]
        end
        local at = profile.nodes.line[line] or 0
        n[at] = (n[at] or 0) + profile.sites.bytes[i]
      end
      return n, profile
    end
    -- waits for a sample of line 3 in the file; it proves that the flush after line 2 was written
    for _ = 1, 12000 do
      if lines()[3] then break end
      peers.sleep(0.02)
    end
    assert(peers.kill(pid, 9))
    local n, profile = lines()
    assert.is_false(profile.complete)
    assert.is_true(math.abs(n[2] - 1000 * 1032) < 2 * 2048, n[2])
    assert.is_true(n[3] > 0)
  end)
end)

describe("a path that cannot be written", function()
  it("is returned by alloc_start: nil, a line, the errno", function()
    local profiler = require "profiler"
    for _, case in ipairs{{"/nowhere/x.vmprof", "No such file or directory", 2},
                          {"/", "Is a directory", 21}} do
      local ok, message, errno = profiler.alloc_start(64, {out = case[1]})
      assert.is_nil(ok)
      assert.equal(("cannot write profile '%s': %s"):format(case[1], case[2]), message)
      assert.equal(case[3], errno)
      assert.is_false(profiler.stats().on)
      assert.is_false(profiler.disable())
    end
  end)

  it("may be a pipe that somebody reads", function()
    local pipe, copy = os.tmpname(), os.tmpname()
    os.remove(pipe)
    assert(os.execute("mkfifo " .. pipe))
    -- the program repeats the start, because the reader may not have opened the pipe yet
    local pid = process.start{"-c", ("cat %s >%s"):format(pipe, copy), program = "sh"}
    local status, _, err = process.run{code = START:gsub("assert(%b())", [[
      local peers, path = require "peers", ...
      for _ = 1, 12000 do
        if profiler.alloc_start(64, {out = path, fixed = true, seed = 1}) then break end
        peers.sleep(0.01)
      end]], 1), pipe}
    assert.same({0, ""}, {status, err})
    while peers.kill(pid, 0) do peers.sleep(0.01) end
    assert.equal(500, (blocks(samples.read(copy), 1000)))
  end)

  -- A former bug: if the profile was a pipe whose reader had stopped reading, the program never ended.
  it("may be a pipe whose reader stops reading: the program ends, and says so", function()
    local pipe = os.tmpname()
    os.remove(pipe)
    finally(function() os.remove(pipe) end)
    assert(os.execute("mkfifo " .. pipe))
    local pid = process.start{"-c", "exec sleep 100 <" .. pipe, program = "sh"}
    local status, out, err = process.run{limit = 60, pipe, code = [[
      local profiler, peers = require "profiler", require "peers"
      while not profiler.enable{alloc = 64, fixed = true, seed = 1, out = ..., compress = false} do
        peers.sleep(0.01)
      end
      local kept = {}
      for i = 1, 12000 do kept[i] = {i} end  -- more than a pipe holds, and less than the queue
      print "ends"]]}
    require "peers".kill(pid, 15)
    assert.same({0, "ends\n"}, {status, out}, err)
    local reason = "no process has read from this pipe for 5 s, so the end of the profile is missing; " ..
                   "start a reader that reads to the end"
    assert.truthy(err:find(reason, 1, true), err)
  end)
end)
