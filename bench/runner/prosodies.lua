-- SPDX-License-Identifier: MIT
-- Starts Prosody servers for bench/prosody, which run on the fork's interpreter. Each server has its own
-- folder, accounts and port. Servers that still run when this process ends are killed.

local socket = require "socket"

local M = {}
local Server = {}
Server.__index = Server

local CONFIG = [[
run_as_root = true
data_path = "%s/data"
pidfile = "%s/prosody.pid"
plugin_paths = {"%s"}
held_file = "%s/held"
modules_enabled = {"disco", "roster", "saslauth", "carbons", "pep", "private", "blocklist", "vcard4",
  "ping", "time", "version", "posix", "smacks", "held"}
modules_disabled = {"s2s"}
interfaces = {"127.0.0.1"}
c2s_ports = {%d}
c2s_direct_tls_ports = {}
c2s_require_encryption = false
allow_unencrypted_plain_auth = true
authentication = "internal_plain"
storage = "internal"
log = {warn = "%s/log"}
VirtualHost "localhost"
]]

-- A Prosody module. Every second it writes the bytes that Lua's heap has reserved to the file 'held_file'.
local HELD = [[
local path = module:get_option_string "held_file"
module:add_timer(1, function()
  local f = io.open(path .. ".new", "w")
  if f then
    f:write(tostring(collectgarbage "statistics".held))
    f:close()
    os.rename(path .. ".new", path)
  end
  return 1
end)
]]

local world, all, count

-- Sets the values that all servers share: t.root (the project), t.folder (for the servers' files),
-- t.clients (number of accounts) and t.fail (a function to report errors).
function M.launch(t)
  world, count = t, 0
  all = setmetatable({}, {__gc = function(list)
    for _, s in ipairs(list) do s:signal "KILL" end
  end})
end

function M.read(path)
  local f = io.open(path, "rb")
  local text = f and f:read "a"
  if f then f:close() end
  return text
end

function M.output(line)
  local pipe = assert(io.popen(line))
  local text = pipe:read "a"
  pipe:close()
  return text
end

local function write(path, text)
  local f = assert(io.open(path, "w"))
  f:write(text)
  f:close()
end

local function freeport()
  local s = assert(socket.bind("127.0.0.1", 0))
  local port = math.tointeger(tonumber((select(2, s:getsockname()))))
  s:close()
  return port
end

-- Starts a server and waits until it accepts connections. 'asamp' is the value of the environment variable
-- ASAMP, or nil to leave it unset. Returns the server.
function M.start(asamp)
  count = count + 1
  local s = setmetatable({folder = ("%s/%d"):format(world.folder, count), port = freeport()}, Server)
  local here = s.folder
  assert(os.execute(("rm -rf '%s'; mkdir -p '%s/data/localhost/accounts' '%s/profiles'")
                    :format(here, here, here)))
  for i = 1, world.clients do
    write(("%s/data/localhost/accounts/u%d.dat"):format(here, i), 'return {["password"] = "x"}\n')
  end
  write(here .. "/mod_held.lua", HELD)
  write(here .. "/config.lua", CONFIG:format(here, here, here, here, s.port, here))
  local environment = asamp and ("ASAMP='%s,quiet,out=%s/profiles/%%p.vmprof'"):format(asamp, here) or ""
  s.pid = math.tointeger(tonumber((M.output(
    ("cd '%s'; env %s '%s/build/bin/lua' /usr/bin/prosody -F --config ./config.lua " ..
     ">out 2>&1 </dev/null & echo $!")
    :format(here, environment, world.root)))))
  all[#all + 1] = s
  for _ = 1, 300 do
    local c = socket.connect("127.0.0.1", s.port)
    if c then
      c:close()
      return s
    end
    socket.sleep(0.1)
  end
  world.fail("prosody does not start: " .. (M.read(here .. "/out") or ""))
end

function Server:signal(name)
  os.execute(("kill -%s %d 2>/dev/null"):format(name, self.pid))
end

function Server:isthere()
  local text = M.read(("/proc/%d/stat"):format(self.pid))
  return text ~= nil and not text:find "%) [ZX] "
end

-- Waits up to 30 seconds until the server has ended. Returns true if it has.
function Server:ends()
  for _ = 1, 300 do
    if not self:isthere() then return true end
    socket.sleep(0.1)
  end
  return false
end

local function fields(pid)
  local list = {}
  for word in M.read(("/proc/%d/stat"):format(pid)):match "%) (.*)":gmatch "%S+" do list[#list + 1] = word end
  return list
end

-- Returns the CPU seconds of the threads that the server has now.
function Server:cpu()
  local sum = 0
  for line in M.output(("cat /proc/%d/task/*/schedstat"):format(self.pid)):gmatch "[^\n]+" do
    sum = sum + tonumber(line:match "%d+")
  end
  return sum / 1e9
end

-- Returns the size of the server's address space in bytes.
function Server:size()
  return math.tointeger(tonumber(fields(self.pid)[21]))
end

-- Returns the server's resident bytes outside of Lua's heap.
function Server:beside()
  local kb = M.read(("/proc/%d/smaps_rollup"):format(self.pid)):match "Rss:%s*(%d+)"
  return kb * 1024 - math.tointeger(tonumber(M.read(self.folder .. "/held")))
end

-- Returns how many bytes on the disk a server's profiles take.
function M.disk(s)
  return 1024 * tonumber(M.output(("du -sk '%s/profiles'"):format(s.folder)):match "%d+")
end

-- Returns the path of a server's newest profile, or nil.
function M.newest(s)
  return M.output(("ls -t '%s/profiles/'*.vmprof 2>/dev/null | head -1"):format(s.folder)):match "[^\n]+"
end

return M
