-- SPDX-License-Identifier: MIT
--
-- Many snapshots by one process, also while other OS threads run Lua states. Afterwards the process must
-- have no descriptor, child or memory that a snapshot has left. ASAMP_SNAPSHOTS=n in the environment takes
-- n snapshots, with n states.

local heap = require "profiler.heap"
local process = require "spec.support.process"
local shell = require "spec.support.shell"

local SNAPSHOTS = tonumber(os.getenv "ASAMP_SNAPSHOTS") or 20
local STATES = math.max(240, math.min(SNAPSHOTS, 10000))
local prefix = process.interpreter():match "^(.*)/bin/[^/]+$"
local sanitized = prefix:find "asan" and " -fsanitize=address,undefined" or ""

-- Runs a command under the utility timeout, which ends it if it hangs.
local function bounded(t)
  table.insert(t, 1, t.program)
  table.insert(t, 1, tostring(100 + SNAPSHOTS // 2))
  t.program = "/usr/bin/timeout"
  return process.run(t)
end

describe("snapshots of the heap", function()
  local folder

  before_each(function()
    folder = shell.folder()
  end)

  local function file(name, text)
    shell.write(folder .. "/" .. name, text)
  end

  it("one after the other leave no descriptor, no child and no memory", function()
    file("many.lua", [[
      local n = ...
      local core = require "profiler.core"
      local function count(command)
        local pipe = io.popen((command:gsub("PID", tostring(core.getpid()))))
        local all = pipe:read "n"
        pipe:close()
        return all
      end
      -- Returns the smallest of several counts: the counting command itself has a pipe open for a
      -- moment.
      local function least(command)
        local n = math.huge
        for _ = 1, 5 do n = math.min(n, count(command)) end
        return n
      end
      local function left()
        collectgarbage() collectgarbage()
        return least "ls /proc/PID/fd | wc -l", least "cat /proc/PID/task/*/children | wc -w",
               count "awk '/^RssAnon/ {print $2}' /proc/PID/status"
      end
      local keep = {}
      for i = 1, 1000 do keep[i] = {i, tostring(i)} end
      local function take(i)
        assert(core.snapshot{path = "x.heap", replace = 2, wait = i % 2 == 0,
                             inprocess = i % 5 == 0, command = "many"})
      end
      for i = 1, 10 do take(i) end
      local fds, _, kib = left()
      for i = 1, n do take(i) end
      for i = 1, 40 do
        assert(core.snapshot{path = i .. ".heap", replace = 2, wait = false, inprocess = false,
                             command = "many"})
      end
      -- A child for which nothing waits is reaped at the next snapshot. Such children were leaked if
      -- there were more than 16 of them, or if two OS threads recorded theirs at the same time.
      local fds2, children, kib2
      for _ = 1, 50 do
        take(2)
        fds2, children, kib2 = left()
        if children <= 1 then break end
      end
      print(fds2 - fds, children, kib2 - kib)
    ]])
    local status, out, err = bounded{program = process.interpreter(), "many.lua", tostring(SNAPSHOTS),
                                     directory = folder}
    assert.same({0, ""}, {status, err})
    local fds, children, kib = out:match "^(-?%d+)\t(%d+)\t(-?%d+)\n$"
    assert.equal("0", fds, out)
    -- this one child is the shell that counts the children
    assert.equal("1", children, out)
    -- not with a sanitizer, which delays the reuse of freed memory
    if sanitized == "" then
      -- if the writer's memory of each snapshot leaked, it would be some 200 KiB per snapshot
      assert.is_true(tonumber(kib) < 1024 + SNAPSHOTS // 10, out)
    end
    assert(heap.open(folder .. "/x.heap"))
  end)

  it("taken while 200 states of other OS threads run are whole", function()
    local host = folder .. "/host"
    assert(os.execute(("gcc -g%s -I%s/include/lua5.4 -Ilua spec/support/hosts/manystates.c -o %s " ..
      "-L%s/lib -l:liblua5.4.so.0 -Wl,-rpath,%s/lib -lpthread"):format(sanitized, prefix, host,
      prefix, prefix)))
    file("s.lua", ([[
      package.cpath = "PREFIX/lib/asamp/?.so"
      local Point = {__name = "Point"}
      POINTS = {}
      for i = 1, 100 + N do POINTS[i] = setmetatable({i}, Point) end
      for i = 1, 2000 do SCRATCH = {i, tostring(i)} end
      if N % 12 == 0 then
        local core = require "profiler.core"
        assert(core.snapshot{path = N .. ".heap", replace = 2, wait = N % 24 == 0,
                             inprocess = false, command = "host"})
      end
    ]]):gsub("PREFIX", prefix))
    local status, out, err = bounded{program = host, "16", tostring(STATES), "13", "s.lua",
                                     directory = folder, env = {LUA_PATH = "", LUA_CPATH = ""}}
    assert.same({0, ""}, {status, err})
    assert.is_truthy(out:find(("sum %d "):format(STATES)))
    local waited = 0
    for n = 24, STATES, 24 do
      local h = assert(heap.open(("%s/%d.heap"):format(folder, n)))
      local points
      for _, c in ipairs(h:classes()) do
        if c.name == "Point" then points = c.count end
      end
      assert.equal(100 + n, points)
      waited = waited + 1
    end
    assert.equal(STATES // 24, waited)
  end)
end)
