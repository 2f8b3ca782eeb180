-- SPDX-License-Identifier: MIT
-- A process that calls exit() in a signal handler must end, whatever code the handler has interrupted. A
-- former bug: if the handler had interrupted the thread while it reported a sample, exit() waited for ever
-- for that thread's own lock (in 2 of 25 runs with a period of 512 bytes).

local process = require "spec.support.process"
local reader = require "profiler.reader"
local shell = require "spec.support.shell"

-- The code that runs while the signal arrives, by name.
local WORK = {
  ["emitting samples"] = "local t = {} while true do t[#t % 100 + 1] = {tostring(#t)} end",
  ["in C's allocator"] = [[
    local natives = require "natives"
    while true do
      local kept = {}
      for i = 1, 100 do kept[i] = natives.userdata(10000 + i * 100) end
    end]],
  ["opening and ending sessions"] = [[
    local core = require "profiler.core"
    local peer = require "peers".new()
    while true do
      assert(peer:run([=[
        local core = require "profiler.core"
        assert(core.open{out = ..., period = 64, timeperiod = 100000, replace = true})
        assert(core.timeon(100000, true))
        core.on(64, false)
        for i = 1, 100 do local _ = {i} end
        core.close()]=], os.tmpname()))
    end]],
  ["while another thread is sampled"] = [[
    local thread = require "peers".thread([=[
      local core = require "profiler.core"
      local path = ...
      assert(core.open{out = path, period = 64, timeperiod = 100000})
      assert(core.timeon(100000, true))
      core.on(64, false)
      while true do local _ = {{}} end]=], os.tmpname())
    while thread do local _ = {} end]],
}

-- Runs n processes, whose signal handler ends them by the method 'how'. Returns the number of profiles with a
-- complete end, and the number of runs without one that printed the reason: the handler had interrupted code
-- for which the writer thread waits.
local function ends(n, how, expected, work)
  local folder = shell.folder()
  local script = process.file([[
    math.randomseed()
    os.tmpname = function() return ("%s/%s.%x"):format(arg[2], "other", math.random(0)) end
    require "signals".ending(math.random(20000, 60000), arg[1], 7)
    ]] .. work)
  local path, whole, reported = folder .. "/own", 0, 0
  local env = {LUA_PROFILER = "alloc=64,time=5000,wall,quiet,out=" .. path,
               ASAN_OPTIONS = "detect_leaks=0:handle_abort=0", LSAN_OPTIONS = "detect_leaks=0"}
  for i = 1, n do
    os.remove(path)
    local status, _, err = process.run{"-l", "profiler", script, how, folder, env = env, limit = 300}
    assert.equal(expected, status, how .. ", run " .. i)
    local ok, p = pcall(reader.read, path)
    if ok and p and p.complete then
      whole = whole + 1
    elseif err:find("outside of signal handlers; %d+ samples? [ia][sr]e? lost\n$") then
      reported = reported + 1
    end
  end
  shell.remove(folder)
  return whole, reported
end

