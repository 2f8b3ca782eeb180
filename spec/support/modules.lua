-- SPDX-License-Identifier: MIT
-- modules.lua FOLDER: a script that uses C modules compiled for Lua 5.4: cjson, lpeg, luasocket, luasec,
-- luv, lfs and lyaml. It writes a key and a certificate to FOLDER. It raises an error if a result is wrong,
-- and otherwise prints "done".

local function json()
  local cjson = require "cjson"
  local list = {}
  for i = 1, 2000 do list[i] = {id = i, name = "n" .. i, list = {1, 2, {x = i}}} end
  local back = cjson.decode(cjson.encode(list))
  assert(#back == 2000 and back[2000].list[3].x == 2000)
end

local function grammar()
  local lpeg, re = require "lpeg", require "re"
  local words = {}
  for i = 1, 5000 do words[i] = "w" .. i end
  local list = re.compile "list <- {| item (',' item)* |}  item <- { %w+ }"
  assert(#list:match(table.concat(words, ",")) == 5000)
  local V, C = lpeg.V, lpeg.C
  local sum = lpeg.P{"E", E = lpeg.Ct(V "T" * (C(lpeg.S "+-") * V "T") ^ 0),
    T = lpeg.Ct(V "F" * (C(lpeg.S "*/") * V "F") ^ 0),
    F = C(lpeg.R "09" ^ 1) + "(" * V "E" * ")"}
  for _ = 1, 500 do assert(sum:match "1+2*(3+4*(5-6))*7") end
end

local function pair(socket)
  local server = assert(socket.bind("127.0.0.1", 0))
  local ip, port = server:getsockname()
  local a = assert(socket.connect(ip, port))
  local b = assert(server:accept())
  server:close()
  return a, b
end

local function lines()
  local a, b = pair(require "socket")
  for i = 1, 200 do
    a:send("line " .. i .. "\n")
    assert(b:receive() == "line " .. i)
  end
  a:close()
  b:close()
end

local function base64()
  local ltn12, mime = require "ltn12", require "mime"
  local out = {}
  ltn12.pump.all(ltn12.source.chain(ltn12.source.string(("x"):rep(100000)), mime.encode "base64"),
    (ltn12.sink.table(out)))
  assert(#table.concat(out) == 133336)
end

-- Makes a TLS connection in this process. Each of its two ends is a coroutine, which yields instead of
-- blocking.
local function tls(dir)
  local ssl = require "ssl"
  local key, certificate = dir .. "/key.pem", dir .. "/certificate.pem"
  assert(os.execute(("openssl req -x509 -newkey rsa:2048 -nodes -keyout %s -out %s -days 2 "
    .. "-subj /CN=localhost 2>/dev/null"):format(key, certificate)))
  local function peer(raw, mode, talk)
    local c = assert(ssl.wrap(raw, {mode = mode, protocol = "any", verify = "none",
      key = mode == "server" and key or nil,
      certificate = mode == "server" and certificate or nil}))
    c:settimeout(0)
    return coroutine.wrap(function()
      local done, why = c:dohandshake()
      while not done do
        assert(why == "wantread" or why == "wantwrite", why)
        coroutine.yield()
        done, why = c:dohandshake()
      end
      talk(c)
      return true
    end)
  end
  local a, b = pair(require "socket")
  local client = peer(a, "client", function(c) c:send "hello over tls\n" end)
  local server = peer(b, "server", function(c)
    local line = c:receive()
    while not line do
      coroutine.yield()
      line = c:receive()
    end
    assert(line == "hello over tls")
  end)
  local sent, received
  repeat
    sent = sent or client()
    received = received or server()
  until sent and received
end

local function loop()
  local uv = require "luv"
  local ticks, got, back = 0, nil, nil
  local timer = uv.new_timer()
  timer:start(1, 1, function()
    ticks = ticks + 1
    collectgarbage "step"
    if ticks == 20 then timer:close() end
  end)
  local server = uv.new_tcp()
  server:bind("127.0.0.1", 0)
  server:listen(8, function()
    local peer = uv.new_tcp()
    server:accept(peer)
    peer:read_start(function(_, data)
      if data then
        got = data
        peer:write("re:" .. data)
      else
        peer:close()
        server:close()
      end
    end)
  end)
  local client = uv.new_tcp()
  client:connect("127.0.0.1", server:getsockname().port, function()
    client:write "ping"
    client:read_start(function(_, data)
      if data then
        back = data
        client:shutdown(function() client:close() end)
      end
    end)
  end)
  uv.run()
  assert(ticks == 20 and got == "ping" and back == "re:ping")
end

json()
grammar()
lines()
base64()
tls(arg[1])
loop()
assert(require "lfs".attributes("/", "mode") == "directory")
assert(require "lyaml".load "a: [1, 2, {b: c}]".a[3].b == "c")
print "done"
