-- SPDX-License-Identifier: MIT
-- `asamp serve`, a server through which tools read the data of a running process over HTTP, and its answers
-- to malformed requests. With SERVE_REQUESTS=n in the environment, the spec sends n malformed requests.

local host = require "asamp.host"
local http = require "asamp.http"
local living = require "asamp.sums.living"
local metrics = require "asamp.show.metrics"
local peers = require "peers"
local process = require "spec.support.process"
local protobuf = require "spec.support.protobuf"
local shell = require "spec.support.shell"
local socket = require "socket"
local topprof = require "asamp.cli.topprof"
local vmprof = require "spec.support.vmprof"

local GARBAGE = tonumber(os.getenv "SERVE_REQUESTS") or 300

local SERVER = [[
  local keep, since = {}, os.time()
  local function handle(n) for i = 1, n do keep[i % 500] = {i, tostring(i)} end end
  while os.time() - since < 300 and not io.open "stop" do handle(2000) end]]

describe("metrics", function()
  it("are Prometheus' text, of processes that answer and those that do not", function()
    local text = metrics.text{{name = 'a"\\', stats = {states = 2, inuse = 10, minors = 3, majors = 1,
                                                       pauses = 2e9, pausebins = "1 0 2" .. (" 0"):rep(15)}},
                              {name = "dead"}, {name = "b", stats = {}, names = living.names{
                                "2 9 100 200 3000 4 5 6 7000 app\\\".lua", "1 0 5 6 7 8 9 10 11 "}}}
    for line in text:gmatch "[^\n]+" do
      assert.is_truthy(line:find "^# [HT]%u+ asamp_[%l_]+ ." or
                       line:find '^asamp_[%l_]+{target="[^\n]*"} [%d.]+$', line)
    end
    text = metrics.text{{name = "b", stats = {}, labels = living.labels{others = 9, rows = {
      "70 route=/a\tuser id=\"7\"", "60 ", "50 a b=1\ta-b=2"}}}}
    for line, n in pairs{['label_route="/a",label_user_id="\\"7\\""'] = 70,
                         ['label_a_b="1",label_a_b_2="2"'] = 50, ['set="(others)"'] = 9} do
      line = ('asamp_labelled_allocated_bytes_total{target="b",%s} %d\n'):format(line, n)
      assert.is_truthy(text:find(line, 1, true), text)
    end
    assert.is_truthy(text:find('asamp_labelled_allocated_bytes_total{target="b"} 60\n', 1, true), text)
  end)

  -- Prometheus rejects a whole response, with the data of all processes, if one row or label occurs twice.
  it("have no duplicates, whatever names a process sends", function()
    local names = {"a\1", "a\2", "a? [2]", "a? [2]", "(no sample yet)", ""}
    for i, name in ipairs(names) do
      names[i] = "1 2 3 4 5 6 7 8 9 " .. name
    end
    local text = metrics.text{{name = "b", stats = {}, names = living.names(names), labels = living.labels{
      rows = {"70 a.b=1\ta_b=2\ta_b_2=3", "60 x=\1", "50 x=\2"}}}}
    local seen = {}
    for line in text:gmatch "[^\n]+" do
      local row, labels, used = line:match "^%S", line:match "^asamp_[%l_]+{(.*)}", {}
      if row ~= "#" then
        for name in labels:gmatch '([%w_]+)="[^"]*"' do
          assert.is_nil(used[name], line)
          used[name] = true
        end
        line = line:gsub(" %d+$", "")
        assert.is_nil(seen[line], line)
        seen[line] = true
      end
    end
  end)

  it("have rows by the name of states, and pauses", function()
    local text = metrics.text{{name = 'a"\\', stats = {states = 2, inuse = 10, minors = 3, majors = 1,
                                                       pauses = 2e9, pausebins = "1 0 2" .. (" 0"):rep(15)}},
                              {name = "dead"}, {name = "b", stats = {}, names = living.names{
                                "2 9 100 200 3000 4 5 6 7000 app\\\".lua", "1 0 5 6 7 8 9 10 11 "}}}
    local app = '{target="b",name="app\\\\\\".lua"} '
    assert.is_truthy(text:find("asamp_named_allocated_bytes_total" .. app .. "3000\n", 1, true), text)
    assert.is_truthy(text:find("asamp_named_pause_seconds_total" .. app .. "0.000007000\n", 1, true))
    assert.is_truthy(text:find('asamp_named_inuse_bytes{target="b",name="(no sample yet)"} 5\n', 1, true))
    -- States without a name have no counter of their own, because it would decrease when a state gets its
    -- name.
    assert.is_nil(text:find('_total{target="b",name="(no', 1, true))
    assert.is_truthy(text:find('asamp_up{target="a\\"\\\\"} 1\nasamp_up{target="dead"} 0\n', 1, true))
    assert.is_truthy(text:find('le="0.000032"} 1\n', 1, true))
    assert.is_truthy(text:find('le="0.000064"} 3\n', 1, true))
    assert.is_truthy(text:find('le="+Inf"} 3\n', 1, true))
    assert.is_truthy(text:find('_sum{target="a\\"\\\\"} 2.000000000\n', 1, true))
    assert.equal(18, select(2, text:gsub("_bucket{", "")))
  end)
end)

