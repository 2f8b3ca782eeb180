-- SPDX-License-Identifier: MIT
-- Whatever happens to the process, its memory and its file, recording must continue, end, or be abandoned
-- with a message. Data that were flushed must be readable and repairable. (sampler_ends_spec.lua has the
-- usual ends of sessions.)

local gen = require "profilegen"
local peers = require "peers"
local process = require "spec.support.process"
local reader = require "profiler.reader"
local samples = require "spec.support.samples"
local sessions = require "spec.support.sessions"
local times = require "spec.support.times"
local vmprof = require "spec.support.vmprof"

local blocks, run, START = sessions.blocks, sessions.run, sessions.START

describe("a file removed under the run", function()
  it("is reported at the end, and no other file is made", function()
    local path, status, out, err = run(START .. [[
      os.remove(...)
      for i = 1, 500 do kept[i] = natives.userdata(2000) end
      print(profiler.disable())
      print(profiler.stats().lost)
    ]])
    assert.equal(0, status)
    assert.equal("nil\tNo such file or directory\t2\n", out:match "^[^\n]*\n")
    assert.is_true(tonumber(out:match "\n(%d+)\n") >= 1000)
    assert.truthy(err:find "^profiler: [^\n]+: No such file or directory; %d+ samples are lost\n$")
    assert.is_nil(process.read(path))
  end)

  it("is reported when another file took its name", function()
    local path, status, out = run(START .. [[
      local path = ...
      os.rename(path, path .. ".old")
      os.remove(path .. ".old")
      local f = io.open(path, "w")
      f:write "mine"
      f:close()
      print((select(2, profiler.disable())))
    ]])
    assert.equal(0, status)
    assert.equal("No such file or directory\n", out)
    assert.equal("mine", process.read(path))
  end)

  it("but renamed is the file that it was", function()
    local path, status, _, err = run(START .. [[
      os.rename(..., ... .. ".new")
      for i = 1, 500 do kept[i] = natives.userdata(2000) end
    ]])
    assert.same({0, ""}, {status, err})
    local list = samples.read(path .. ".new")
    assert.equal(500, (blocks(list, 1000)))
    assert.equal(500, (blocks(list, 2000)))
  end)
end)

describe("a program that closes descriptors it does not know", function()
  -- A program that closes all descriptors to become a daemon. Files that it opens afterwards get the
  -- numbers of the closed descriptors.
  local DAEMON = [[
    local profiler, natives, peers = require "profiler", require "natives", require "peers"
    local path, exact = ...
    assert(profiler.enable{alloc = 64, time = 1000, exact = exact == "exact", out = path,
                           fixed = true, seed = 1})
    local kept, files = {}, {}
    local function work()
      for i = 1, 500 do kept[i %% 100] = {natives.userdata(2000), table.concat{i, "x"}} end
    end
    work()
    for fd = 3, 1023 do peers.close(fd) end
    for i = 1, 16 do
      files[i] = assert(io.open(path .. "." .. i, "w+"))
      files[i]:write "mine, "
      files[i]:flush()
    end
    work()
    -- also of stacks at addresses that no stack had before
    for depth = 600, 3600, 600 do natives.deep(depth, work) end
    %s
    for i = 1, 16 do
      assert(files[i]:write "all mine")
      assert(files[i]:close())
    end
  ]]

  for _, clock in ipairs{"cpu", times.exact and "exact" or nil} do
    for _, case in ipairs{
      {"disable", "print(profiler.disable())"},
      {"fork", [[
        local pid = peers.fork()
        if pid > 0 then os.exit(peers.wait(pid)) end
      ]]}} do
      local ending, code = case[1], case[2]
      it(("keeps its own files to itself (%s, %s)"):format(clock, ending), function()
        local path = os.tmpname()
        local status, out, err = process.run{code = DAEMON:format(code), path, clock,
                                             env = {ASAN_OPTIONS = "detect_leaks=0"}}
        for i = 1, 16 do
          assert.equal("mine, all mine", process.read(path .. "." .. i))
          os.remove(path .. "." .. i)
        end
        assert.equal(0, status)
        if ending == "disable" then
          assert.equal("true\n", out)
        end
        assert.equal("", err)
        assert.is_true(reader.read(path).complete)
      end)
    end
  end
end)

