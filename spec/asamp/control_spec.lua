-- SPDX-License-Identifier: MIT
--
-- A process that listens for requests (option listen of ASAMP): its answers, its clients, its reaction to
-- malformed requests, and the sequence of its files. With CONTROL_REQUESTS=n in the environment, the spec
-- sends n random requests instead of 3,000.

local answers = require "asamp.cli.answers"
local clients = require "clients"
local fewer = require "spec.support.fewer"
local host = require "asamp.host"
local json = require "cjson"
local living = require "asamp.sums.living"
local process = require "spec.support.process"
local reader = require "profiler.reader"
local shell = require "spec.support.shell"

-- 'own' is the installed tree of the build under test, with the lua that listens; 'prefix' is the tree of
-- the release build, with the command asamp.
local own = process.interpreter():match "^(.*)/bin/[^/]+$"
local prefix = process.interpreter():match "^(.*)/bin/[^/]+$":gsub("/build/%l+$", "/build")

local function lines(...) return shell.lines(shell.output(...)) end

local REQUESTS = tonumber(os.getenv "CONTROL_REQUESTS" or 3000)

-- The script of the process that listens. It creates the file "runs", then works until the file "stop"
-- exists, or until a time limit that grows with the number of requests.
local SERVER = ([[
  local keep, started = {}, os.time()
  assert(io.open("runs", "w")):close()
  local function handle(n) for i = 1, n do keep[i % 500] = {i, tostring(i)} end end
  while os.time() - started < LIMIT do
    handle(2000)
    local f = io.open "stop"
    if f then break end
  end]]):gsub("LIMIT", 300 + REQUESTS // 500)

describe("a process that listens", function()
  local folder, pid, socket

  -- Starts the process with the options ASAMP=wish. 'first': code that the script runs before it works.
  -- 'inner': name of a folder to create in the process's folder.
  local function start(wish, first, inner)
    folder = shell.folder()
    shell.output("mkdir -m 700 %s/s %s", folder, inner and folder .. "/" .. inner or "")
    local server = SERVER:gsub("while", function() return (first or "") .. " while" end, 1)
    shell.write(folder .. "/server.lua", server)
    pid = process.start{"server.lua", directory = folder,
      env = {ASAMP = wish, LUA_PATH = "", LUA_CPATH = "", ASAN_OPTIONS = "detect_leaks=0"}}
    socket = folder .. "/s/x.sock"
    -- Waits until the script runs. lua listens before it has read the script. Until then, a lower limit on
    -- descriptors would prevent lua from reading it, and SIGINT would still be ignored if the shell ignores
    -- it (nohup, a background job of sh).
    process.await(function()
      return process.read(folder .. "/runs") and host.samefile(socket, socket) and
             host.query(socket, "stats\n")
    end)
  end

  local function finish()
    assert(io.open(folder .. "/stop", "w")):close()
    process.await(function() return process.ended(pid) end)
  end

  after_each(function()
    os.execute(("kill -9 %d 2>/dev/null"):format(pid))
    shell.remove(folder)
  end)

  local function asamp(...)
    return process.run{program = prefix .. "/bin/asamp", directory = folder, ...}
  end

  local function stats()
    local code, out, err = asamp("stats", "--json", socket)
    assert.equal(0, code, err)
    return json.decode(out)
  end

  it("has the exact bytes by label, of each file when they are rotated", function()
    start("alloc=16K,listen=s/x.sock,out=p.vmprof,quiet,native=0",
          ("package.path, package.cpath = '%s/share/asamp/?.lua', '%s/lib/asamp/?.so' "):format(own, own) ..
          "local profiler, inner = require 'profiler', handle " ..
          "handle = function(n) profiler.with({route = '/a'}, inner, n) inner(n // 2) end")
    local function labels()
      local fields = {rows = {}}
      for line in host.query(socket, "labels\n"):gmatch "[^\n]+" do
        local key, value = line:match "^(%S+) (.*)$"
        if key == "row" then table.insert(fields.rows, value) elseif key then fields[key] = value end
      end
      local bytes = {}
      for _, row in ipairs(living.labels(assert(answers.check("labels", fields)))) do
        bytes[row.labels[1] and table.concat(row.labels[1], "=") or ""] = row.bytes
      end
      return bytes
    end
    local before, now
    process.await(function()
      before = labels()
      return before["route=/a"]
    end)
    local first = before
    for i = 1, 3 do
      assert.is_truthy(host.query(socket, "rotate\n"):find "ok\n$", i)
      process.await(function()
        now = labels()
        return now["route=/a"] > before["route=/a"] and now[""] > before[""]
      end)
      before = now
    end
    -- waits for many iterations of the loop, because the first and the last one are counted only in part
    process.await(function()
      now = labels()
      return now["route=/a"] - first["route=/a"] > 16 << 20
    end)
    finish()
    local files, all, a = shell.lines(shell.output("ls %s/*.vmprof", folder)), 0, 0
    assert.equal(4, #files)
    for _, name in ipairs(files) do
      local p, sum = assert(reader.read(name)), 0
      -- the count is nil if the state has not written to this file yet
      local allocated = p.allocated or 0
      for _, set in ipairs(p.labels or {{labels = {}, exact = allocated}}) do
        sum = sum + set.exact
        a = a + (set.labels.route == "/a" and set.exact or 0)
      end
      assert.equal(allocated, sum)
      all = all + sum
    end
    assert.is_true(a >= now["route=/a"] and all - a >= now[""], a)
    -- uses differences to the first answer, whose sums include start-up and the loading of modules
    local share = (now["route=/a"] - first["route=/a"]) / (now[""] - first[""])
    assert.is_true(share > 1.5 and share < 2.5, share)
  end)

  it("samples nothing until a request; records, marks, takes snapshots", function()
    start "alloc=0,listen=s/x.sock"
    local mode = lines("stat -c '%%a %%a' %s/s %s | cut -d' ' -f1", folder, socket)
    assert.same({"700", "600"}, mode)
    local s = stats()
    assert.same({0, 0, 1}, {s.samples, s.alloc, s.states})
    assert.is_nil(s.file)
    local code, _, err = asamp("mark", socket, "early")
    assert.same({1, true}, {code, err:find "no profile is being written" ~= nil})
    local out
    code, out, err = asamp("record", socket, "--for", "1s", "--alloc", "4K", "--time", "200",
                           "-o", "r.vmprof")
    assert.same({0, folder .. "/r.vmprof\n", ""}, {code, out, err})
    local r = assert(reader.read(folder .. "/r.vmprof"))
    assert.is_true(r.complete and r.samples > 10, r.message)
    assert.is_true(math.abs(r.bytes / r.allocated - 1) < 0.5, r.bytes / r.allocated)
    s = stats()
    -- After the recording, alloc and time are 0 again. A former bug: they kept the recording's rates.
    assert.same({0, 0}, {s.alloc, s.time})
    assert.is_nil(s.file)
    code, out = asamp("heap", "-o", "h.heap", socket)
    assert.equal(0, code)
    assert.is_truthy(out:find "By class")
    assert.is_truthy(host.query(socket, "record 20 4096 0 " .. folder .. "/q.vmprof\n"):find "ok\n$")
    assert.is_truthy(host.query(socket, "record 20 4096 0 /x\n"):find "^error a recording is running")
    assert.same({0, "", ""}, {asamp("mark", socket, "deploy", "v2 of it")})
    assert.equal(0, (asamp("heap", "-o", "m.heap", socket)))
    assert.equal("ok\n", host.query(socket, "stop\n"))
    r = assert(reader.read(folder .. "/q.vmprof"))
    assert.same({"deploy", "v2 of it"}, {r.marks[1].name, r.marks[1].value})
    -- A snapshot that a client requests sets a mark in the profile, which explains its pause. A former bug:
    -- it set none.
    assert.same({"heap snapshot", folder .. "/m.heap"}, {r.marks[2].name, r.marks[2].value})
    code, out = asamp("top", "--count", "2", "--every", "1", socket)
    assert.equal(0, code)
    assert.equal(2, select(2, out:gsub("in use", "")))
    -- the output has this text instead of a rate of allocation
    assert.equal(2, select(2, out:gsub("allocations not sampled  ", "")))
    code, out = asamp("stats", socket)
    assert.equal(0, code)
    assert.is_truthy(out:find("1 Lua state at present; 1 so far in the profile", 1, true))
    finish()
    assert.is_false(host.samefile(socket, socket))
  end)

  -- Returns the number of open descriptors of the process.
  local function descriptors()
    return #lines("ls /proc/%d/fd", pid)
  end

  it("refuses garbage, halves of requests and all too many clients, and goes on", function()
    start "alloc=64K,listen=s/x.sock,out=p.vmprof,quiet"
    local before = descriptors()
    local list, n = clients.silent(socket, 300)
    assert.equal(300, n)
    assert.is_truthy(host.query(socket, "stats\n"):find "\nok\n$")
    clients.leave(list)
    local ok, refused = clients.fuzz(socket, REQUESTS, 17)
    assert.is_true(ok > 100 and refused > 100, ok .. " " .. refused)
    assert.equal("error the request has a zero byte; remove it\n", host.query(socket, "st\0ats\n", 9))
    assert.matches("^error the Lua state must be given as a number", host.query(socket, "heap x /y\n", 9))
    assert.equal("error the request exceeds 4,095 bytes, the limit; send a shorter one\n",
                 host.query(socket, ("y"):rep(4095), 9))
    assert.is_truthy(host.query(socket, "stats\n"):find "\nok\n$")
    process.await(function() return descriptors() <= before end)
    finish()
    assert.is_true(assert(reader.read(folder .. "/p.vmprof")).complete)
  end)

  -- A former bug: if a client did not read its answers, the control thread waited five seconds for it. All
  -- other clients, and the rotation of files, waited as long.
  it("answers others while clients do not read their answers, and leaves those in the end", function()
    start "alloc=64K,listen=s/x.sock,out=p.vmprof,quiet"
    local list, n = clients.deaf(socket, 3)
    assert.equal(3, n)
    for _ = 1, 20 do assert.is_truthy(host.query(socket, "stats\n"):find "\nok\n$") end
    assert.is_true(clients.there(list) > 0)
    process.await(function() return clients.there(list) == 0 end)
    clients.leave(list)
    finish()
  end)

  -- A former bug: while a client waited for a snapshot of an idle state, the control thread checked for the
  -- snapshot fifty times a second. This took 1% of a processor.
  it("looks the more seldom for the snapshot of an idle state the longer a client waits", function()
    start("alloc=0,listen=s/x.sock", "os.execute 'sleep 20'")
    local function switches()
      local n = 0
      for _, line in ipairs(lines("grep -h ^voluntary /proc/%d/task/*/status", pid)) do
        n = n + tonumber(line:match "%d+")
      end
      return n
    end
    local before = switches()
    os.execute(("timeout 3 %s/bin/asamp heap -o %s/x.snapshot %s 2>/dev/null"):format(prefix, folder, socket))
    local woken = switches() - before
    assert.is_true(woken > 3 and woken < 90, woken)
    assert.is_truthy(host.query(socket, "stats\n"):find "\nok\n$")
  end)

  it("leaves nothing open in the child of a fork: no socket is there that nobody serves", function()
    start("alloc=0,listen=s/x.sock", ("local peers = package.loadlib(%q, 'luaopen_peers')()"):format(
      host.realpath(assert(package.searchpath("peers", package.cpath)))) .. [[

      while not io.open "fork" do handle(10) end
      if peers.fork() == 0 then
        -- the child itself says that the fork has ended: it closes the sockets in its fork handler
        assert(io.open("child.new", "w")):write((io.open "/proc/self/stat":read "n")):close()
        os.rename("child.new", "child")
        for _ = 1, 12000 do
          if io.open "stop" then break end
          peers.sleep(0.01)
        end
        os.exit(true, false)
      end
    ]])
    local list = clients.silent(socket, 5)
    -- when this request is answered, the process has read the requests that were sent before it
    assert.is_truthy(host.query(socket, "stats\n"))
    assert(io.open(folder .. "/fork", "w")):close()
    local child = process.await(function() return process.read(folder .. "/child") end)
    assert.same({}, lines("ls -l /proc/%s/fd | grep -o 'socket:.*' || true", child))
    assert(os.execute("kill -9 " .. pid))
    process.await(function() return not host.query(socket, "stats\n", 1) end)
    local text, message = host.query(socket, "stats\n", 1)
    assert.is_nil(text)
    assert.is_truthy(message:find "refused", message)
    clients.leave(list)
    -- kills the child, because it waits for a file "stop" in a folder that no longer exists
    assert(os.execute("kill -9 " .. child))
  end)

  -- A former bug: when the profile's file had been removed, the answers still named it as the current file.
  it("reports that its file was removed, with its folder or without, or moved", function()
    start("alloc=64K,listen=s/x.sock,out=p/p.vmprof,quiet", nil, "p")
    local function isgone()
      local _, out = asamp("stats", socket)
      assert.is_truthy(out:find("writes '" .. folder, 1, true), out)
      assert.equal(stats().gone == 1, out:find("removed or renamed", 1, true) ~= nil)
      return stats().gone
    end
    assert.is_nil(isgone())
    assert(os.rename(folder .. "/p/p.vmprof", folder .. "/q.vmprof"))
    assert.equal(1, isgone())
    assert.same({0, "", ""}, {asamp("mark", socket, "renamed")})
    assert(host.query(socket, "rotate\n"):find "ok\n$")
    assert.is_nil(isgone())
    assert.is_truthy(host.query(socket, ("record 60 4096 0 %s/r.vmprof\n"):format(folder)):find "ok\n$")
    assert.is_nil(isgone())
    assert(os.remove(folder .. "/r.vmprof"))
    assert.equal(1, isgone())
    assert.is_truthy(host.query(socket, "stop\n"):find "ok\n$")
    assert.is_nil(isgone())
    shell.output("rm -r %s/p", folder)
    assert.equal(1, isgone())
    -- a former bug: the exit code was 0
    assert.same({1, "", ("asamp mark: '%s' refuses: the profile was removed, so the mark would be lost; " ..
      "start another profile with asamp record\n"):format(socket)}, {asamp("mark", socket, "lost")})
    finish()
    assert.equal("renamed", assert(reader.read(folder .. "/q.vmprof")).marks[1].name)
  end)

  -- A former bug: if the process's own file could not be created again after a recording, the recording
  -- never ended, and other recordings were refused. The answer names the folder although it was removed.
  it("ends a recording though its own file cannot be made, and has it when it can", function()
    start("alloc=64K,listen=s/x.sock,out=p/p.vmprof,quiet", nil, "p")
    shell.output("rm -r %s/p", folder)
    assert.equal(0, (asamp("record", socket, "--for", "1s", "-o", "r.vmprof")))
    assert.is_true(assert(reader.read(folder .. "/r.vmprof")).complete)
    local s = stats()
    assert.same({0, 65536}, {s.recording, s.alloc})
    assert.is_nil(s.file)
    local cannot = "cannot write profile '" .. folder .. "/p/p.vmprof': No such file or directory"
    assert.equal("error " .. cannot .. "\n", host.query(socket, "rotate\n"))
    assert.is_truthy(host.query(socket, ("record 20 4096 0 %s/q.vmprof\n"):format(folder)):find "ok\n$")
    assert.equal("error the recording has ended, but the next profile cannot be written: " .. cannot ..
      "; remove the cause, then send the request 'rotate' to the socket of this process\n",
      host.query(socket, "stop\n"))
    shell.output("mkdir %s/p", folder)
    assert.equal(("file %s/p/p.2.vmprof\nok\n"):format(folder), host.query(socket, "rotate\n"))
    local before = stats().samples
    process.await(function() return stats().samples > before end)
    finish()
    local r = assert(reader.read(folder .. "/p/p.2.vmprof"))
    assert.is_true(r.complete and r.samples > 0)
  end)

  -- A former bug: the profile had only the mark "heap snapshot", with the path of a file that did not exist.
  it("marks in its profile that the snapshot for a client failed", function()
    start("alloc=1M,listen=s/x.sock,out=p.vmprof,quiet",
          "local large = {} for i = 1, 200000 do large[i] = {i, tostring(i)} end")
    process.await(function() return stats().inuse > 20 << 20 end)
    assert(os.execute(("prlimit --pid %d --fsize=%d:"):format(pid, 256 << 10)))
    local code, _, err = asamp("heap", "-o", "h.heap", socket)
    assert.equal(1, code)
    assert.matches("h%.heap' does not exist: the process could not write it", err)
    assert(os.execute(("prlimit --pid %d --fsize=unlimited:"):format(pid)))
    local marks
    process.await(function()
      marks = assert(reader.read(folder .. "/p.vmprof")).marks
      return marks[2]
    end)
    assert.same({"heap snapshot", folder .. "/h.heap"}, {marks[1].name, marks[1].value})
    assert.same({"heap snapshot failed", "the process that writes the snapshot failed: File too large"},
                {marks[2].name, marks[2].value})
    finish()
  end)

  -- A former bug: the commands raised an error.
  it("has no recording or snapshot at a relative path in a folder that was removed", function()
    start "ring=64K,listen=s/x.sock,quiet"
    local main = process.file [[os.exit(require "asamp".main(arg), true)]]
    for _, words in ipairs{"record", "record --ring -o x.vmprof", "heap"} do
      local status, out, err = process.run{program = "/bin/sh", directory = folder, "-c",
        "mkdir gone && cd gone && rmdir ../gone && exec 3>&2 2>&1 && exec \"$@\" " .. words .. " " .. socket,
        "sh", process.interpreter(), main}
      assert.same({1, ""}, {status, err})
      assert.is_truthy(out:find("asamp " .. words:match "%l+" .. ": cannot find the current folder, which " ..
        "may have been removed; give --out a path that starts with /\n", 1, true), out)
    end
    finish()
  end)

  -- A former bug: the command ended with status 0 if the process could not write all of the recording.
  it("reports a recording that is incomplete", function()
    start "alloc=0,listen=s/x.sock,quiet"
    local function record(size)
      assert(os.execute(("prlimit --pid %d --fsize=%s:"):format(pid, size)))
      return asamp("record", socket, "--for", "1s", "--alloc", "64", "-o", "r.vmprof")
    end
    local path = folder .. "/r.vmprof"
    local message = "asamp record: '%s' is incomplete: File too large; remove the cause, and record " ..
                    "again, or run asamp repair --in-place '%s'\n"
    assert.same({1, path .. "\n", message:format(path, path)}, {record(1000)})
    assert.equal("File too large", stats().cut)
    os.remove(path)
    assert.same({0, path .. "\n", ""}, {record "unlimited"})
    assert.is_nil(stats().cut)
    assert.is_true(assert(reader.read(path)).complete)
    finish()
  end)

  -- If the process's own file cannot be created again after a recording, the process must retry this each
  -- second, as at its start. A former bug: it retried only at the next request "rotate".
  it("continues its own file after a recording when descriptors are free again", function()
    start("alloc=64K,listen=s/x.sock,out=p.vmprof,quiet")
    local function limit(n) assert(os.execute(("prlimit --pid %d --nofile=%d:"):format(pid, n))) end
    assert.is_truthy(host.query(socket, ("record 2 4096 0 %s/r.vmprof\n"):format(folder)):find "ok\n$")
    limit(3)
    process.await(function()
      local r = reader.read(folder .. "/r.vmprof")
      return r and r.complete
    end)
    limit(64)
    process.await(function() return stats().file == folder .. "/p.2.vmprof" end)
    local before = stats().samples
    process.await(function() return stats().samples > before end)
    finish()
    local r = assert(reader.read(folder .. "/p.2.vmprof"))
    assert.is_true(r.complete and r.samples > 0)
    assert.is_true(assert(reader.read(folder .. "/p.vmprof")).complete)
  end)

  -- A former bug: when the command `asamp record` was ended by a signal, its recording continued, and no
  -- other command could end it.
  it("ends a recording whose command is ended, and by --stop one whose command was killed", function()
    start "alloc=0,listen=s/x.sock"
    for n, signal in ipairs{"INT", "TERM", "HUP"} do
      local code = process.run{program = "/bin/sh", directory = folder, "-c", ([[
        "$0" record --for 60s -o %d.vmprof "$1" &
        while ! test -s %d.vmprof; do sleep 0.1; done
        kill -%s $!; wait $!]]):format(n, n, signal), prefix .. "/bin/asamp", socket}
      assert.equal(128 + ({INT = 2, TERM = 15, HUP = 1})[signal], code)
      assert.equal(0, stats().recording)
      assert.is_true(assert(reader.read(("%s/%d.vmprof"):format(folder, n))).complete)
    end
    assert.is_truthy(host.query(socket, ("record 60 4096 0 %s/q.vmprof\n"):format(folder)):find "ok\n$")
    local code, _, err = asamp("record", socket)
    assert.equal(1, code)
    assert.is_truthy(err:find "a recording is running for another %d+ s; asamp record %-%-stop ends it")
    assert.equal(0, (asamp("record", "--stop", socket)))
    assert.equal(0, stats().recording)
    code, _, err = asamp("record", "--stop", socket)
    assert.same({1, true}, {code, err:find "no recording is running" ~= nil})
    finish()
  end)

  -- A former bug: a process that was ended by a signal without a handler left its socket in the folder.
  -- Searches for listening processes then found it.
  it("leaves no socket when a signal ends it that nobody has handled", function()
    -- under nohup, a child ignores SIGHUP, and a shell cannot change that for its child
    local ignored = tonumber(shell.read "/proc/self/status":match "SigIgn:%s*(%x+)", 16) & 1 == 1
    for _, wish in ipairs{"alloc=0,listen=s/x.sock", "alloc=64K,quiet,listen=s/x.sock"} do
      for _, signal in ipairs{"TERM", "ABRT", ignored and "INT" or "HUP"} do
        start(wish)
        assert(os.execute(("kill -%s %d"):format(signal, pid)))
        process.await(function() return not host.samefile(socket, socket) end)
        if signal == "TERM" or signal == "ABRT" then shell.remove(folder) end
      end
      if wish:find "alloc=0" then shell.remove(folder) end
    end
  end)

  -- A former bug: for a process that had ended, the message advised to set ASAMP=listen, or was "Connection
  -- refused".
  it("is reported as ended, to a client that watches it and to a later client", function()
    local watch = "cd %s; ('%s/bin/asamp' %s >%s.out 2>%s.err; echo $? >%s.code) >/dev/null &"
    local wanted = {KILL = "the process that listened at '%s' has ended; start it again",
                    TERM = "cannot query '%s': No such file or directory; give the id of a process, " ..
                           "or the path of its socket"}
    for how, later in pairs(wanted) do
      start "alloc=0,listen=s/x.sock"
      local words = {top = "top --every 1 " .. socket,
                     record = how == "KILL" and "record --for 20s " .. socket or nil}
      for name, line in pairs(words) do
        shell.output(watch, folder, prefix, line, name, name, name)
        while (shell.read(folder .. "/" .. name .. ".out") or "") == "" do host.pause(20) end
      end
      os.execute(("kill -%s %d"):format(how, pid))
      for name in pairs(words) do
        local path = folder .. "/" .. name
        while (shell.read(path .. ".code") or "") == "" do host.pause(20) end
        local ended = name == "top" and "; start it again" or (" during the recording; run asamp repair " ..
          "--in-place '%s/%d.vmprof', which completes the file if it is cut"):format(folder, pid)
        assert.same({"1\n", ("asamp %s: process %d has ended%s\n"):format(name, pid, ended)},
                    {shell.read(path .. ".code"), shell.read(path .. ".err")})
      end
      local _, _, err = asamp("stats", socket)
      assert.equal("asamp stats: " .. later:format(socket) .. "\n", err)
      shell.remove(folder)
    end
  end)

  -- A former bug: if the process ended before it answered a client's request, the client reported
  -- "Connection reset by peer".
  it("is reported as ended, to a client whose request it has not answered", function()
    start "alloc=0,listen=s/x.sock"
    process.stop(pid)
    shell.output("cd %s; '%s/bin/asamp' stats %s >out 2>err & echo $! >client", folder, prefix, socket)
    local of = shell.read(folder .. "/client"):match "%d+"
    -- gives the client time to send its request; if it has not sent it yet, the message is the same
    host.pause(300)
    os.execute("kill -KILL " .. pid)
    process.await(function() return process.ended(of) end)
    assert.equal(("asamp stats: process %d has ended; start it again\n"):format(pid),
                 shell.read(folder .. "/err"))
  end)

  -- A former bug: `asamp serve` waited a second for each live process whose socket was gone.
  it("is waited for once, however many sockets are gone of processes that live", function()
    local client, pause, pauses, sockets = require "asamp.cli.client", host.pause, 0, {}
    start "alloc=0,listen=s/x.sock"
    for i = 1, 4 do
      sockets[i] = ("%s/s/%d.sock"):format(folder, i)
      shell.output("ln -s x.sock %s", sockets[i])
    end
    for _, answer in ipairs(client.all(sockets, "stats")) do assert.equal(pid, answer[1].pid) end
    os.remove(socket)
    host.pause = function() pauses = pauses + 1 end
    finally(function() host.pause = pause end)
    for _, answer in ipairs(client.all(sockets, "stats")) do
      assert.matches("cannot query '.*': No such file or directory", answer[2])
    end
    assert.equal(100, pauses)
  end)

  it("says of a socket of another process what to do", function()
    start "alloc=0,listen=s/x.sock"
    shell.write(folder .. "/y.lua", "")
    local code, _, err = process.run{"y.lua", directory = folder, env = {LUA_PATH = "", LUA_CPATH = "",
      ASAMP = "alloc=0,listen=s/x.sock"}}
    assert.same({0, "profiler: cannot listen at 's/x.sock': Address already in use; another file or " ..
      "process uses this path: put %p, the process id, into the path\n"}, {code, err})
  end)

  -- A former bug: if another user had created the folder of a process's socket first, with a socket in it,
  -- this user received the requests for the process, and could name files that root then read and removed.
  it("is not taken for another user's socket of its number", function()
    if shell.output "id -u" ~= "0\n" then return end
    start("alloc=0,listen=s/x.sock")
    shell.output("mkdir %s/asamp && mv %s %s/asamp/%d.sock && chown -h 65534 %s/asamp/%d.sock", folder,
                 socket, folder, pid, folder, pid)
    local code, _, err = process.run{program = prefix .. "/bin/asamp", env = {XDG_RUNTIME_DIR = folder},
                                     "stats", pid}
    assert.equal(1, code)
    assert.matches(("process %d has no socket"):format(pid), err, 1, true)
    shell.output("chown -h 0 %s/asamp/%d.sock", folder, pid)
    assert.equal(0, (process.run{program = prefix .. "/bin/asamp", env = {XDG_RUNTIME_DIR = folder},
                                 "stats", pid}))
  end)

  -- A former bug: the socket of a killed process was not removed before the process's parent had waited for
  -- it.
  it("removes the sockets of killed processes, even of zombies", function()
    folder = shell.folder()
    shell.write(folder .. "/server.lua", SERVER)
    local env = {ASAMP = "alloc=0,listen", XDG_RUNTIME_DIR = folder, LUA_PATH = "", LUA_CPATH = "",
                 ASAN_OPTIONS = "detect_leaks=0"}
    local function listening(of)
      local path = ("%s/asamp/%s.sock"):format(folder, of)
      process.await(function() return host.samefile(path, path) and host.query(path, "stats\n") end)
      return path
    end
    local parent = process.start{program = "/bin/sh", directory = folder, env = env, "-c",
                                 '"$0" server.lua & echo $! >child; exec sleep 1000', process.interpreter()}
    local child = process.await(function() return (shell.read(folder .. "/child") or ""):match "%d+" end)
    local left = listening(child)
    os.execute("kill -9 " .. child)
    process.await(function() return process.ended(child) end)
    assert.is_true(host.samefile(left, left))
    pid = process.start{"server.lua", directory = folder, env = env}
    listening(pid)
    process.await(function() return not host.samefile(left, left) end)
    assert.matches("%) Z", shell.read(("/proc/%s/stat"):format(child)))
    os.execute(("kill -9 %d %d"):format(parent, pid))
  end)

  it("leaves a socket when it is killed, which a command that is given its number removes", function()
    folder = shell.folder()
    shell.write(folder .. "/server.lua", SERVER)
    pid = process.start{"server.lua", directory = folder, env = {ASAMP = "alloc=0,listen",
      XDG_RUNTIME_DIR = folder, LUA_PATH = "", LUA_CPATH = "", ASAN_OPTIONS = "detect_leaks=0"}}
    socket = ("%s/asamp/%d.sock"):format(folder, pid)
    while not (host.samefile(socket, socket) and host.query(socket, "stats\n")) do host.pause(10) end
    os.execute("kill -9 " .. pid)
    local function printed()
      return select(3, process.run{program = prefix .. "/bin/asamp", env = {XDG_RUNTIME_DIR = folder},
                                   "stats", pid})
    end
    -- waits until the process has ended, because a process that is ending resets connections
    process.await(function() return process.ended(pid) end)
    assert.equal(("asamp stats: process %d has ended; start it again\n"):format(pid), printed())
    assert.is_false(host.samefile(socket, socket))
    local none = "asamp stats: no process %d is running; give the id of a running one\n"
    assert.equal(none:format(pid), printed())
  end)

  -- A daemon that has changed its user cannot remove its socket. The next process that listens at that path
  -- must remove it.
  it("leaves a socket when it is killed, which the next process that listens there removes", function()
    folder = shell.folder()
    shell.write(folder .. "/server.lua", SERVER)
    local function listening()
      pid = process.start{"server.lua", directory = folder, env = {ASAMP = "alloc=0,listen",
        XDG_RUNTIME_DIR = folder, LUA_PATH = "", LUA_CPATH = "", ASAN_OPTIONS = "detect_leaks=0"}}
      socket = ("%s/asamp/%d.sock"):format(folder, pid)
      while not (host.samefile(socket, socket) and host.query(socket, "stats\n")) do host.pause(10) end
      return pid, socket
    end
    local first, left = listening()
    local lives, stays = listening()
    shell.write(("%s/asamp/%d.sock"):format(folder, 1 << 30), "no socket")
    os.execute("kill -9 " .. first)
    while host.samefile("/proc/" .. first, "/proc/" .. first) do host.pause(10) end
    listening()
    assert.same({false, true, "no socket"}, {host.samefile(left, left), host.samefile(stays, stays),
      process.read(("%s/asamp/%d.sock"):format(folder, 1 << 30))})
    os.execute("kill -9 " .. lives)
  end)

  -- A former bug: the profiler's socket took the last file descriptors, so that the program could open no
  -- file, and no message gave the reason.
  it("leaves the program file descriptors, and says so; it goes on when there are enough", function()
    folder, pid = shell.folder(), 1 << 22  -- an id that no process has
    shell.write(folder .. "/opens.lua",
      "local t = {} for i = 1, arg[1] do t[i] = assert(io.open(arg[0])) end")
    local few = "fewer than 6 file descriptors would be left for the program; raise the limit %%(ulimit " ..
                "%%-n, now %d%%)"
    -- number of features that the previous limit did not allow: 2 (profile and socket), 1 (socket) or 0
    local before = 2
    for n = 7, 24, fewer(1, 4) do
      local code, _, err = process.run{program = "/bin/sh", directory = folder, "-c",
        "ulimit -n $1; exec \"$2\" opens.lua $(($1 < 10 ? 1 : 4))", "sh", tostring(n), process.interpreter(),
        env = {ASAMP = "alloc=64K,quiet,listen=x.sock,out=p.vmprof", LUA_PATH = "", LUA_CPATH = ""}}
      assert.equal(0, code, n .. err)
      local now = {[0] = err == "", err:find("cannot listen at 'x.sock': " .. few:format(n)) ~= nil,
        err:find("cannot write profile '[^']*p.vmprof': " .. few:format(n)) ~= nil}
      local what = now[0] and 0 or now[2] and 2 or 1
      assert.is_true(now[what] and what <= before, n .. err)
      before = what
      os.remove(folder .. "/p.vmprof")
    end
    assert.equal(0, before)
  end)

  -- A former bug: if the program had closed the socket of the control thread (the thread that answers
  -- requests), the thread tried only once to create it again. That failed if the program had used up all
  -- descriptors.
  it("listens again as soon as the program leaves it descriptors", function()
    local libraries = shell.output "pwd":gsub("\n", "/build/spec/?.so")
    start("alloc=0,listen=s/x.sock", ("package.cpath = '%s'\n"):format(libraries) .. [[
      local close = require "syscalls".close
      local list = {}
      while not os.rename("take", "taken") do handle(10) end
      collectgarbage "stop"  -- would close the descriptors of replaced lists
      -- repeats, because the profiler's thread may open its socket again before the program has used all
      -- descriptors
      repeat
        for fd = 3, 31 do close(fd) end
        list = {}
        repeat local f = io.open(arg[0]) list[#list + 1] = f until not f
        for _ = 1, 100 do handle(10) end
      until not os.rename("s/x.sock", "s/x.sock")
      while not os.rename("leave", "left") do handle(10) end
      for _, f in ipairs(list) do f:close() end]])
    assert(os.execute(("prlimit --pid %d --nofile=32"):format(pid)))
    shell.write(folder .. "/take", "")
    process.await(function() return not host.samefile(socket, socket) end)
    shell.write(folder .. "/leave", "")
    process.await(function() return host.samefile(socket, socket) and host.query(socket, "stats\n") end)
    finish()
  end)

  -- A former bug: the control thread used a whole processor while it could not accept a client. This
  -- happened if the program had no descriptor left, or had lowered its limit below the number of its open
  -- descriptors, as sandboxed programs do.
  it("uses no CPU time while no client can be accepted, and accepts waiting clients afterwards", function()
    start("alloc=0,listen=s/x.sock")
    local function limit(n)
      assert(os.execute(("prlimit --pid %d --nofile=%d:"):format(pid, n)))
    end
    -- returns the CPU time of all threads except the one that runs Lua
    local function ticks()
      local n = 0
      for _, line in ipairs(lines("cat /proc/%d/task/*/stat", pid)) do
        local fields = {}
        for word in line:match "%) (.*)":gmatch "%S+" do fields[#fields + 1] = word end
        if not line:find(("^%d "):format(pid)) then n = n + fields[12] + fields[13] end
      end
      return n
    end
    for _, few in ipairs{3, 0} do
      limit(few)
      local one = clients.silent(socket, 1)
      local before = ticks()
      host.pause(600)
      assert.is_true(ticks() - before < 4, few)
      limit(64)
      local answer, message = host.query(socket, "stats\n")
      assert.truthy(answer and answer:find "\nok\n$", message)
      clients.leave(one)
    end
    finish()
  end)

  it("reports to a client that no file descriptor is left", function()
    start("alloc=0,listen=s/x.sock", [[
      while not io.open "take" do handle(10) end
      collectgarbage()
      local list = {}
      repeat local f = io.open(arg[0]) list[#list + 1] = f until not f
      for _ = 1, 6 do table.remove(list):close() end
      assert(os.rename("take", "taken"))]])
    assert(os.execute(("prlimit --pid %d --nofile=64"):format(pid)))
    assert(io.open(folder .. "/take", "w")):close()
    process.await(function() return host.samefile(folder .. "/taken", folder .. "/taken") end)
    local text, message = host.query(socket, "stats\n")
    assert.is_nil(message)
    assert.equal("error fewer than 6 file descriptors would be left for the program; raise the limit " ..
                 "(ulimit -n, now 64)\n", text)
    finish()
  end)

  -- A former bug: after a refused recording, new states were sampled at the recording's rate, but the
  -- profile had its own rate. Estimates were eight times too high, or samples ended.
  it("samples as before when a recording is refused", function()
    start "alloc=64K,listen=s/x.sock,out=p.vmprof,quiet"
    local before = stats()
    local code = asamp("record", socket, "--for", "1s", "--alloc", "4K", "--time", "50",
                       "-o", "/nonexistent/x")
    assert.equal(1, code)
    local after = stats()
    assert.same({65536, before.time}, {after.alloc, after.time})
    local _, out = asamp("top", "--count", "2", "--every", "1", socket)
    -- the first update shows no rates, because they are differences to the previous update
    assert.equal(1, select(2, out:gsub("B?/s allocated", "")))
    -- A former bug: the heading of the second table was also printed above the first one.
    assert.matches("\nBy line, since the profile's start\n.*\nBy line, since the previous update\n", out)
    _, out = asamp("top", "--count", "2", "--every", "1", "--width", "40", socket)
    assert.matches("\n  [^\n]* reserved", out)
    for line in out:gmatch "[^\n]+" do assert.is_true(utf8.len(line) <= 40, line) end
    finish()
  end)

  -- A former bug: collections and pauses of closed states were subtracted from the sums. Metrics report
  -- these sums as counters, which must not decrease.
  it("counts collections and pauses of closed states", function()
    local libraries = shell.output "pwd":gsub("\n", "/build/spec/?.so")
    start("alloc=0,listen=s/x.sock", ("package.cpath = '%s'\n"):format(libraries) .. [[
      local states = require "states"
      for _ = 1, 50 do
        local s = states.open{libs = true}
        s:run "local t = {} for i = 1, 20000 do t[i] = {i} end collectgarbage()"
        s:close()
      end
      os.execute "touch closed; sleep 3"]])
    process.await(function() return host.samefile(folder .. "/closed", folder .. "/closed") end)
    local s, bound, least = stats(), 0, 16e3
    assert.equal(1, s.states)
    assert.is_true(s.majors >= 50 and s.minors >= 50, s.majors)
    for n in s.pausebins:gmatch " (%d+)" do
      bound, least = bound + n * least, 2 * least
    end
    assert.is_true(bound > 0 and bound <= s.pauses, bound .. " " .. s.pauses)
    assert.is_true(s.longest > 0 and s.longest <= s.pauses)
    finish()
  end)

  -- A former bug: after a rotation, the new file had no state until a state allocated or collected. Until
  -- then the process refused marks, although `asamp stats` named the file and the state.
  it("takes a mark for the file that has just started, of a program that waits", function()
    start("alloc=4K,listen=s/x.sock,out=p.vmprof,quiet",
          "local s = io.open('ready', 'w') s:close() os.execute 'sleep 3'")
    process.await(function() return host.samefile(folder .. "/ready", folder .. "/ready") end)
    assert.is_truthy(host.query(socket, "rotate\n"):find "\nok\n$")
    assert.same({0, "", ""}, {asamp("mark", socket, "deployed", "v2")})
    finish()
    local r = assert(reader.read(folder .. "/p.2.vmprof"))
    assert.same({true, "deployed", "v2", 1},
                {r.complete, r.marks[1].name, r.marks[1].value, #r.states})
  end)

  it("continues in another file on request and when one is large enough; some stay", function()
    start "alloc=1K,max=64K,keep=2,listen=s/x.sock,out=p.vmprof,quiet,rate=500"
    for _ = 1, 3 do assert.is_truthy(host.query(socket, "rotate\n"):find "\nok\n$") end
    process.await(function() return host.samefile(folder .. "/p.4.vmprof", folder .. "/p.4.vmprof") end)
    -- one state that writes several files counts as one state
    assert.equal(1, stats().made)
    finish()
    local list = lines("ls -t %s/*.vmprof", folder)
    for _, path in ipairs(list) do
      local r = assert(reader.read(path))
      assert.is_true(r.complete, r.message)
    end
    -- the process may stop just after it has created another profile, so that a third file exists
    assert.is_true(#list >= 2 and #list <= 3, #list)
  end)

  -- A former bug: if the process's own file name pattern contained %, the file name in the request for a
  -- recording was treated as a generated name. If an empty file or no profile existed there, the recording
  -- went to a file with the next number.
  it("records to the name that is given, whatever its own pattern is", function()
    for _, pattern in ipairs{"p.%n.vmprof", "p.vmprof"} do
      start("alloc=64K,quiet,listen=s/x.sock,out=" .. pattern)
      shell.write(folder .. "/notes", "not ours")
      shell.write(folder .. "/empty", "")
      local function record(name)
        local text = host.query(socket, ("record 60 4096 0 %s/%s\n"):format(folder, name))
        host.query(socket, "stop\n")
        return text
      end
      local function expected(name) return ("file %s/%s\nok\n"):format(folder, name) end
      assert.equal(expected "new", record "new")
      -- the name "new" has a profile by now, which is not replaced
      assert.equal(expected "new.2", record "new")
      assert.equal(expected "empty", record "empty")
      local refused = "^error cannot write profile '[^']+/notes': a text file exists at this path"
      assert.is_truthy(record "notes":find(refused))
      assert.equal("not ours", process.read(folder .. "/notes"))
      finish()
      shell.remove(folder)
    end
  end)

  -- A former bug: files that were started by a request to rotate, and the files before and after a
  -- recording, were never removed. The disk became full if cron or logrotate requested the rotations
  -- instead of the option rotate=.
  it("keeps as many of its files as keep= says, whatever requested the next one", function()
    start "alloc=64K,keep=2,listen=s/x.sock,out=p.vmprof,quiet"
    local function names()
      return table.concat(lines("cd %s; ls *.vmprof", folder), " ")
    end
    local function send(what) assert.is_truthy(host.query(socket, what .. "\n"):find "ok\n$", what) end
    send "rotate"
    assert.equal("p.2.vmprof p.vmprof", names())
    send("record 60 4096 0 " .. folder .. "/r.vmprof")
    assert.equal("p.2.vmprof p.vmprof r.vmprof", names())
    send "stop"
    assert.equal("p.2.vmprof p.3.vmprof r.vmprof", names())
    assert(os.rename(folder .. "/p.3.vmprof", folder .. "/moved.vmprof"))
    send "rotate"
    send "rotate"
    send "rotate"
    assert.equal("moved.vmprof p.5.vmprof p.6.vmprof r.vmprof", names())
    finish()
  end)

  it("keeps all requested dumps of a flight recorder", function()
    start "alloc=64K,ring=1m,keep=1,listen=s/x.sock,out=p.vmprof,quiet"
    for i, what in ipairs{"dump", "rotate", "dump"} do
      assert.equal(("file %s/p%s.vmprof\nok\n"):format(folder, i > 1 and "." .. i or ""),
                   host.query(socket, what .. "\n"))
    end
    -- A former bug: for a process that keeps its samples in memory (dump), `asamp top` printed lines by
    -- source with the present time and its rates, although they were older.
    local _, out = process.run{program = prefix .. "/bin/asamp", "top", "--count", "1", socket}
    assert.is_nil(out:find("By line", 1, true), out)
    assert.is_truthy(out:find("No source lines are shown: the samples are in a flight", 1, true), out)
    assert.is_truthy(host.query(socket, ("record 60 4096 0 %s/r.vmprof\n"):format(folder)):find "ok\n$")
    assert.is_truthy(host.query(socket, "stop\n"):find "ok\n$")
    assert.equal("p.2.vmprof p.3.vmprof p.4.vmprof p.vmprof r.vmprof",
                 table.concat(lines("cd %s; ls *.vmprof", folder), " "))
    finish()
  end)

  -- The socket of a stopped process still accepts 17 connections. A former bug: the next program that tried
  -- to listen at its path waited for an answer.
  it("does not delay the programs that want to listen at its socket while it is stopped #plain", function()
    start "alloc=0,listen=s/x.sock"
    process.stop(pid)
    for _ = 1, 20 do
      local status, out, err = process.run{directory = folder, code = "print(1)", limit = 60,
                                           env = {ASAMP = "alloc=0,listen=s/x.sock"}}
      assert.same({0, "1\n"}, {status, out})
      assert.truthy(err:find("another file or process uses this path", 1, true), err)
    end
  end)

  it("is distinguished from a stopped process", function()
    start "alloc=0,listen=s/x.sock"
    process.stop(pid)
    local fields, message, late
    -- repeats, because it takes a short time until the process is stopped
    for _ = 1, 100 do
      fields, message, late = require "asamp.cli.client".send(socket, "stats", 1)
      if not fields then break end
      host.pause(10)
    end
    assert.same({nil, true}, {fields, late})
    local wanted = "cannot query '%s': the process has not answered for 1 s: it may be stopped or " ..
      "busy; try again"
    assert.equal(wanted:format(socket), message)
    assert(os.execute("kill -CONT " .. pid))
    finish()
  end)

  -- A former bug: the process handled these requests when it continued, although the client had reported a
  -- failure.
  it("ignores marks and recordings of clients that gave up while it was stopped", function()
    start "alloc=4K,listen=s/x.sock,out=p.vmprof"
    assert.equal("ok\n", host.query(socket, "mark before\n"))
    process.stop(pid)
    for _, request in ipairs{"mark late", ("record 60 4096 0 %s/r.vmprof"):format(folder)} do
      assert.is_nil(host.query(socket, request .. "\n", 1))
    end
    assert(os.execute("kill -CONT " .. pid))
    assert.equal("0", host.query(socket, "stats\n"):match "\nrecording (%d)\n")
    assert.equal("ok\n", host.query(socket, "mark after\n"))
    finish()
    assert.is_nil(process.read(folder .. "/r.vmprof"))
    local names = {}
    for i, mark in ipairs(assert(reader.read(folder .. "/p.vmprof")).marks) do names[i] = mark.name end
    assert.same({"before", "after"}, names)
  end)

  it("does not listen where others may write", function()
    folder, pid = shell.folder(), 1 << 22  -- an id that no process has
    shell.output("chmod 755 %s && mkdir -m 777 %s/open", folder, folder)
    local code, _, err = process.run{"-e", "", directory = folder,
      env = {ASAMP = "listen=open/x.sock,quiet", LUA_PATH = "", LUA_CPATH = ""}}
    assert.equal(0, code)
    assert.is_truthy(err:find("cannot listen at 'open/x.sock': the folder of the socket belongs to " ..
                              "another user, or other users may write", 1, true))
  end)

  -- A former bug: a process of root created the missing folder that the user had named.
  it("does not create a folder that the user named", function()
    folder, pid = shell.folder(), 1 << 22  -- an id that no process has
    local code, _, err = process.run{"-e", "", directory = folder,
      env = {ASAMP = "listen=none/x.sock,alloc=0", LUA_PATH = "", LUA_CPATH = ""}}
    assert.same({0, "profiler: cannot listen at 'none/x.sock': the folder of the socket does not exist; " ..
                    "create the folder (mkdir -m 700), or give another path\n"}, {code, err})
    assert.equal("", shell.output("ls %s", folder))
  end)
end)

describe("a file", function()
  -- A former bug: if the path was a file and no socket, the message was that the process which listened
  -- there had ended.
  it("is not taken for a process", function()
    local path = os.tmpname()
    local code, _, err = process.run{program = prefix .. "/bin/asamp", "stats", path}
    os.remove(path)
    assert.same({1, ("asamp stats: '%s' is a file; give the id of a process, or the path of its socket\n")
                      :format(path)},
                {code, err})
  end)

  -- A former bug: for the socket '' the message was that the process which listened at '' had ended.
  it("without a name is not taken for a process", function()
    local code, _, err = process.run{program = prefix .. "/bin/asamp", "stats", ""}
    assert.same({1, "asamp stats: cannot query '': Connection refused; give the id of a process, or the " ..
                    "path of its socket\n"}, {code, err})
  end)

  -- A former bug: if the path was a device or a folder, the message called it a file.
  it("that is a device or a folder is not taken for a process", function()
    for _, path in ipairs{"/dev/null", "/"} do
      local code, _, err = process.run{program = prefix .. "/bin/asamp", "stats", path}
      assert.same({1, ("asamp stats: '%s' is not a socket; give the id of a process, " ..
        "or the path of its socket\n"):format(
                       path)}, {code, err})
    end
  end)
end)

describe("a process that does not listen", function()
  -- For a process in a container, the message must state where to run asamp. A former bug: the message was
  -- that the process does not listen.
  it("says of a process in a container where to run asamp", function()
    if not os.execute "unshare --pid --fork true 2>/dev/null" then
      return pending "no PID namespace can be made"
    end
    local id = shell.output("unshare --pid --fork sleep 60 >/dev/null 2>&1 & p=$!; for i in $(seq 5000); " ..
                            "do grep . /proc/$p/task/$p/children && break; sleep 0.02; done"):match "%d+"
    finally(function() shell.output("kill %s", id) end)
    local code, _, err = process.run{program = prefix .. "/bin/asamp", "stats", id}
    assert.same({1, ("asamp stats: process %s runs in a container, as process 1; run asamp there, for " ..
                     "example: docker exec CONTAINER asamp stats 1\n"):format(id)}, {code, err})
  end)
end)