local function freeport()
  local free = assert(socket.bind("127.0.0.1", 0))
  local port = select(2, free:getsockname())
  free:close()
  return port
end

-- Returns the command line of the server. It starts the module and not bin/asamp, which exists only in the
-- release build. A former bug: the end of a wait was a time of os.time, which depends on the system's
-- clock. In this server os.time goes back by an hour at each call.
local function serving(port, ...)
  local main = "local t = os.time() os.time = function() t = t - 3600 return t end " ..
               "os.exit(require('asamp').main(arg), true)"
  local t = {"-E", "-e", main, "/dev/null", "serve", "--http", port}
  return table.move({...}, 1, select("#", ...), #t + 1, t)
end

local function connect(port)
  for _ = 1, 12000 do
    local c = socket.connect("127.0.0.1", port)
    if c then
      c:settimeout(60)
      return c
    end
    host.pause(10)
  end
  error "nobody serves"
end

describe("a client", function()
  -- A former bug: a client kept its connection as long as it sent a byte every ten seconds, and other
  -- clients got no connection.
  it("that does not complete a request in time is left, whatever it sends", function()
    local server = assert(http.open("127.0.0.1", "0", 8, 1))
    local heads = {"G", "GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: ",
                   "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999\r\n\r\n"}
    local clients = {}
    for i, head in ipairs(heads) do
      clients[i] = connect(server:port())
      clients[i]:settimeout(0)
      clients[i]:send(head)
    end
    for _ = 1, 6000 do
      for _, r in ipairs(server:wait(10)) do server:answer(r.id, 200, "text/plain", "") end
      for i = #clients, 1, -1 do
        clients[i]:send "x"
        if select(2, clients[i]:receive(1)) == "closed" then table.remove(clients, i):close() end
      end
      if #clients == 0 then break end
      -- a pause ends early if a client sends data
      host.pause(5)
    end
    assert.equal(0, #clients)
    -- The server must not disconnect a client that has sent a complete request and waits for its answer.
    local c = connect(server:port())
    c:send "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
    local request
    repeat request = server:wait(10)[1] until request
    for _ = 1, 150 do server:wait(10) host.pause(10) end
    server:answer(request.id, 200, "text/plain", "late")
    c:settimeout(0)
    local line
    repeat
      server:wait(10)
      line = c:receive "*l"
    until line
    assert.equal("HTTP/1.1 200 OK", line)
    c:close()
    server:close()
  end)
end)

-- A former bug: if there was too little memory to return a request to Lua, the error left the C function by
-- longjmp. No later call returned this request.
describe("a request", function()
  it("is returned later if there is too little memory now, with all its fields", function()
    local s = peers.new()
    local function run(code, ...)
      local r = {s:run(code, ...)}
      assert(r[1], r[2])
      return table.unpack(r, 2)
    end
    local port = run [[
      server = assert(require "asamp.http".open("127.0.0.1", "0", 8))
      return server:port()]]
    local c = connect(port)
    c:send("GET /" .. ("p"):rep(900) .. "?a=" .. ("q"):rep(900) .. " HTTP/1.1\r\nHost: h1\r\nHOST: " ..
           ("h"):rep(900) .. "\r\nOrigin: o\r\n\r\n")
    run "for _ = 1, 20 do server:port() end collectgarbage()"
    local failed, path, query, name, origin = 0, nil, nil, nil, nil
    for more = 1500, 60000, 100 do
      run "collectgarbage()"
      s:limit(s:used() + more)
      local r = {s:run [[
        local ok, list = pcall(server.wait, server, 20)
        if not ok then return "failed" end
        local r = list[1]
        if r then return r.path, r.query.a, r.host, r.origin end]]}
      s:limit(0)
      failed = failed + ((not r[1] or r[2] == "failed") and 1 or 0)
      if r[1] and r[5] then
        path, query, name, origin = table.unpack(r, 2)
        break
      end
    end
    assert.is_true(failed > 0)
    assert.same({"/" .. ("p"):rep(900), ("q"):rep(900), "h1, " .. ("h"):rep(900), "o"},
                {path, query, name, origin})
    c:close()
    run "server:close()"
    s:close()
  end)
end)

-- A former bug: if a conversion took too long, the answer was sent after a minute, but the conversion
-- continued.
describe("a conversion", function()
  it("that takes too long is killed", function()
    local folder = shell.folder()
    shell.write(folder .. "/slow", "#!/bin/sh\necho $$ >", folder, "/pid\nexec sleep 600\n")
    shell.output("chmod +x %s/slow", folder)
    topprof.start(folder .. "/slow", {path = "p", out = "o", since = 0, till = 0, first = "time",
                                      peer = {pid = 1, uid = 0}}, 1)
    local pid
    for _ = 1, 12000 do
      pid = (shell.read(folder .. "/pid") or ""):match "^(%d+)\n"
      if pid then break end
      host.pause(10)
    end
    local function isthere() return shell.read("/proc/" .. pid .. "/comm") == "sleep\n" end
    for _ = 1, 12000 do
      if not isthere() then break end
      host.pause(10)
    end
    assert.is_false(isthere())
    shell.remove(folder)
  end)
end)

-- Starts the server with these words. Returns two functions: one waits, at most a minute, until the file
-- with its output ('out' or 'err') has n lines, and returns its text; the other ends the server.
local function started(words)
  local out, err = os.tmpname(), os.tmpname()
  local pid = process.start{program = "/bin/sh", "-c", 'o=$1 e=$2; shift 2; exec "$@" >"$o" 2>"$e"', "sh",
    out, err, process.interpreter(), table.unpack(words)}
  local function lines(of, n)
    local path, text = of == "out" and out or err, nil
    for _ = 1, 12000 do
      text = process.read(path)
      if select(2, text:gsub("\n", "")) >= n then break end
      host.pause(10)
    end
    return text
  end
  return lines, function()
    os.execute("kill -9 " .. pid)
    process.await(function() return process.ended(pid) end)
    os.remove(out)
    os.remove(err)
  end
end

describe("asamp serve", function()
  -- A former bug: two servers listened at the same port, and each request reached one of them by chance.
  it("takes no port at which another listens, but one that was left just now", function()
    local port = freeport()
    local pid = process.start(serving(port, "none.sock"))
    local c = connect(port)
    local second = serving(port, "none.sock")
    local code, out, err = process.run(second)
    assert.same({1, "", ("asamp serve: cannot serve at 127.0.0.1:%d: Address already in use\n"):format(port)},
                {code, out, err})
    c:send "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
    assert.equal("HTTP/1.1 200 OK", (c:receive()))
    os.execute("kill -9 " .. pid)
    process.await(function() return process.ended(pid) end)
    -- the client closes its connection after the server was killed, so that the server's port has a
    -- connection in the state TIME_WAIT
    c:close()
    local lines, stop = started(second)
    assert.equal(("http://127.0.0.1:%d/debug/pprof/\n"):format(port), lines("out", 1))
    stop()
  end)

  -- A former bug: a process that was given twice had its metrics twice, which Prometheus rejects, and
  -- target= was ambiguous.
  it("serves a process once, however often and by whatever name it is given", function()
    local folder = shell.folder()
    local path = folder .. "/a.sock"
    shell.write(folder .. "/server.lua", "local t = {} while true do t[#t % 100 + 1] = {} end")
    local pid = process.start{folder .. "/server.lua", env = {ASAMP = "alloc=0,listen=" .. path}}
    while not host.samefile(path, path) do host.pause(10) end
    local lines, stop = started(
      serving(freeport(), path, folder .. "/./a.sock", "4194304", "4194304", folder .. "/b.sock"))
    local err = lines("err", 4)
    stop()
    -- The last two of these messages report a wrong id and a wrong path. A former bug: they were missing.
    assert.equal(([[
asamp serve: '%s/./a.sock' is the same process as '%s', and is served once
asamp serve: '4194304' is the same process as '4194304', and is served once
asamp serve: no process 4194304 is running; give the id of a running one
asamp serve: cannot query '%s/b.sock': No such file or directory; give the id of a process, ]] ..
      "or the path of its socket; the metric asamp_up is 0 until the process answers\n"):format(
        folder, path, folder), err)
    os.execute("kill -9 " .. pid)
    shell.remove(folder)
  end)

  it("ends if no process has any of the ids", function()
    local code, out, err = process.run(serving(freeport(), "4194304", "4194305"))
    local none = "asamp serve: no process %d is running; give the id of a running one\n"
    assert.same({1, "", none:format(4194304) .. none:format(4194305)}, {code, out, err})
  end)
end)

describe("a process that is served", function()
  local folder, pids, port

  local function start(t)
    t.directory = folder
    pids[#pids + 1] = process.start(t)
  end

  before_each(function()
    folder, pids = os.tmpname(), {}
    os.remove(folder)
    assert(os.execute(("mkdir -m 700 %s"):format(folder)))
    shell.write(folder .. "/server.lua", SERVER)
    local sockets = {folder .. "/a.sock", folder .. "/idle.sock"}
    start{"server.lua", env = {ASAMP = "alloc=4096,time=100,listen=" .. sockets[1]}}
    start{"server.lua", env = {ASAMP = "alloc=0,listen=" .. sockets[2]}}
    for _, path in ipairs(sockets) do
      for _ = 1, 12000 do
        if host.samefile(path, path) and host.query(path, "stats\n") then break end
        host.pause(10)
      end
    end
    port = freeport()
    start(serving(port, "a.sock", "idle.sock", "none.sock"))
  end)

  after_each(function()
    for _, pid in ipairs(pids) do os.execute(("kill -9 %d 2>/dev/null"):format(pid)) end
    shell.remove(folder)
  end)

  -- Sends a request. Returns a function that waits for the answer and returns its status and body.
  local function send(path, method)
    local c = connect(port)
    c:send(("%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"):format(method or "GET", path))
    return function()
      local text = c:receive "*a" or ""
      c:close()
      return tonumber(text:match "^HTTP/1.1 (%d+)"), text:match "\r\n\r\n(.*)$"
    end
  end

  local function get(path, method)
    return send(path, method)()
  end

  it("serves metrics and profiles, and the reason if it has none", function()
    local status, text = get "/metrics"
    assert.equal(200, status)
    assert.is_truthy(text:find('asamp_up{target="a"} 1\nasamp_up{target="idle"} 1\n' ..
                               'asamp_up{target="none"} 0\n', 1, true), text)
    assert.is_truthy(text:find('asamp_named_states{target="a",name="server.lua"} 1\n', 1, true), text)
    assert.is_true(tonumber(text:match 'named_allocated_bytes_total{target="a",name="server.lua"} (%d+)') > 0)
    status, text = get "/debug/pprof/heap?target=a"
    assert.equal(200, status)
    assert.equal("\31\139", text:sub(1, 2))
    local both = {send "/debug/pprof/profile?target=idle&seconds=1",
                  send "/debug/pprof/allocs?target=a&seconds=1"}
    for _, wait in ipairs(both) do
      status, text = wait()
      assert.same({200, "\31\139"}, {status, text:sub(1, 2)})
    end
    assert.is_nil(io.popen("ls " .. folder .. "/*.sock.*.vmprof 2>/dev/null"):read "a"
                  -- the server has removed the temporary file of the recording
                  :match "%S")
    for path, wanted in pairs{
      ["/debug/pprof/heap"] = 400, ["/debug/pprof/heap?target=x"] = 404,
      ["/debug/pprof/heap?target=idle"] = 409, ["/debug/pprof/heap?target=none"] = 502,
      ["/debug/pprof/allocs?target=a&seconds=-1"] = 400, ["/debug/pprof/allocs?target=a&seconds=601"] = 400,
      ["/x"] = 404, ["/debug/pprof/"] = 200, ["/debug/pprof/heap?target=a%2500"] = 404,
    } do
      assert.equal(wanted, (get(path)), path)
    end
    assert.equal(405, (get("/metrics", "POST")))
  end)

  -- A former bug: the server used only the part of the address before a zero byte, so that target=a%00b was
  -- read as target=a.
  it("refuses an address with a zero byte, wherever it is", function()
    for _, path in ipairs{"/debug/pprof/heap?target=a%00b", "/debug/pprof/heap?target=a&seconds=0%00",
                          "/debug/pprof/heap?target%00=a", "/metrics%00", "/metrics?%00", "/%00/metrics"} do
      assert.same({400, "the URL has a zero byte (%00); remove it\n"}, {get(path)}, path)
      assert.equal(400, (get(path, "POST")))
    end
    assert.equal(200, (get "/metrics"))
  end)

  -- The server reads the profile up to two seconds later. The answer contains all samples until then.
  it("is profiled for the requested seconds", function()
    local status, text = get "/debug/pprof/profile?target=a&seconds=1"
    assert.equal(200, status)
    shell.write(folder .. "/p.gz", text)
    local p = protobuf.profile(vmprof.load(folder .. "/p.gz"))
    assert.equal(1000000000, p.duration)
    assert.is_true(#p.samples > 0)
  end)

  -- A former bug: the process may remove its file while the server waits for the requested seconds. The
  -- answer then had status 500, and stated that the file cannot be opened.
  it("that has removed the file of the requested seconds has an answer with the remedy", function()
    start{"server.lua", env = {ASAMP = "alloc=64K,time=100,rotate=1s,keep=1,quiet,out=k.vmprof,listen=" ..
                                       folder .. "/keep.sock"}}
    process.await(function() return host.query(folder .. "/keep.sock", "stats\n") end)
    port = freeport()
    start(serving(port, "keep.sock"))
    assert.same({409, "the process has removed the file of the requested time, because of its " ..
      "options rotate= and keep=: give a seconds= below rotate=, or restart the process with a " ..
      "larger keep=\n"},
                {get "/debug/pprof/profile?seconds=2"})
  end)

  -- A flight recorder keeps samples in memory, and writes its file only on request. A former bug: asamp serve
  -- answered that the file does not exist.
  it("has its flight recorder written, and removed again", function()
    shell.write(folder .. "/recorder.lua", [[
      local function old() local t = {} for i = 1, 20000 do t[i] = {i} end return t end
      while not os.rename("go", "went") do end
      local kept = old()
      assert(io.open("kept", "w")):close() ]] .. SERVER .. " return kept")
    local path = folder .. "/ring.sock"
    start{"recorder.lua", env = {ASAMP = "alloc=4096,time=100,ring=4s,quiet,out=r.vmprof,listen=" .. path}}
    while not (host.samefile(path, path) and host.query(path, "stats\n")) do host.pause(10) end
    assert.is_truthy(host.query(path, "stats\n"):find("\nring 1\n", 1, true))
    port = freeport()
    start(serving(port, "ring.sock"))
    assert.equal(200, (get "/debug/pprof/heap"))
    -- the recorder keeps the last 4 s, and the server may take as long to start
    shell.write(folder .. "/go", "")
    process.await(function() return process.read(folder .. "/kept") end)
    -- Requests a profile. Returns a table of the bytes that each function has allocated, by name.
    local function allocated(query)
      local status, text = get("/debug/pprof/" .. query)
      assert.equal(200, status, text)
      shell.write(folder .. "/p.gz", text)
      local p, bytes = protobuf.profile(vmprof.load(folder .. "/p.gz")), {}
      for _, s in ipairs(p.samples) do
        local name = p.functions[p.locations[s.locations[1]][1]].name:match "^%S+"
        for k, kind in ipairs(p.types) do
          if kind == "alloc_space/bytes" then bytes[name] = (bytes[name] or 0) + s.values[k] end
        end
      end
      return bytes
    end
    local all = allocated "heap"
    assert.is_true(all.handle > 0 and all.old > 0)
    -- The recorder's file covers less than the requested five seconds. It starts with the objects that were
    -- alive at its start.
    local part = allocated "allocs?seconds=5"
    assert.is_true(part.handle > 0)
    assert.is_nil(part.old)
    assert.equal(200, (get "/debug/pprof/profile?seconds=1"))
    assert.equal("", shell.output("cd %s; ls | grep sock.*vmprof || true", folder))
    os.execute(("kill -9 %d"):format(pids[#pids - 1]))
    local status, text = get "/debug/pprof/heap"
    assert.is_true(status >= 500 and text:find "cannot query" ~= nil or text:find "has ended" ~= nil, text)
  end)

  -- A former bug: the server waited for stopped processes one after the other, so that ten of them used up
  -- the timeout of Prometheus. In this spec, each process reads its request only after all others have
  -- received theirs.
  it("queries all silent processes at the same time, and lists those again that answer", function()
    local silent, words = {}, {"a.sock"}
    for i = 1, 5 do
      silent[i] = require "socket.unix"()
      assert(silent[i]:bind(("%s/s%d.sock"):format(folder, i)))
      assert(silent[i]:listen(8))
      words[#words + 1] = ("s%d.sock"):format(i)
    end
    words[#words + 1] = "idle.sock"
    port = freeport()
    start(serving(port, table.unpack(words)))
    local clients = {}
    local function accept()
      for i, s in ipairs(silent) do
        s:settimeout(60)
        clients[i] = assert(s:accept())
        clients[i]:settimeout(60)
        assert.equal("stats", clients[i]:receive())
      end
    end
    -- accepts the queries that the server sends when it starts
    accept()
    for _, c in ipairs(clients) do c:close() end
    local wait = send "/metrics"
    accept()
    -- at this time the server waits for the answers of all these processes
    for _, c in ipairs(clients) do assert(c:send "pid 1\n") end
    local status, text = wait()
    assert.equal(200, status)
    assert.is_truthy(text:find('asamp_up{target="s1"} 0\n', 1, true), text)
    for _, c in ipairs(clients) do c:close() end
    socket.sleep(11)
    for i = 1, 5 do os.remove(("%s/s%d.sock"):format(folder, i)) end
    assert(os.execute(("ln -s idle.sock '%s/s5.sock'"):format(folder)))
    text = select(2, get "/metrics")
    local up = {}
    for target, is in text:gmatch 'asamp_up{target="(%w+)"} (%d)' do up[#up + 1] = target .. is end
    assert.equal("a1 s10 s20 s30 s40 s51 idle1", table.concat(up, " "))
    for _, s in ipairs(silent) do s:close() end
  end)

  it("outlives garbage", function()
    math.randomseed(tonumber(os.getenv "ASAMP_SEED") or 7)
    local good = {"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n",
                  "GET /debug/pprof/profile?target=none&seconds=9 HTTP/1.0\r\n\r\n",
                  "POST / HTTP/1.1\r\nContent-Length: 99999\r\n\r\nxxx",
                  "GET /%00?%=%&&= HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffff\r\n",
                  "GET /" .. ("a"):rep(40000) .. " HTTP/1.1\r\n\r\n"}
    for _ = 1, GARBAGE, 10 do
      local c = connect(port)
      for _ = 1, 10 do
        local text = good[math.random(#good)]
        for _ = 1, math.random(0, 5) do
          local at = math.random(#text)
          text = text:sub(1, at - 1) .. string.char(math.random(0, 255)) .. text:sub(at + math.random(0, 3))
        end
        if not c:send(text) then break end
      end
      c:close()
    end
    assert.equal(200, (get "/metrics"))
  end)
end)
