-- SPDX-License-Identifier: MIT
-- A simple XMPP client for bench/prosody. It sends a request only after the previous one was answered, so
-- that all servers do the same work in the same order. It raises an error if a server sends nothing for ten
-- seconds.

local mime = require "mime"
local socket = require "socket"

local M = {}
local Client = {}
Client.__index = Client

local STREAM = "<stream:stream to='localhost' xmlns='jabber:client' version='1.0' " ..
               "xmlns:stream='http://etherx.jabber.org/streams'>"
local PATIENCE = 10

-- Receives text until find(text) returns a true value, and discards the text.
function Client:await(find)
  local limit = socket.gettime() + PATIENCE
  while not find(self.text) do
    self.socket:settimeout(math.max(limit - socket.gettime(), 0))
    local first, message = self.socket:receive(1)
    if not first then error(("%s: %s"):format(self.name, message), 0) end
    self.socket:settimeout(0)
    local whole, _, part = self.socket:receive(65536)
    self.text = self.text .. first .. (whole or part)
  end
  self.text = ""
end

function Client:send(text, wanted)
  self.socket:settimeout(PATIENCE)
  assert(self.socket:send(text))
  if wanted then
    self:await(function(got) return got:find(wanted, 1, true) end)
  end
end

-- Connects to the server at a port, and logs in as 'user'. Returns the client.
function M.connect(port, user)
  local c = setmetatable({text = "", name = user, count = 0}, Client)
  c.socket = assert(socket.connect("127.0.0.1", port))
  c.socket:setoption("tcp-nodelay", true)
  c:send(STREAM, "</stream:features>")
  c:send("<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>" ..
         mime.b64("\0" .. user .. "\0x") .. "</auth>", "<success")
  c:send(STREAM, "</stream:features>")
  c:iq("set", nil, "<bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'><resource>r</resource></bind>")
  c:send("<presence/>", "<presence")
  return c
end

-- Sends an XMPP request (an iq stanza) and waits for the answer. An error is an answer, too.
function Client:iq(kind, to, what)
  self.count = self.count + 1
  local id = ("id='q%d'"):format(self.count)
  self:send(("<iq type='%s' %s%s>%s</iq>"):format(kind, id, to and " to='" .. to .. "'" or "", what))
  self:await(function(text)
    local _, to_, head = text:find("(<iq[^>]*" .. id .. "[^>]*>)")
    return to_ and (head:sub(-2) == "/>" or text:find("</iq>", to_, true))
  end)
end

-- Sends a chat message to another client of the same server, and waits until that client has received it.
function Client:message(other, text)
  self.count = self.count + 1
  local body = ("<body>%d %s</body>"):format(self.count, text)
  self:send(("<message to='%s@localhost/r' type='chat'>%s</message>"):format(other.name, body))
  other:await(function(got) return got:find(body, 1, true) end)
end

function Client:close()
  self.socket:close()
end

local PING = "<ping xmlns='urn:xmpp:ping'/>"
local INFO = "<query xmlns='http://jabber.org/protocol/disco#info'/>"
local ROSTER = "<query xmlns='jabber:iq:roster'/>"
local TUNE = "<pubsub xmlns='http://jabber.org/protocol/pubsub'><publish node=" ..
  "'http://jabber.org/protocol/tune'><item id='current'><tune xmlns='http://jabber.org/protocol/tune'>" ..
  "<title>%d</title></tune></item></publish></pubsub>"
local NOTE = "<query xmlns='jabber:iq:private'><note xmlns='bench%d'>%s</note></query>"

local Load = {}
Load.__index = Load

-- Logs in as the users u1 to u<n> of one server. Returns an object whose method 'request' lets these
-- clients send requests in turn.
function M.load(port, n)
  local load = setmetatable({port = port, clients = {}, done = 0}, Load)
  for i = 1, n do load.clients[i] = M.connect(port, "u" .. i) end
  return load
end

-- Sends the next request of a fixed sequence, which is the same for every server.
function Load:request()
  self.done = self.done + 1
  local k, n = self.done, #self.clients
  local at = k * 7 % n + 1
  local c = self.clients[at]
  if k % 200 == 0 then
    c:close()
    self.clients[at] = M.connect(self.port, c.name)
  elseif k % 20 == 0 then
    c:iq("set", nil, TUNE:format(k))
  elseif k % 5 == 0 then
    c:iq("get", nil, ROSTER)
  elseif k % 5 == 1 then
    c:iq("get", "localhost", INFO)
  elseif k % 5 == 2 then
    c:iq("get", "localhost", PING)
  else
    c:message(self.clients[at % n + 1], ("text "):rep(k % 30))
  end
end

-- Stores 'bytes' bytes on the server, in the private storage of the first client's account, under the
-- number i.
function Load:keep(i, bytes)
  self.clients[1]:iq("set", nil, NOTE:format(i, ("x"):rep(bytes)))
end

function Load:close()
  for _, c in ipairs(self.clients) do c:close() end
end

return M