describe("another process", function()
  it("gets a file of its own while another is being written", function()
    local path, status, out, err = run(START .. [[
      local path = ...
      local lua = arg[-1]
      local code = "local p = require('profiler') print(p.alloc_start(64, {out = '" .. path ..
        "', overwrite = true})) print(p.stats().file)"
      local f = io.popen("'" .. lua .. "' -e \"" .. code .. "\"")
      io.write(f:read "a")
      f:close()
      for i = 1, 500 do kept[i] = natives.userdata(2000) end
    ]])
    assert.equal(("profiler: '%s' is still being written; this profile is written to '%s.2'\n")
                   :format(path, path), err)
    assert.equal(0, status)
    assert.equal(("true\n%s.2\n"):format(path), out)
    assert.is_true(reader.read(path .. ".2").complete)
    os.remove(path .. ".2")
    local list = samples.read(path)
    assert.equal(500, (blocks(list, 1000)))
    assert.equal(500, (blocks(list, 2000)))
  end)

  it("that is executed does not inherit the file", function()
    local path, status, out, err = run(START .. [[
      local f = io.popen "ls -l /proc/self/fd"
      io.write(f:read "a")
      f:close()
      os.execute "true"
      for i = 1, 500 do kept[i] = natives.userdata(2000) end
    ]])
    assert.same({0, ""}, {status, err})
    assert.is_nil(out:find(path, 1, true))
    assert.equal(500, (blocks(samples.read(path), 2000)))
  end)

  it("that is executed inherits no object file whose names were looked up", function()
    local path, status, out, err = run([[
      local function inherited()
        local f = io.popen "ls -l /proc/self/fd"
        local text = f:read "a"
        f:close()
        local list = {}
        for file in text:gmatch "%-> (/[^\n]+)" do
          if not file:find "^/proc/" then list[#list + 1] = file end
        end
        table.sort(list)
        return table.concat(list, "\n")
      end
      local before = inherited()
    ]] .. START .. [[
      assert(profiler.disable())
      print(before == inherited() or inherited())
    ]])
    assert.same({0, ""}, {status, err})
    assert.equal("true\n", out)
    local named = 0
    for _, s in ipairs(samples.read(path)) do
      if s.stack[1].name == "native_userdata" then named = named + 1 end
    end
    assert.equal(500, named)
  end)

  it("that is forked and executed leaves the parent's file alone", function()
    local path, status, _, err = run(START .. [[
      local peers = require "peers"
      local pid = peers.fork()
      if pid == 0 then
        for i = 1, 100 do natives.userdata(3000) end
        os.execute "true"
        peers._exit(0)
      end
      assert(peers.wait(pid) == 0)
      for i = 1, 500 do kept[i] = natives.userdata(2000) end
    ]], {env = {ASAN_OPTIONS = "detect_leaks=0"}})
    assert.same({0, ""}, {status, err})
    local list = samples.read(path)
    assert.equal(500, (blocks(list, 2000)))
    assert.equal(0, (blocks(list, 3000)))
  end)
end)

describe("a fork", function()
  -- The function 'symbol' of asamp.h looks up names as the writer threads do. The spec is left out with
  -- ASan, whose allocator may leave its own lock taken in such a child.
  if os.getenv "ASAMP_VARIANT" ~= "asan" then
  it("while another thread looks up names leaves a child whose session has them", function()
    local script, path = process.file [[
      local profiler, natives = require "profiler", require "natives"
      local peers, embedding = require "peers", require "embedding"
      local path = ...
      assert(embedding.symbol() == "l_symbol")
      local busy = peers.thread([=[
        local embedding, path = require "embedding", ...
        local f = io.open(path)
        while f do
          for i = 1, 100 do embedding.symbol() end
          f:close()
          f = io.open(path)
        end
      ]=], path)
      for i = 1, 10 do
        local pid = peers.fork()
        if pid == 0 then
          local out = path .. "." .. i
          assert(profiler.alloc_start(64, {out = out, fixed = true, seed = 1}))
          for k = 1, 100 do natives.userdata(2000) end
          assert(profiler.disable())
          peers._exit(0)
        end
        assert(peers.wait(pid) == 0)
      end
      os.remove(path)
      assert(busy:join())
    ]], process.file ""
    -- with a time-out, because the child would wait for ever for a lock that was not released
    local status, _, err = process.run{program = "timeout", 60, process.interpreter(),
                                       script, path}
    assert.same({0, ""}, {status, err})
    for i = 1, 10 do
      local list = samples.read(path .. "." .. i)
      assert.equal(100, (blocks(list, 2000)))
      for _, s in ipairs(list) do
        if s.size == 2032 then assert.equal("native_userdata", s.stack[1].name) end
      end
      os.remove(path .. "." .. i)
    end
  end)
  end

  -- A former bug: fork waited for the end of a stack walk on another thread until an absolute time of
  -- CLOCK_REALTIME. If this clock was set back, the wait was longer. The spec preloads a library that finds
  -- no frames. It is left out in the debug build, which would detect that, and with ASan, whose own library
  -- must be preloaded first.
  it("does not wait longer for a walk on another thread when a clock is set back #plain", function()
    local path, status, _, err = run([[
      local peers, walking = require "peers", require "walking"
      local walker = peers.thread([=[
        local profiler, shapes = require "profiler", require "shapes"
        assert(profiler.enable{alloc = 64, out = ..., quiet = true})
        shapes.signalled(function()  -- libunwind walks past the handler
          for i = 1, 100 do local _ = {1, 2, 3, 4} end  -- enough bytes that at least one is sampled
        end)
        assert(profiler.disable())]=], ...)
      while not walking.started() do peers.sleep(0.001) end
      local pid = peers.fork()
      if pid == 0 then peers._exit(0) end
      walking.release()
      assert(peers.wait(pid) == 0)
      assert(walker:join())
    ]], {limit = 60, env = {LD_PRELOAD = package.searchpath("walking", package.cpath)}})
    os.remove(path)
    assert.same({0, ""}, {status, err})
  end)

  it("leaves a child whose collections report its own resident bytes", function()
    local path, status, _, err = run(START .. [[
      collectgarbage()
      local peers, path = require "peers", ...
      local pid = peers.fork()
      if pid == 0 then
        assert(profiler.alloc_start(1 << 20, {out = path .. ".child"}))
        kept = ("x"):rep(64 << 20)
        collectgarbage()
        assert(profiler.disable())
        peers._exit(0)
      end
      assert(peers.wait(pid) == 0)
    ]])
    assert.same({0, ""}, {status, err})
    local parent = assert(reader.read(path)).collections
    local child = assert(reader.read(path .. ".child")).collections
    assert.is_true(parent[#parent].rss > 0)
    assert.is_true(child[#child].rss >= parent[#parent].rss + (60 << 20))
  end)
end)

describe("an error", function()
  it("in a finalizer is a warning, the samples go on", function()
    local path, status, _, err = run(START .. [[
      warn "@on"
      for i = 1, 50 do
        setmetatable({}, {__gc = function() natives.userdata(2000) error "broken finalizer" end})
      end
      collectgarbage()
      for i = 1, 500 do kept[i] = natives.userdata(3000) end
      setmetatable({}, {__gc = function() error "broken at the end" end})
    ]])
    assert.equal(0, status)
    local _, n = err:gsub("broken finalizer", "")
    assert.equal(50, n)
    assert.truthy(err:find "broken at the end")
    local list = samples.read(path)
    assert.equal(50, (blocks(list, 2000)))
    assert.equal(500, (blocks(list, 3000)))
    assert.equal(0, list.undecided)
  end)

  it("of a stack overflow is an error of the script, with its samples", function()
    local path, status, out, err = run([[
      local profiler, natives = require "profiler", require "natives"
      assert(profiler.alloc_start(1 << 16, {out = ..., fixed = true, seed = 1}))
      local function down(n) local t = {n} return 1 + down(n + 1) + #t end
      print(select(2, pcall(down, 1)):match "stack overflow")
      local function natively(n)
        return (("x"):gsub("x", function() natives.userdata(4000) return natively(n + 1) end))
      end
      print(select(2, pcall(natively, 1)):match "stack overflow")
      print(select(2, xpcall(down, function() return down(1) end, 1)))
      local co = coroutine.wrap(function() return pcall(down, 1) end)
      print(select(2, co()):match "stack overflow")
      for i = 1, 500 do natives.userdata(1 << 16) end
    ]])
    assert.same({0, ""}, {status, err})
    local lines = {}
    for line in out:gmatch "[^\n]+" do lines[#lines + 1] = line end
    assert.equal("stack overflow", lines[1])
    assert.equal("stack overflow", lines[2])
    assert.equal("stack overflow", lines[4])
    local list = samples.read(path)
    assert.equal(500, (blocks(list, 1 << 16)))
    local deepest, cut = 0, false
    for _, s in ipairs(list) do
      deepest = math.max(deepest, #s.stack)
      for _, f in ipairs(s.stack) do cut = cut or f.name == "[frames cut]" end
    end
    assert.equal(1024, deepest)
    assert.is_true(cut)
  end)
end)

describe("memory that runs out", function()
  it("in a state (lua_Alloc says no) costs that state's work, no sample", function()
    local path = os.tmpname()
    local s = peers.new{}
    assert(s:run([[
      profiler = require "profiler"
      assert(profiler.alloc_start(64, {out = ..., fixed = true, seed = 1}))
    ]], path))
    local refused = 0
    for extra = 0, 300000, 30011 do
      s:limit(s:used() + extra)
      local ok, message = s:run [[
        local t = {}
        for i = 1, 20000 do t[i] = {i, tostring(i), function() return i end} end
      ]]
      if not ok then
        assert.truthy(message:find "not enough memory")
        refused = refused + 1
      end
    end
    s:limit(0)
    assert.is_true(refused > 5)
    assert(s:run [[
      for i = 1, 1000 do local t = {i} end
      assert(profiler.disable())
      assert(profiler.stats().lost == 0)
    ]])
    s:close()
    local list = samples.read(path)
    assert.is_true(#list > 1000)
    assert.equal(0, list.undecided)
  end)

  -- In each run another allocation of the profiler's own code fails, starting with the first.
  for format = 6, 7 do
    it("in the profiler is reported and counted, version " .. format, function()
      local path = os.tmpname()
      local whole, failed, refused = 0, 0, 0
      local n = -1
      while whole == 0 do
        n = n < 30 and n + 1 or n * 5 // 4
        gen.starve(n)
        local p, message, errno = gen.open{path = path, format = format, resolve = "plain",
                                           timeperiod = 1000000}
        if not p then
          gen.starve(-1)
          assert.equal(("cannot write profile '%s': Cannot allocate memory"):format(path), message)
          assert.equal(12, errno)
          refused = refused + 1
        else
          for i = 1, 100 do
            p:name(8 * i, "f" .. i, 1, "@x")
            local deep = {}
            for k = 1, i do deep[2 * k - 1], deep[2 * k] = 0x7f0001 + 2 * (k * i), 0 end
            p:sample(deep)
            p:time{8 * i, 1, count = 3}
          end
          p:class(1, "C")
          p:mark("m", "v")
          p:collection{fates = ("01"):rep(50)}
          local ok, t = p:close()
          gen.starve(-1)
          assert.equal(100 + 300, t.samples + t.timesamples + t.lost)
          if ok then
            whole = whole + 1
            local list = samples.of_log(vmprof.read(path))
            assert.equal(100, #list)
            assert.equal(100, #list.times)
          else
            failed = failed + 1
            assert.equal(12, t.error)
            assert.is_true(t.lost > 0)
          end
        end
      end
      assert.is_true(refused > 2, refused)
      assert.is_true(failed > 5, failed)
    end)
  end
end)
