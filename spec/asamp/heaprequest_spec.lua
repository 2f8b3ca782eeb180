-- SPDX-License-Identifier: MIT
-- Requests for a heap snapshot of an idle process (asamp/control/heaprequest.h). A former bug: the control
-- thread waited ten seconds for the state's next collection and answered no other client meanwhile, so that
-- such a request to an idle server blocked all monitoring.

local clients = require "clients"
local host = require "asamp.host"
local process = require "spec.support.process"
local shell = require "spec.support.shell"

local prefix = process.interpreter():match "^(.*)/bin/[^/]+$":gsub("/build/%l+$", "/build")

-- A program with two Lua states. It only executes the commands that it reads from a pipe.
local SERVER = [[
  local peers, states = need "peers", need "states"
  local second = states.open{libs = true}
  second:run "return 1"
  local words = {
    collect = collectgarbage,
    other = function() second:run "collectgarbage()" end,
    grow = function() second:run "kept = {} for i = 1, 100000 do kept[i] = {} end" end,
    close = function() second:close() end,
    done = function() assert(io.open("done", "w")):close() end,
    limit = function() need "profilegen".filelimit(16) end,
    exit = os.exit,
    fork = function()
      if peers.fork() == 0 then
        collectgarbage()
        os.exit(true, true)
      end
    end,
  }
  local pipe = assert(io.open("words", "r+"))
  assert(io.open("idle", "w")):close()
  for word in pipe:lines() do words[word]() end]]