describe("a handler that ends the process", function()
  local N = tonumber(os.getenv "ASAMP_EXITS" or 5)
  for what, work in pairs(WORK) do
    it("by exit() ends it, and the profile: " .. what, function()
      local whole, reported = ends(N, "exit", 7, work)
      assert.equal(N, whole + reported)
      assert.is_true(whole >= N // 2, whole)
    end)
  end

  it("by quick_exit() ends it, and the profile", function()
    assert.is_true(ends(N, "quick_exit", 7, WORK["emitting samples"]) >= N - 1)
  end)

  -- A former bug: when the handler had interrupted pthread_cond_signal, exit() called that function again,
  -- and the thread waited for itself for ever. The spec preloads a library and is left out with ASan, whose
  -- own library must be the first preloaded one.
  if os.getenv "ASAMP_VARIANT" ~= "asan" then
    it("by exit() ends it in the midst of a condition's signal, too", function()
      local folder = shell.folder()
      local path = folder .. "/own"
      for _, what in ipairs{"emitting samples", "opening and ending sessions"} do
        local script = process.file("os.tmpname = function() return arg[1] end " .. WORK[what])
        for at = 1, 9 do
          os.remove(path)
          local status = process.run{"-l", "profiler", script, folder .. "/other", limit = 300, env = {
            LUA_PROFILER = "alloc=64,wall,time=5000,quiet,out=" .. path, WAKING_AT = at,
            LD_PRELOAD = package.searchpath("waking", package.cpath)}}
          assert.equal(7, status, what .. ", signal " .. at)
          assert.is_true(reader.read(path).complete)
        end
      end
      shell.remove(folder)
    end)

    -- A former bug: the handler was installed only after the profile's file was created. A signal in
    -- between left a file without an end, or, after bind(), the socket's file.
    for _, call in ipairs{"pthread_create", "listen"} do
      it("leaves a complete profile while the session starts: " .. call, function()
        local folder = shell.folder()
        for _, env in ipairs{{LUA_PROFILER = "quiet,out=" .. folder .. "/own"},
                             {ASAMP = ("quiet,out=%s/own,listen=%s/socket"):format(folder, folder)}} do
          env.LD_PRELOAD, env.TERM_AT = package.searchpath("waking", package.cpath), call
          local arguments = {"-e", "local t = {} for i = 1, 1e5 do t[i % 100] = {} end", env = env}
          local own = env.LUA_PROFILER ~= nil
          if own then table.insert(arguments, 1, "-lprofiler") end
          local status, _, err = process.run(arguments)
          assert.equal(own and call == "listen" and 0 or 128 + 15, status, err)
          for _, name in ipairs(shell.lines(shell.output("ls %s", folder))) do
            assert.equal("own", name)
            local p = assert(reader.read(folder .. "/own"))
            assert.is_true(p.complete)
          end
          os.remove(folder .. "/own")
        end
        shell.remove(folder)
      end)
    end
  end

  it("by _exit() or abort() ends it", function()
    ends(3, "_exit", 7, WORK["emitting samples"])
    ends(3, "abort", 128 + 6, WORK["emitting samples"])
  end)
end)

local here = require "asamp.host".realpath "."

-- The command that runs a program as process 1 of a new PID namespace: as root, or with a user namespace
-- (unshare -U). It is false if the system allows neither.
local UNSHARE = os.execute "unshare -p -f true 2>/dev/null" and "unshare -p -f"
                or os.execute "unshare -Urpf true 2>/dev/null" and "unshare -Urpf"

if UNSHARE then
  describe("process 1", function()
    -- A former bug: a server in a container lost its profile at the first broken connection. The
    -- handler of SIGPIPE ended the profile, but process 1 does not end by a signal without a
    -- handler of its own.
    it("continues, with its profile, when nobody reads its output", function()
      local folder = shell.folder()
      shell.write(folder .. "/x.lua", [[
        local profiler = require "profiler"
        for i = 1, 1e5 do local t = {i} end
        os.execute "for s in PIPE HUP QUIT; do kill -$s 1; done"
        for i = 1, 1e5 do local t = {i} end
        profiler.mark("later", "1")
      ]])
      local status, _, err = process.run{program = "sh", "-c",
        UNSHARE .. ' sh -c "exec $0 -l profiler x.lua"', process.interpreter(), directory = folder,
        env = {LUA_PROFILER = "alloc=1K,quiet,native=0,out=p",
               LUA_PATH = package.path:gsub("%f[^;\0]%./", here .. "/"),
               LUA_CPATH = package.cpath:gsub("%f[^;\0]%./", here .. "/")}}
      assert.same({0, ""}, {status, err})
      local r = assert(reader.read(folder .. "/p"))
      assert.same({true, "later"}, {r.complete, r.marks[1].name})
      shell.remove(folder)
    end)
  end)
end
