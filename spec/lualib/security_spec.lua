-- SPDX-License-Identifier: MIT
-- The treatment of answers, paths and names that come from other processes and users (doc/security.md).

local answers = require "asamp.cli.answers"
local commands = require "spec.support.commands"
local host = require "asamp.host"
local liar = require "spec.support.liar"
local process = require "spec.support.process"
local shell = require "spec.support.shell"
local socket = require "socket"

local function freeport()
  local free = assert(socket.bind("127.0.0.1", 0))
  local port = select(2, free:getsockname())
  free:close()
  return port
end

local function asamp(...)
  return {"-E", "-e", "os.exit(require('asamp').main(arg), true)", "/dev/null", ...}
end

local pids = {}

-- Starts `asamp serve` with these arguments. Returns the port at which it listens.
local function serve(...)
  local port = freeport()
  pids[#pids + 1] = process.start(asamp("serve", "--http", ("127.0.0.1:%d"):format(port), ...))
  return port
end

-- Sends a request. Returns the status and the body of the answer. 'head' has additional header lines.
local function fetch(port, path, head)
  local c
  for _ = 1, 12000 do
    c = socket.connect("127.0.0.1", port)
    if c then break end
    host.pause(10)
  end
  c:settimeout(60)
  c:send(("%s HTTP/1.1\r\n%sConnection: close\r\n\r\n"):format(path, head or "Host: localhost\r\n"))
  local text = c:receive "*a" or ""
  c:close()
  return tonumber(text:match "^HTTP/1.1 (%d+)"), text:match "\r\n\r\n(.*)$"
end

local function get(port, path)
  return fetch(port, "GET " .. path)
end

after_each(function()
  for _, pid in ipairs(pids) do os.execute(("kill -9 %d 2>/dev/null"):format(pid)) end
  pids = {}
end)

describe("a file that an answer names", function()
  local o, secret

  before_each(function()
    o, secret = liar.start(), shell.folder()
    shell.write(secret .. "/victim", "TOPSECRET")
  end)

  after_each(function()
    o.stop()
    shell.remove(secret)
  end)

  -- A former bug: asamp serve read and removed the file that the process's answer named.
  it("is neither removed nor shown by asamp serve, whatever the process answers", function()
    local victim = secret .. "/victim"
    local port = serve(o.socket)
    local function query(path, lines)
      o.reply("stats", liar.stats(lines))
      for _, name in ipairs{"record", "dump"} do o.reply(name, "file " .. victim .. "\nok\n") end
      local status, text = get(port, path)
      assert.equal(500, status)
      assert.equal("TOPSECRET", shell.read(victim))
      assert.is_nil(text:find("TOPSECRET", 1, true))
      return text
    end
    query("/debug/pprof/heap?seconds=1", {alloc = 0})
    query("/debug/pprof/heap", {file = victim, ring = 1})
    local text = query("/debug/pprof/heap", {file = victim})
    local unopened = "the process's profile cannot be opened; asamp stats shows the path\n"
    if liar.isother() then assert.equal(unopened, text) end
    shell.output("ln -s %s %s/link && mkdir %s/folder", victim, o.folder, o.folder)
    -- the answer must not show which files exist
    for _, path in ipairs{o.folder .. "/link", o.folder .. "/folder", o.folder .. "/none", "/root/.none",
                          "/"} do
      assert.equal(unopened, (query("/debug/pprof/heap", {file = path})))
    end
    -- Each request has named a file in a temporary folder of asamp serve, which must be removed by now.
    local requests = shell.read(o.folder .. "/requests")
    assert.is_truthy(requests:find("\nrecord 1 524288 0 " .. o.folder .. "/asamp.", 1, true), requests)
    assert.is_truthy(requests:find("\ndump " .. o.folder .. "/asamp.", 1, true), requests)
    assert.equal("", shell.output("ls -d %s/asamp.* 2>/dev/null || true", o.folder))
  end)

  -- A former bug: if the answer named a pipe, asamp top waited for ever, or took data away from the reader
  -- of the pipe.
  it("is read only if it is a regular file", function()
    shell.output("mkfifo %s/fifo && mkdir %s/dir", o.folder, o.folder)
    local kinds = {["/fifo"] = "a pipe (FIFO)", ["/dir"] = "a folder", ["/liar.sock"] = "a socket"}
    for name, kind in pairs(kinds) do
      o.reply("stats", liar.stats{file = o.folder .. name})
      local t = asamp("top", "--count", "1", o.socket)
      t.limit = 300
      local code, out = process.run(t)
      assert.same({0, true}, {code, out:find(("cannot open '%s%s': the path is that of %s, not " ..
                                              "of a regular file; give another path"):format(
        o.folder, name, kind), 1, true) ~= nil}, out)
    end
    o.reply("stats", liar.stats{file = "relative"})
    local _, out = process.run(asamp("top", "--count", "1", o.socket))
    assert.is_truthy(out:find("the process gave a relative path", 1, true), out)
  end)

  it("is one of the process's user, or one that the process has open", function()
    local function open(path, pid, uid)
      local f, message = host.openfile(path, pid, uid)
      if f then f:close() end
      return f ~= nil, message
    end
    assert.is_true(open(secret .. "/victim"))
    assert.is_true(open(secret .. "/victim", 0, host.uid()))
    assert.is_false((open(secret)))
    assert.is_false((open "/dev/null"))
    if not liar.isother() then return end
    local pid, uid = select(5, host.query(o.socket, "stats\n"))
    assert.same({o.pid, liar.USER}, {pid, uid})
    assert.is_false((open(secret .. "/victim", pid, uid)))
    assert.is_true(open(o.folder .. "/stats.reply", 0, host.uid()))
    shell.output("chown root %s/requests", o.folder)
    assert.is_false((open(o.folder .. "/requests", pid, uid)))
    -- a process that was root when it opened its profile may have changed its user
    local other = process.start{program = "setpriv", "--reuid=" .. uid, "--regid=" .. uid, "--clear-groups",
                                "sh", "-c", "exec sleep 60 <" .. o.folder .. "/requests"}
    pids[#pids + 1] = other
    shell.output("chmod 644 %s/requests", o.folder)
    for _ = 1, 12000 do
      if open(o.folder .. "/requests", other, uid) then break end
      host.pause(10)
    end
    assert.is_true(open(o.folder .. "/requests", other, uid))
    assert.is_false((open(o.folder .. "/requests", other, uid + 1)))
  end)

  -- A former bug: a descriptor with O_PATH, which any user can open for a file of root, counted as an open
  -- file.
  it("is not one on whose contents the process has no rights", function()
    if not liar.isother() then return end
    shell.output("chmod 755 %s && chmod 600 %s/victim", secret, secret)
    local ready = o.folder .. "/ready"
    local pid = process.start{program = "setpriv", "--reuid=" .. liar.USER, "--regid=" .. liar.USER,
      "--clear-groups", process.interpreter(), "-e", ([[
        local peers = require "peers"
        assert(not io.open "%s/victim" and peers.name "%s/victim")
        io.open("%s", "w"):close()
        peers.sleep(60)]]):format(secret, secret, ready)}
    pids[#pids + 1] = pid
    process.await(function() return host.isfile(ready) end)
    assert.is_nil((host.openfile(secret .. "/victim", pid, liar.USER)))
  end)
end)

describe("asamp serve", function()
  local serving = require "asamp.commands.serve"

  -- Former bugs: a web page whose host name resolves to this machine (DNS rebinding) could read all data,
  -- and any web page could end a recording.
  it("answers its own names, no page of another origin, and record=1 only by POST or with a token", function()
    local names = {localhost = true, ["127.0.0.1"] = true, ["[::1]"] = true, ["app.example"] = true}
    local function status(r, token)
      r.query, r.path, r.method = r.query or {}, r.path or "/metrics", r.method or "GET"
      return (serving.refusal(r, {names = names, token = token}))
    end
    for _, name in ipairs{"localhost", "LOCALHOST:1", "127.0.0.1:6060", "[::1]:6060", "[::1]",
                          "app.example"} do
      assert.is_nil(status{host = name}, name)
    end
    for _, name in ipairs{"evil.example", "localhost.evil.example", "localhost:80@evil", "", "127.0.0.1.",
                          "::1", "[::2]", "evil:6060", "localhost:x", " localhost", "app.example,evil"} do
      assert.equal(403, status{host = name}, name)
    end
    assert.equal(403, status{})
    for _, origin in ipairs{"http://evil.example", "null", "http://localhost:3000",
                            "http://localhost.evil", ""} do
      assert.equal(403, status{host = "localhost:6060", origin = origin}, origin)
      assert.equal(403, status{host = "localhost:6060", origin = origin, method = "POST"}, origin)
    end
    assert.is_nil(status{host = "localhost:6060", origin = "http://LOCALHOST:6060"})
    assert.equal(403, status{host = "localhost", site = "cross-site"})
    assert.equal(403, status{host = "localhost", site = "same-site"})
    assert.is_nil(status{host = "localhost", site = "none"})
    local heap, record = "/debug/pprof/heap", {seconds = "1", record = "1"}
    assert.equal(405, status{host = "localhost", path = heap, query = record})
    assert.equal(405, status{host = "localhost", path = heap, query = record, method = "HEAD"})
    assert.is_nil(status{host = "localhost", path = heap, query = record, method = "POST"})
    assert.is_nil(status{host = "localhost", path = heap, query = {seconds = "1"}})
    assert.equal(405, status{host = "localhost", method = "POST"})
    local secret = "0123456789abcdef"
    assert.equal(401, status({host = "localhost"}, secret))
    assert.equal(401, status({host = "localhost", query = {token = "0123456789abcdeX"}}, secret))
    assert.equal(401, status({host = "localhost", authorization = "Bearer x"}, secret))
    assert.is_nil(status({host = "localhost", query = {token = secret}}, secret))
    assert.is_nil(status({host = "localhost", authorization = "Bearer " .. secret}, secret))
    assert.equal(403, status({host = "evil", query = {token = secret}}, secret))
    assert.is_nil(status({host = "localhost", path = heap, query = {record = "1", token = secret}}, secret))
  end)

  it("takes these from the head of a request, and names and a token from its options", function()
    local folder = shell.folder()
    shell.write(folder .. "/token", "0123456789abcdef\n")
    local port = serve("--host", "app.example,[::2]", "--token", "@" .. folder .. "/token", "none.sock")
    local bearer = "Authorization: Bearer 0123456789abcdef\r\n"
    assert.equal(401, (get(port, "/metrics")))
    assert.equal(200, (get(port, "/metrics?token=0123456789abcdef")))
    assert.equal(200, (fetch(port, "GET /metrics", "Host: app.example:99\r\n" .. bearer)))
    assert.equal(403, (fetch(port, "GET /metrics", "Host: evil.example\r\n" .. bearer)))
    local status, text = fetch(port, "GET /metrics", "Host: localhost\r\nOrigin: http://evil\r\n" .. bearer)
    assert.same({403, "requests from web pages of another origin are refused; open the address directly\n"},
                {status, text})
    assert.equal(403, (fetch(port, "GET /metrics",
                             "Host: localhost\r\nSec-Fetch-Site: cross-site\r\n" .. bearer)))
    -- if a header is given twice, both values must be checked
    for _, twice in ipairs{"Host: evil", "Origin: http://localhost\r\nOrigin: http://evil",
                           "Sec-Fetch-Site: none\r\nsec-fetch-site: cross-site"} do
      assert.equal(403, (fetch(port, "GET /metrics", "Host: localhost\r\n" .. twice .. "\r\n" .. bearer)))
    end
    assert.equal(405, (fetch(port, "POST /metrics", "Host: localhost\r\n" .. bearer)))
    assert.equal(405, (fetch(port, "DELETE /metrics", "Host: localhost\r\n" .. bearer)))
    assert.equal(502, (fetch(port, "POST /debug/pprof/heap", "Host: localhost\r\n" .. bearer)))
    shell.remove(folder)
  end)

  it("is for its own machine alone without a token", function()
    local run = commands.of(serving)
    for _, where in ipairs{"0.0.0.0:6060", "[::]:6060", "192.0.2.1:6060", "app.example:6060",
                           "127.evil.example:1"} do
      local code, _, err = run("--http", where, "none.sock")
      assert.equal(2, code)
      assert.is_truthy(err:find "^asamp serve: other machines can reach '[^']+' and could read profiles")
    end
    for _, token in ipairs{"short", "@/dev/zero"} do
      local code, _, err = run("--token", token, "none.sock")
      assert.same({2, true}, {code, err:find("--token", 1, true) ~= nil}, token)
    end
  end)
end)

describe("a folder for temporary files", function()
  -- A former bug: the file of os.tmpname was removed, and created again later, so that the link of another
  -- user was followed.
  it("is its owner's alone, and no name of os.tmpname is used", function()
    local path = host.newfolder(host.temporary())
    assert.equal("700\n", shell.output("stat -c %%a %s", path))
    shell.write(path .. "/a", "x")
    host.discard(path)
    assert.is_false(host.samefile(path, path))
    assert.equal("", shell.output "grep -rl 'tmpname' lualib || true")
  end)

  it("is made, and removed, with the rights of the process's user", function()
    if not liar.isother() then return end
    local folder = shell.folder()
    shell.output("mkdir %s/x && echo 1 >%s/x/a", folder, folder)
    local path, message = host.newfolder(folder, liar.USER)
    assert.is_nil(path)
    assert.is_truthy(message:find "Permission denied; set TMPDIR", message)
    host.discard(folder .. "/x", liar.USER)
    assert.equal("1\n", shell.read(folder .. "/x/a"))
    shell.remove(folder)
  end)
end)

-- EVIL has characters that a terminal interprets or that are invisible, two bytes that are not UTF-8, and
-- plain characters. PLAIN is the text that must be printed for it.
local EVIL = "a\27[31mb\7\127\u{9b}\u{80}\u{61c}\u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\u{202e}" ..
             "\u{2066}\u{2069}\u{e0000}\u{e0041}\u{e007f}\u{180e}\u{200b}\u{2060}\u{2065}\u{feff}" ..
             "\u{fff9}\u{fffb}\xff\xc2z\u{e9}\u{2026}\u{1f600}"
local PLAIN = "a?[31mb" .. ("?"):rep(25) .. "z\u{e9}\u{2026}\u{1f600}"

describe("a text for a terminal", function()
  local layout = require "asamp.show.layout"

  it("has no character that the terminal obeys", function()
    assert.equal(PLAIN, layout.printable(EVIL))
    assert.equal(PLAIN, layout.clean("  " .. EVIL .. " "))
    assert.equal("a?b", layout.printable "a\nb")
    assert.equal(PLAIN .. "\n" .. PLAIN, layout.screen(EVIL .. "\n" .. EVIL))
    assert.equal("?[1mx?[0m", layout.screen "\27[1mx\27[0m")
    local painted = "\27[1mx\27[0m\n\27[5my\27[H\27[J\27]0;own\7"
    assert.equal("\27[1mx\27[0m\n?[5my?[H?[J?]0;own?", layout.screen(painted, true))
    assert.equal("", layout.printable "")
    assert.equal(EVIL:gsub("\xff\xc2", "\u{fffd}\u{fffd}"),
                 require "cjson".decode(require "asamp.show.json".encode(EVIL)))
    assert.is_nil(require "asamp.show.json".encode(EVIL):find("[\27\7\127\xC2\xD8\xF3]"))
  end)

  -- C code must replace the same characters as the Lua code.
  it("has none in messages of a session", function()
    local _, _, text = process.run{EVIL, code = "require 'profiler.core'.complain(arg[1])"}
    assert.equal("profiler: " .. PLAIN .. "\n", text)
    local folder = shell.folder()
    for _, env in ipairs{{ASAMP = "out=/none/" .. EVIL .. "/x"}, {ASAMP = "x" .. EVIL}, {LUA_GC = EVIL},
                         {LUA_PROFILER = "out=/none/" .. EVIL}, {LUA_PROFILER = EVIL .. "=1"}} do
      local t = {env = env, code = "for i = 1, 99999 do local t = {i} end"}
      if env.LUA_PROFILER then t.load = "profiler" end
      local _, _, err = process.run(t)
      assert.is_truthy(#err > 0)
      assert.equal(layout.screen(err), err)
    end
    shell.remove(folder)
  end)

  it("has none in messages of commands on a profile, a process and their arguments", function()
    local folder = shell.folder()
    local path = folder .. "/" .. EVIL:gsub("\xff\xc2", "") .. ".vmprof"
    process.run{path, EVIL, code = [==[local p = require "profiler"
      p.alloc_start(64, {out = arg[1]})
      p.with({[arg[2]] = arg[2]}, assert(load("for i = 1, 99 do local t = {i} end", "@" .. arg[2])))
      p.disable()]==]}
    local o = liar.start()
    o.reply("stats", liar.stats{file = "/" .. EVIL, full = EVIL})
    for _, name in ipairs{"record", "heap", "dump"} do o.reply(name, "file /" .. EVIL .. "\nok\n") end
    o.reply("mark", "error " .. EVIL .. "\n")
    o.reply("memory", "version 1\npid 1\nrow 5 rss\nrow 5 e" .. EVIL:gsub("\xff\xc2", "") .. " y\nok\n")
    local function run(name, ...)
      local code, out, err = commands.of((require("asamp.commands." .. name)))(...)
      assert.is_truthy(#out + #err > 0, name)
      assert.equal(layout.screen(out), out)
      assert.equal(layout.screen(err), err)
      return code
    end
    assert.equal(0, run("report", path))
    run("report", "--by-label", "zz", path)
    run("report", "--by-label", EVIL, path)
    run("report", "--label", "x=y", path)
    run("report", "--own", EVIL, path)
    run("report", "--states", path)
    run("report", "--json", path)
    run("report", folder .. "/none" .. EVIL)
    run("report", "--" .. EVIL, path)
    assert.equal(0, run("convert", "--to", "pprof", "-o", path .. ".out", path))
    run("convert", "--to", EVIL, path)
    assert.equal(0, run("convert", "--to", "collapsed", "-o", path .. ".txt", path))
    local stacks = process.read(path .. ".txt")
    assert.is_truthy(stacks:find "z\u{e9}\u{2026}\u{1f600}")
    assert.equal(layout.screen(stacks), stacks)
    run("diff", path, path)
    run("merge", path, path, "-o", path .. ".all")
    run("repair", path)
    run("memory", path)
    run("advise", path)
    run("heap", path)
    assert.equal(0, run("stats", o.socket))
    run("stats", "--json", o.socket)
    assert.equal(0, run("top", "--count", "1", o.socket))
    assert.equal(0, run("record", "--for", "1s", o.socket))
    run("record", "--ring", o.socket)
    run("heap", o.socket)
    run("memory", o.socket)
    run("mark", o.socket, "x")
    run("stats", folder .. "/" .. EVIL)
    o.stop()
    shell.remove(folder)
  end)
end)

describe("a program with more rights than its user", function()
  it("has no options of the environment #plain", function()
    if not liar.isother() then return pending "a setuid program of another user needs root" end
    local folder = shell.folder()
    finally(function() shell.remove(folder) end)
    shell.output("chmod 755 %s && mkdir -m 777 %s/out && cp %s %s/lua", folder, folder, process.interpreter(),
                 folder)
    local t = {program = folder .. "/lua", "-e",
               "print(io.open '/proc/self/status':read 'a':match 'Uid:%s*%d+%s*(%d+)')",
               env = {LUA_GC = "nonsense", ASAMP = "alloc=64,out=" .. folder .. "/out/p.vmprof"}}
    assert.is_truthy(select(3, process.run(t)):find "LUA_GC")
    shell.output("rm -f %s/out/* && chown %d %s/lua && chmod 4755 %s/lua", folder, liar.USER, folder, folder)
    local _, uid, err = process.run(t)
    if uid ~= liar.USER .. "\n" then return pending "programs are not setuid there" end
    assert.equal("", err)
    assert.equal("", shell.output("ls %s/out", folder))
  end)
end)

describe("an answer", function()
  local function fieldsof(text)
    local fields = {rows = {}}
    for line in text:gmatch "[^\n]+" do
      local word, rest = line:match "^(%S+) ?(.*)$"
      fields[word] = rest
    end
    return fields
  end

  it("is checked: counts that are missing, no numbers or out of range end in a message", function()
    local good = answers.check("stats", fieldsof(liar.stats{file = "/x", ring = 1, unknown = 7}))
    assert.same({1, 524288, "/x", 1}, {good.pid, good.alloc, good.file, good.ring})
    assert.is_nil(good.unknown)
    for _, value in ipairs{"-1", "nan", "inf", "1e999", "0x10", "1.5", "", " ", "99999999999999999999999",
                           "9223372036854775807", "1 2"} do
      for _, key in ipairs{"states", "time", "pid", "now", "ring", "alloc"} do
        local found, wrong = answers.check("stats", fieldsof(liar.stats{[key] = value ~= "" and value or ""}))
        if value ~= "" or key ~= "ring" then
          assert.is_nil(found, key .. " " .. value)
          assert.is_string(wrong)
        end
      end
    end
    for _, bins in ipairs{"1 2 3", "0" .. (" 0"):rep(18), "x" .. (" 0"):rep(17), "0" .. (" 9e9"):rep(17)} do
      assert.is_nil((answers.check("stats", fieldsof(liar.stats{pausebins = bins}))))
    end
    local nine = "1 1 1 1 1 1 1 1 1 "
    for _, row in ipairs{"1", "a b c d e f g h i j", "5", "1 1 1 1 1 1 1 1 -1 x", nine .. "\xFF", "",
                         "99999999999999999999 1 1 1 1 1 1 1 1 x"} do
      assert.is_nil((answers.check("names", {pid = "1", rows = {row}})), row)
    end
    assert.is_nil((answers.check("names", {pid = "1", rows = {nine .. "a", nine .. "a"}})))
    assert.is_table(answers.check("names", {pid = "1", rows = {nine .. "a", nine}}))
    for _, row in ipairs{"1", "x y z", "99999999999999999999 rss", "--1 rss", "1 ", "- rss"} do
      assert.is_nil((answers.check("memory", {pid = "1", rows = {row}})), row)
    end
    assert.is_table(answers.check("memory", {pid = "1", rows = {"-1 native", "4096 rss", "5 file /x y"}}))
    assert.is_nil((answers.check("record 1", {rows = {}})))
  end)

  it("that is malformed ends each command with a message, and leaves /metrics whole", function()
    local o = liar.start()
    o.reply("stats", "rows 1\nrow 1\n \nversion 1\npid 1\nstates -1\nok\n")
    o.reply("names", "version 1\npid 1\nrow 5\nok\n")
    o.reply("memory", "row 1\nrow x y z\nok\n")
    for _, name in ipairs{"stats", "top", "memory", "record", "heap"} do
      local run = commands.of((require("asamp.commands." .. name)))
      local code, out, err = run(o.socket)
      assert.same({1, ""}, {code, out})
      assert.is_truthy(err:find("^asamp " .. name .. ": the answer of '[^\n]*liar.sock' to '%l+' is " ..
                                "malformed: [^\n]*; use the asamp installed with the process's Lua\n$"), err)
    end
    local port = serve(o.socket)
    local status, text = get(port, "/metrics")
    assert.equal(200, status)
    assert.is_truthy(text:find('asamp_up{target="liar"} 0\n', 1, true), text)
    o.reply("stats", liar.stats())
    host.pause(10)
    port = serve(o.socket)
    text = select(2, get(port, "/metrics"))
    assert.is_truthy(text:find('asamp_up{target="liar"} 1\n', 1, true), text)
    for line in text:gmatch "[^\n]+" do
      assert.is_truthy(line:find "^#" or line:find '^asamp_[%l_]+{target="liar"[^}]*} [%d.]+$', line)
    end
    o.stop()
  end)
end)