describe("a snapshot requested from an idle process", function()
  local folder, pid, socket, sent

  before_each(function()
    folder, sent = shell.folder(), {}
    local need = "local function need(name) return package.loadlib(({"
    for _, name in ipairs{"peers", "profilegen", "states"} do
      need = ("%s %s = %q,"):format(need, name,
        host.realpath(assert(package.searchpath(name, package.cpath))))
    end
    shell.output("mkfifo %s/words", folder)
    shell.write(folder .. "/server.lua", need .. "})[name], 'luaopen_' .. name)() end\n" .. SERVER)
    pid = process.start{"server.lua", directory = folder, env = {
      ASAMP = "alloc=0,listen=x.sock", LUA_PATH = "", LUA_CPATH = "",
      ASAN_OPTIONS = "detect_leaks=0"}}
    socket = folder .. "/x.sock"
    process.await(function()
      local text = process.read(folder .. "/idle") and host.query(socket, "stats\n")
      return text and text:find "\nstates 2\n"
    end)
  end)

  after_each(function()
    os.execute(("kill -9 %d 2>/dev/null"):format(pid))
    clients.leave(sent)
    shell.remove(folder)
  end)

  local function send(...)
    local client = clients.send(socket, ...)
    sent[#sent + 1] = client
    return client
  end

  local function leave(client)
    for i, other in ipairs(sent) do
      if other == client then
        clients.leave{table.remove(sent, i)}
      end
    end
  end

  local function say(word)
    -- open for reading and writing, because that does not wait for another process
    local pipe <close> = assert(io.open(folder .. "/words", "r+"))
    pipe:write(word, "\n")
  end

  local function heap(state, name) return ("heap %s %s/%s\n"):format(state, folder, name) end
  local function isthere(name) return host.samefile(folder .. "/" .. name, folder .. "/" .. name) end
  local function expected(name, state)
    return ("file %s/%s\nstate %d\nok\n"):format(folder, name, state or 0)
  end

  it("delays no other answer, and waits longer than a silent client may", function()
    local first = send(heap("-", "a.heap"))
    -- These queries take 7 s. The process disconnects a client that sends nothing for 5 s (CN3), but must not
    -- disconnect 'first', whose snapshot is not taken yet.
    for _ = 1, 70 do
      assert.is_truthy(host.query(socket, "stats\n"):find "\nok\n$")
      host.pause(100)
    end
    assert.equal("error another client has requested a snapshot that was not taken yet; try again " ..
                 "later\n", host.query(socket, heap("-", "b.heap")))
    local second = send(heap(1, "c.heap"))  -- of the other state
    assert.equal("", clients.answer(first, 50))
    say "collect"
    assert.equal(expected "a.heap", clients.answer(first, 20000))
    assert.is_true(isthere "a.heap")
    assert.equal("", clients.answer(second, 50))
    say "close"
    assert.equal("error the Lua state was closed before its next collection, which would have taken the " ..
                 "snapshot; try another state\n", clients.answer(second, 20000))
    assert.is_false(isthere "b.heap" or isthere "c.heap")
  end)

  -- A former bug: the answer named an option that `asamp heap` does not have, and called the snapshot a
  -- profile.
  it("replaces no other file, and reports that in the terms of the requesting command", function()
    shell.write(folder .. "/notes", "not ours")
    local replacing = send(heap("-", "notes"))
    assert.equal("", clients.answer(replacing, 50))
    say "collect"
    assert.equal(("error cannot write the snapshot '%s/notes': a text file exists at this path and would " ..
                  "be replaced; give another path\n"):format(folder), clients.answer(replacing, 20000))
    assert.equal("not ours", process.read(folder .. "/notes"))
  end)

  it("is cancelled by a client that disconnects", function()
    leave(send(heap("-", "a.heap")))
    local text
    for _ = 1, 500 do
      local other = send(heap("-", "b.heap"))
      text = clients.answer(other, 100)
      -- no answer yet: the client is queued, not disconnected
      if text == "" then break end
      leave(other)
    end
    assert.equal("", text)
    say "collect"
    assert.equal(expected "b.heap", clients.answer(sent[#sent], 20000))
    assert.is_false(isthere "a.heap")
  end)

  it("is answered in turn with the client's other requests, also of a client that sends no more", function()
    local first = send(heap("-", "a.heap") .. "mark a\nbad\n" .. heap("-", "b.heap") .. "worse\n", true)
    assert.equal("", clients.answer(first, 300))
    say "collect"
    local text = clients.answer(first, 20000)
    assert.equal(expected "a.heap", text:sub(1, #expected "a.heap"))
    say "collect"
    for _ = 1, 100 do
      local more = clients.answer(first, 1000)
      if not more then break end
      text = text .. more
    end
    text = text:gsub("unknown request[^\n]*", "unknown")
    assert.equal(expected "a.heap" ..
      "error no profile is being written; asamp record starts one\nerror unknown\n"
      .. expected "b.heap" .. "error unknown\n", text)
  end)

  it("is taken back where its clients are too many, and is no state's at the end", function()
    local waiting = send(heap("-", "a.heap"))
    local silent, n = clients.silent(socket, 100)
    assert.equal(100, n)
    assert.is_truthy(host.query(socket, "stats\n"):find "\nok\n$")
    -- to accept this client, the process has disconnected the silent ones
    assert.equal("", clients.answer(waiting, 50))
    clients.leave(silent)
    say "exit"
    local text = clients.answer(waiting, 20000)
    assert.is_truthy(text == nil
      or text:find("error the Lua state was closed before its next collection, ", 1, true), text)
    assert.is_false(isthere "a.heap")
  end)

  it("is not taken by the child of a fork", function()
    local waiting = send(heap("-", "a.heap"))
    -- this answer shows that the process has received the request for a snapshot, too
    assert.is_truthy(host.query(socket, "stats\n"))
    say "fork"
    assert.equal("", clients.answer(waiting, 1000))
    assert.is_false(isthere "a.heap")
    say "collect"
    assert.equal(expected "a.heap", clients.answer(waiting, 20000))
  end)

  -- A former bug: the snapshot was always taken of the oldest state, which may be idle for ever.
  it("is taken of the first state that collects, unless one is named; others are listed", function()
    local first = send(heap("-", "a.heap"))
    assert.equal("", clients.answer(first, 50))
    say "other"
    assert.equal(expected("a.heap", 1), clients.answer(first, 20000))
    local named = send(heap(0, "b.heap"))
    say "other"
    assert.equal("", clients.answer(named, 300))
    say "collect"
    assert.equal(expected("b.heap", 0), clients.answer(named, 20000))
    local rows = host.query(socket, "states\n")
    assert.is_truthy(rows:find "\nrow [01] %d+ %d+ [^\n]*\nrow [01] %d+ %d+ [^\n]*\nok\n$", rows)
    local busy = process.start{program = "/bin/sh", directory = folder,
      "-c", "while sleep 0.1; do echo other >words; done"}
    local code, out, err = process.run{program = prefix .. "/bin/asamp", directory = folder,
      "heap", "--wait", "30s", "-o", "c.heap", socket}
    assert.equal(0, code, err)
    assert.is_truthy(out:find "By class", out)
    assert.is_truthy(err:find("^snapshot of Lua state 1, the first to run a collection; %-%-state N " ..
                              "selects another: 0 %(unknown script, .* in use, %d+ collections?%)\n"), err)
    code, out, err = process.run{program = prefix .. "/bin/asamp", directory = folder,
      "heap", "--wait", "1s", "--state", "0", "-o", "d.heap", socket}
    os.execute("kill " .. busy)
    assert.same({1, ""}, {code, out})
    assert.is_truthy(err:find("state 0 of '.*' had no collection within 1 s, .*"
      .. "%-%-wait TIME waits longer; %-%-state N selects another state: 1 %(unknown script"), err)
  end)

  -- A former bug: if a host creates a Lua state for each of its requests, the snapshot was taken of such a
  -- state of a few KiB, and not of the host's large state.
  it("is taken of the largest state if that collects in half of the time, else of the first", function()
    say "grow"
    local function during(words, wait)
      local busy = process.start{program = "/bin/sh", directory = folder,
        "-c", ("while sleep 0.05; do printf '%s' >words; done"):format(words)}
      local code, out, err = process.run{program = prefix .. "/bin/asamp", directory = folder,
        "heap", "--wait", wait, "-o", "a.heap", socket}
      os.execute("kill " .. busy)
      os.remove(folder .. "/a.heap")
      assert.equal(0, code, err)
      assert.is_truthy(out:find "By class", out)
      return err
    end
    local err = during("collect\\nother\\n", "60s")
    assert.is_truthy(err:find("^snapshot of Lua state 1, the largest; %-%-state N selects another: 0 "), err)
    -- if the server is slow, the pipe still has unread commands of the first request
    say "done"
    process.await(function() return process.read(folder .. "/done") end)
    err = during("collect\\n", "3s")
    assert.is_truthy(err:find("^snapshot of Lua state 0, the first to run a collection; "), err)
  end)

  it("waits as long as the option says, and reports the event that it waits for", function()
    local code, out, err = process.run{program = prefix .. "/bin/asamp", directory = folder,
      "heap", "--wait", "1s", "-o", "a.heap", socket}
    assert.same({1, ""}, {code, out})
    assert.equal(("asamp heap: '%s' had no collection within 1 s, so no snapshot was taken: a Lua state " ..
      "runs a collection only after enough allocations. --wait TIME waits longer\n"):format(socket), err)
    -- Before it answers the next request, the process detects that the `asamp heap` command has ended.
    assert(host.query(socket, "stats\n"))
    say "collect"
    host.pause(200)
    assert.is_false(isthere "a.heap")
    code, out, err = process.run{program = prefix .. "/bin/asamp", directory = folder,
      "heap", "--wait", "soon", socket}
    assert.same({2, ""}, {code, out})
    assert.is_truthy(err:find("--wait needs a time from 1s to 8784h, such as 30s, 5m or 1h, " ..
                             "got 'soon'", 1, true), err)
  end)

  -- If the snapshot's file cannot be written, the command must report that. A former bug: the command named
  -- the file as if it existed. Then it waited five seconds and reported that the file was no snapshot or
  -- did not exist.
  it("is no file's that cannot be written, and the command says so", function()
    local function run(out)
      local code, text, err = process.run{program = prefix .. "/bin/asamp", directory = folder,
        "heap", "--wait", "30s", "-o", out, socket}
      assert.same({1, ""}, {code, text})
      return err
    end
    for _, path in ipairs{"/dev/full", folder} do
      assert.equal(("asamp heap: cannot write the snapshot '%s': a snapshot needs a regular file; give " ..
        "another path\n")
        :format(path), run(path))
    end
    say "limit"
    local waiting = process.start{program = "/bin/sh", directory = folder,
      "-c", "while sleep 0.2; do echo collect >words; done"}
    local err = run "a.heap"
    os.execute("kill " .. waiting)
    assert.equal(("asamp heap: '%s/a.heap' does not exist: the process could not write it; the reason is "
      .. "on its stderr\n"):format(folder), (err:gsub("^snapshot of Lua state 0[^\n]*\n", "")))
  end)
end)

-- A host that creates a Lua state for each of its requests often has no state. A former bug: the process
-- then refused the request for a snapshot. The request also failed when a state was closed before it had
-- collected, and the message of `asamp heap` named an option of the protocol instead of one of the command.
describe("a snapshot requested from a process with a state for each of its requests", function()
  it("is taken of the first state that collects, also if there is none at first", function()
    local folder = shell.folder()
    local lib = process.interpreter():match "^(.*)/bin/[^/]+$"
    local sanitized = lib:find "/asan$" and " -fsanitize=address,undefined" or ""
    shell.output("mkfifo %s/words && " ..
      "gcc -g%s -I%s/include/lua5.4 spec/support/hosts/requests.c -o %s/host " ..
      "-L%s/lib -l:liblua5.4.so.0 -Wl,-rpath,%s/lib", folder, sanitized, lib, folder, lib, lib)
    local pid = process.start{program = folder .. "/host", directory = folder, env = {
      ASAMP = "alloc=0,listen=x.sock", ASAN_OPTIONS = "detect_leaks=0"}}
    local socket = folder .. "/x.sock"
    process.await(function()
      local text = process.read(folder .. "/idle") and host.query(socket, "stats\n")
      return text and text:find "\nstates 0\n"
    end)
    local function say(line)
      local pipe <close> = assert(io.open(folder .. "/words", "r+"))
      pipe:write(line, "\n")
    end
    local first = clients.send(socket, ("heap - %s/a.heap\n"):format(folder))
    assert.equal("", clients.answer(first, 300))
    -- the host closes this state before it has run a collection
    say "nothing"
    assert.equal("", clients.answer(first, 300))
    say "collect"
    assert.matches("^file " .. folder .. "/a.heap\nstate %d+\nok\n$", clients.answer(first, 20000))
    clients.leave{first}
    local busy = process.start{program = "/bin/sh", directory = folder,
      "-c", "while sleep 0.05; do echo collect >words; done"}
    local code, out, err = process.run{program = prefix .. "/bin/asamp", directory = folder,
      "heap", "--wait", "30s", "-o", "b.heap", socket}
    assert.equal(0, code, err)
    assert.truthy(out:find("By class", 1, true), out)
    code, out, err = process.run{program = prefix .. "/bin/asamp", directory = folder,
      "heap", "--state", "99999", "-o", "c.heap", socket}
    os.execute(("kill %d %d"):format(busy, pid))
    assert.same({1, ""}, {code, out})
    assert.truthy(err:find("refuses: no Lua state of the process has this number; leave --state out, ",
                           1, true), err)
    shell.remove(folder)
  end)
end)
