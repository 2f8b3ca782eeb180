-- SPDX-License-Identifier: MIT
-- A server process of bench/servers with its own folder: functions to start, query, measure and stop it.
-- Its CPU time includes that of all of its descendants, also those that have ended. Needs Linux, curl and
-- ab (apache2-utils).

local serverprocess = {}

local Process = {}
Process.__index = Process

local PORT = 18080
-- time limit for the first answer of a server, and for its end, in tenths of a second
local WAIT = 300

function serverprocess.output(line)
  local pipe <close> = assert(io.popen(line))
  return pipe:read "a"
end

-- Returns a text in which each ${name} is replaced by fields[name].
function serverprocess.fill(text, fields)
  return (text:gsub("%${(%a+)}", function(name) return tostring(fields[name]) end))
end

local output, fill = serverprocess.output, serverprocess.fill

local function read(path)
  local f = io.open(path, "rb")
  if not f then return nil end
  local text = f:read "a"
  f:close()
  return text
end

local function sleep() os.execute "sleep 0.1" end

-- Functions that send requests to an HTTP server.
serverprocess.http = {
  request = function(server, n)
    return output(("curl -s -S -m 10 'http://127.0.0.1:%d/page?%d' 2>&1"):format(server.port, n))
  end,
  -- 'load' returns the command line that sends this number of requests. 'complete' returns a true value if
  -- the output of this command shows that all requests were answered.
  load = function(server, requests)
    return ("ab -q -l -n %d -c 2 'http://127.0.0.1:%d/page?100' 2>&1"):format(requests, server.port)
  end,
  complete = function(text, requests)
    return text:match "Complete requests: +(%d+)" == tostring(requests)
      and text:match "Failed requests: +0\n" and not text:find "Non%-2xx"
  end,
}

-- Returns a table of all processes of the system by id. Each is { parent (id), runs (true unless it is a
-- zombie), ticks (CPU time, also of children that have ended) }.
local function processes()
  local all = {}
  for line in output("cat /proc/[0-9]*/stat 2>/dev/null"):gmatch "[^\n]+" do
    local pid, state, rest = line:match "^(%d+) %(.*%) (%S) (.*)$"
    if pid then
      local fields = {}
      for word in rest:gmatch "%S+" do fields[#fields + 1] = tonumber(word) end
      -- In the line, the parent is field 4, and utime, stime, cutime and cstime are fields 14 to 17.
      all[math.tointeger(tonumber(pid))] = { parent = fields[1], runs = state ~= "Z" and state ~= "X",
        ticks = fields[11] + fields[12] + fields[13] + fields[14] }
    end
  end
  return all
end

-- Returns two values for the server and its descendants: the ids of those that run, and the CPU time of all
-- of them in ticks.
function Process:family()
  local all, members, ticks = processes(), {}, 0
  for pid, process in pairs(all) do
    local at = pid
    while at and at ~= self.pid do at = all[at] and all[at].parent end
    if at then
      if process.runs then members[#members + 1] = pid end
      ticks = ticks + process.ticks
    end
  end
  table.sort(members)
  return members, ticks
end

local TICK = tonumber(output "getconf CLK_TCK")

function Process:cpu()
  local _, ticks = self:family()
  return ticks / TICK
end

-- Starts a server. 'server' is a module of bench/server. 'fields' has the values of the ${name} in that
-- module's texts: folder (will be created, and given to the server's user), root, built and pg. 'library'
-- is the folder of liblua5.4.so.0. 'asamp' is the value of the environment variable ASAMP, or nil. Returns
-- the process, or nil and a message.
function serverprocess.start(server, fields, library, asamp)
  local process = setmetatable({ server = server, port = PORT }, Process)
  process.page = read(fields.root .. "/bench/server/page.lua")
  for name, value in pairs(fields) do process[name] = value end
  os.execute(("mkdir -p '%s/profiles'"):format(process.folder))
  for name, text in pairs(server.files) do
    local f <close> = assert(io.open(process.folder .. "/" .. name, "w"))
    f:write(fill(text, process))
  end
  os.execute(fill("cp '${root}/bench/server/page.lua' '${folder}/'", process))
  os.execute(("chown -R %s '%s'"):format(server.user, process.folder))
  local environment = ("LD_LIBRARY_PATH='%s'"):format(library)
  if asamp then
    environment = ("%s ASAMP='%s,quiet,out=%s/profiles/%%p.vmprof'"):format(
      environment, asamp, process.folder)
  end
  local line = "cd '%s'; %s setsid sh -c \"%s\" >log 2>&1 </dev/null & echo $!"
  process.pid = math.tointeger(tonumber((output(
    line:format(process.folder, environment, fill(server.command, process))))))
  for _ = 1, WAIT do
    if server.prepare then server.prepare(process) end
    if process:request(1):find "^%d%d%d%d name 1" then return process end
    sleep()
  end
  local message = ("no answer, but %q; its log: %s"):format(
    process:request(1), read(process.folder .. "/log"))
  process:stop()
  return nil, message
end

-- Returns the server's answer to a request for n records.
function Process:request(n) return self.server.request(self, n) end

-- Sends a number of requests for 100 records each. If the function 'meanwhile' is given, calls it while
-- they run. Returns the CPU seconds per request, or nil if a request failed.
function Process:load(requests, meanwhile)
  local before = self:cpu()
  local pipe = assert(io.popen(self.server.load(self, requests)))
  if meanwhile then meanwhile() end
  local text = pipe:read "a"
  pipe:close()
  if not self.server.complete(text, requests) then return nil end
  -- the CPU time of a process that has ended must first be added to that of its parent
  sleep()
  return (self:cpu() - before) / requests
end

-- Sends queries to the profiler's sockets of all processes of the server, until one answers, for at least
-- three seconds. 'asamp' is the path of the command. Returns true if one has answered.
function Process:answers(asamp)
  for _ = 1, 30 do
    for _, pid in ipairs((self:family())) do
      if os.execute(("'%s' stats %d >/dev/null 2>&1"):format(asamp, pid)) then return true end
    end
    sleep()
  end
  return false
end

-- Ends the server by SIGTERM. Kills the processes that still run after WAIT tenths of a second.
function Process:stop()
  local members = self:family()
  os.execute(("kill -TERM %d 2>/dev/null"):format(self.pid))
  for _ = 1, WAIT do
    local all, left = processes(), {}
    for _, pid in ipairs(members) do
      if all[pid] and all[pid].runs then left[#left + 1] = pid end
    end
    if #left == 0 then return end
    members = left
    sleep()
  end
  os.execute(("kill -KILL %s 2>/dev/null"):format(table.concat(members, " ")))
end

return serverprocess
