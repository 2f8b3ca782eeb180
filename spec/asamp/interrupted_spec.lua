-- SPDX-License-Identifier: MIT
-- Signals of time samples that arrive while the program waits in a system call. The call must return the
-- same result as without signals. Exceptions are the calls that the system never restarts (man 7 signal);
-- the manual lists them.

local process = require "spec.support.process"
local syscalls = require "syscalls"
local times = require "spec.support.times"

local CLOCKS = {cpu = {rate = 10000, exact = false}, wall = {rate = 10000, wall = true}}
if times.exact then CLOCKS.exact = {rate = 10000, exact = true} end

-- Functions that wait in a system call until an event happens, 30 ms later, and their expected results.
local RESTARTED = {
  read = function()
    local from, to = syscalls.pipe()
    local pid = syscalls.later(30, "write", to)
    local got = {syscalls.read(from)}
    syscalls.close(from)
    syscalls.close(to)
    return {got, syscalls.waitpid(pid)}, {{"text"}, 7}
  end,
  waitpid = function() return {syscalls.waitpid(syscalls.later(30, "exit"))}, {7} end,
  accept = function()
    local fd = syscalls.listen()
    local pid = syscalls.later(30, "connect", fd)
    local got, errno = syscalls.accept(fd)
    if got then syscalls.close(got) end
    syscalls.close(fd)
    return {got ~= nil, errno, syscalls.waitpid(pid)}, {true, nil, 7}
  end,
  connect = function()
    local fd = syscalls.listen()
    -- this connection fills the backlog of the socket, so that the next one must wait
    local first = syscalls.connect(fd)
    local pid = syscalls.later(30, "accept", fd)
    local got, errno = syscalls.connect(fd)
    if got then syscalls.close(got) end
    syscalls.close(first)
    syscalls.close(fd)
    return {got ~= nil, errno, syscalls.waitpid(pid)}, {true, nil, 7}
  end,
  execute = function() return {os.execute "sleep 0.03; exit 3"}, {nil, "exit", 3} end,
  popen = function()
    local f = io.popen "sleep 0.02; echo one; sleep 0.02; echo two; exit 4"
    return {f:read "a", f:close()}, {"one\ntwo\n", nil, "exit", 4}
  end,
}

describe("a system call that waits", function()
  for name, f in pairs(RESTARTED) do
    it("goes on, as without samples: " .. name, function()
      local got, expected = f()
      assert.same(expected, got)
      for clock, o in pairs(CLOCKS) do
        local list = times.of(function()
          for _ = 1, 3 do
            got, expected = f()
            assert.same(expected, got, clock)
          end
        end, o)
        -- The wall clock's signals arrived during the calls. A late signal represents several periods.
        local _, periods = times.count(list, function() end)
        if clock == "wall" then assert.is_true(periods > 3 * 20, periods) end
      end
    end)
  end

  -- These calls have a time limit. A signal makes them return the error EINTR to the program.
  for _, name in ipairs{"nanosleep", "poll", "select", "epoll", "sigtimedwait"} do
    it("with a time-out ends early in wall time, seldom in CPU time: " .. name, function()
      local function interrupted(clock)
        local n = 0
        local list = times.of(function()
          for _ = 1, 20 do
            local result, errno = syscalls[name](3)
            if result == nil then
              assert.equal(syscalls.EINTR, errno)
              n = n + 1
            else assert.equal(0, result) end
          end
        end, CLOCKS[clock])
        return n, list.cpu
      end
      local wall
      -- repeats the measurement, because ticks are late on a busy machine
      for _ = 1, 10 do
        wall = interrupted "wall"
        if wall > 0 then break end
      end
      assert.is_true(wall > 0)
      -- With a clock of CPU time, a call is interrupted only if the signal arrives just before the call
      -- sleeps. So there are at most as many interruptions as periods of CPU time in the calls.
      local n, seconds = interrupted "cpu"
      assert.is_true(n <= seconds * CLOCKS.cpu.rate + 1, n .. " in " .. seconds)
    end)
  end
end)

describe("a program that waits by a library", function()
  local SCRIPTS = {
    ["lua-socket"] = [[
      local socket = require "socket"
      local server = assert(socket.bind("127.0.0.1", 0))
      local _, port = server:getsockname()
      for i = 1, 20 do
        socket.sleep(0.002)
        print("select", #socket.select({server}, nil, 0.005))
        local client = assert(socket.connect("127.0.0.1", port))
        local peer = assert(server:accept())
        peer:settimeout(0.005)
        print("receive", peer:receive "*l")
        print("send", client:send(("x"):rep(1000) .. i .. "\n"))
        peer:settimeout()
        print("receive", peer:receive "*l")
        client:close()
        print("receive", peer:receive(1))
        peer:close()
        server:settimeout(0.005)
        print("accept", server:accept())
        server:settimeout()
      end]],
    ["lua-luv"] = [[
      local uv = require "luv"
      local timer, n = uv.new_timer(), 0
      timer:start(5, 5, function()
        n = n + 1
        print("timer", n)
        if n == 5 then timer:close() end
      end)
      uv.run()
      local out, text = uv.new_pipe(false), ""
      uv.spawn("/bin/sh", {args = {"-c", "for i in 1 2 3; do sleep 0.01; echo $i; done; exit 9"},
                           stdio = {nil, out}},
               function(code, signal) print("exit", code, signal) end)
      out:read_start(function(err, data)
        assert(not err, err)
        text = text .. (data or "")
        if not data then out:close() end
      end)
      uv.sleep(5)
      uv.run()
      print("text", text)
      print(uv.fs_stat("/").type)]],
    ["the standard library"] = [[
      for i = 1, 5 do
        print(os.execute("sleep 0.01; exit " .. i))
        local f = io.popen "sleep 0.01; echo out; sleep 0.01; echo more"
        for line in f:lines() do print(line) end
        print(f:close())
        f = io.popen("sleep 0.01; cat >/dev/null; exit 6", "w")
        print(f:write(("y"):rep(200000)) == f, f:close())
      end]],
  }

  for name, code in pairs(SCRIPTS) do
    it("sees the same as without samples: " .. name, function()
      local script, path = process.file(code), os.tmpname()
      local status, expected, err = process.run{script}
      assert.same({0, ""}, {status, err})
      assert.is_true(#expected > 50)
      for clock in pairs(CLOCKS) do
        local env = {LUA_PROFILER = "alloc=0,quiet,overwrite,time=10000,out=" .. path ..
                                    (clock == "cpu" and "" or "," .. clock)}
        assert.same({0, expected, ""}, {process.run{"-l", "profiler", script, env = env}}, clock)
      end
    end)
  end
end)
