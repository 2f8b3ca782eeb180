-- SPDX-License-Identifier: MIT
-- The command `asamp serve`: serves profiles and metrics of running processes over HTTP. A single loop waits
-- for HTTP requests, queries the processes' sockets and advances its jobs. It leaves slow work to other
-- processes: the profiled process records the profile, and a child process converts it. If a process does not
-- answer, it is skipped for a while.

local client = require "asamp.cli.client"
local host = require "asamp.host"
local layout = require "asamp.show.layout"
local living = require "asamp.sums.living"
local metrics = require "asamp.show.metrics"
local options = require "asamp.cli.options"
local topprof = require "asamp.cli.topprof"

local M = {}

M.summary = "serves data of running processes over HTTP, for pprof and Prometheus"

local CONNECTIONS = 2048  -- limit of HTTP connections
local WAITING = 256       -- limit of unfinished HTTP requests for profiles
local CONVERSIONS = 4     -- limit of concurrent conversions
local MOST_SECONDS = 600  -- largest value of the parameter seconds= in the URL of a request
local ANSWER_SECONDS = 1  -- seconds that a process has to answer a request of this server
local LEFT_ALONE = 10     -- seconds for which a process that did not answer is skipped
local FLUSHED = 1.5       -- seconds within which a process writes its samples to the file
local PATIENCE = 60       -- time limit of a conversion, in seconds
local LARGEST = 256 << 20 -- limit of an HTTP response, in bytes

local function address(text)
  local name, port = text:match "^%[([%x:.]+)%]:(%d+)$"
  if not name then
    name, port = text:match "^([%w.-]*):?(%d+)$"
  end
  if text:find "^%d+$" then
    name, port = "", text
  end
  if name and #port <= 5 and tonumber(port) <= 65535 then
    return {host = name ~= "" and name or "127.0.0.1", port = port}
  end
  return nil, "an address such as 127.0.0.1:6060, or a port"
end

-- Checks the value of --token: a secret of at least 16 bytes, or "@FILE" for the contents of that file.
-- Returns the secret, or nil and a text that describes valid values.
local function secret(text)
  local path = text:match "^@(.+)$"
  local f <close> = path and host.openfile(path, nil, nil, true)
  text = path and (f and f:read(4096) or "") or text
  text = text:match "^%s*([^%s%c]*)%s*$"
  if text and #text >= 16 then
    return text
  end
  return nil, "at least 16 visible characters, or @FILE for a file that contains them"
end

local function hostnames(text)
  local names = {}
  for name in text:gmatch "[^,]+" do
    if not name:find "^[%w._-]+$" and not name:find "^%[[%x:.]+%]$" then
      return nil, "names or addresses without ports, such as app.example"
    end
    names[name:lower()] = true
  end
  return next(names) and names, "names or addresses without ports, such as app.example"
end

local DESCRIPTION = {
  command = "serve", arguments = client.ARGUMENT .. "...", what = "process", most = 1000,
  about = "Serves data of processes that listen (ASAMP=listen) over HTTP. " ..
    "/metrics is for Prometheus; /debug/pprof/ is for go tool pprof and continuous profilers, " ..
    "with the paths heap, allocs and profile (with seconds=N) as in Go programs. " ..
    "If there are several processes, target=NAME selects one. Ctrl-C ends the server.",
  {"http", "ADDRESS", "address and port of the server (default 127.0.0.1:6060); " ..
    "an address that other machines can reach needs --token, too", address},
  {"host", "NAME", "names of this server, separated by commas, in addition to its address and localhost. " ..
    "Requests that use another name are refused, so that no web page can read profiles", hostnames},
  {"token", "TOKEN", "a secret that each request must contain, in the header Authorization: Bearer TOKEN, " ..
    "or as token=TOKEN in the URL. @FILE: the secret is in FILE", secret},
}

function M.usage()
  return options.usage(DESCRIPTION)
end

-- {== permissions ============================================================

local function islocal(name)
  return name == "localhost" or name == "::1" or name:find "^127%.%d+%.%d+%.%d+$" ~= nil
end

-- Checks an HTTP request r. Returns nil if it is allowed; else an HTTP status and a message. Refuses foreign
-- host names and origins: a web page could make its reader's browser send such requests (DNS rebinding).
-- 'allowed': {names (set of host names of this server), token (text; nil: none needed)}.
function M.refusal(r, allowed)
  local called = (r.host or ""):lower()
  local name = called:match "^(%[[%x:.]+%])" or called:match "^([^:]*)"
  if not allowed.names[name] or not called:find("^:?%d*$", #name + 1) then
    return 403, ("the request names the host '%s', which is not a name of this server; " ..
                 "to allow this name, start asamp serve with --host"):format(called)
  elseif r.origin and r.origin:lower() ~= "http://" .. called and r.origin:lower() ~= "https://" .. called or
         r.site and r.site ~= "same-origin" and r.site ~= "none" then
    return 403, "requests from web pages of another origin are refused; open the address directly"
  elseif allowed.token and r.query.token ~= allowed.token and
         r.authorization ~= "Bearer " .. allowed.token then
    return 401, "the request does not contain the token: " ..
      "add the header Authorization: Bearer TOKEN, or token=TOKEN to the URL"
  elseif r.method == "POST" and not r.path:find "^/debug/pprof/%l+$" then
    return 405, "this path allows no method other than GET; use GET"
  elseif r.query.record == "1" and r.method ~= "POST" and not allowed.token then
    return 405, "record=1 ends the file to which the process writes its profile: " ..
      "to permit that, send the request by POST, or start asamp serve with --token"
  end
end

-- ==}

-- {== targets ================================================================

-- Returns the first target of the list that is the same process as the target 'word' of the command line, or
-- nil if there is none.
local function same(list, word)
  local path = client.find(word)
  for _, t in ipairs(list) do
    if t.word == word or path and host.samefile(path, client.find(t.word) or "") then
      return t
    end
  end
end

local function targetsof(words, warn)
  local list, used = {}, {}
  for _, word in ipairs(words) do
    local before = same(list, word)
    if before then
      warn.failed("'%s' is the same process as '%s', and is served once", word, before.word)
    else
      local name = word:match "([^/]*)$":gsub("%.sock$", "")
      name = (name == "" or used[name]) and word or name
      used[name] = true
      list[#list + 1] = {name = name, word = word}
    end
  end
  return list
end

-- Sends a request to each target of the command line, and warns of those that do not answer. Returns false if
-- all targets are ids of processes, but no such process runs.
local function reachable(list, warn)
  local words, possible = {}, false
  for i, t in ipairs(list) do
    words[i] = t.word
  end
  for i, answer in ipairs(client.all(words, "stats", ANSWER_SECONDS)) do
    local exists = answer[1] or not select(3, client.find(words[i]))
    possible = possible or exists
    if not answer[1] then
      warn.failed("%s%s", answer[2], exists and "; the metric asamp_up is 0 until the process answers" or "")
    end
  end
  return possible
end

-- Returns the time of the monotonic clock in seconds. Unlike the clock of os.time, it is never set back.
local function clock()
  return host.clock() / 1000000
end

-- Sends a request to all targets of a list at the same time. Returns a map from target to the fields of its
-- answer. Skips a target that does not answer for LEFT_ALONE seconds; the reason is stored in target.why.
-- 'now': a result of clock().
local function put(list, request, now)
  local answers, queried, words = {}, {}, {}
  for _, t in ipairs(list) do
    if not t.silent or now >= t.silent then
      queried[#queried + 1], words[#words + 1] = t, t.word
    end
  end
  for i, answer in ipairs(client.all(words, request, ANSWER_SECONDS)) do
    local t, fields, message = queried[i], answer[1], answer[2]
    local refused = message and message:find("refuses:", 1, true)
    t.silent = not fields and not refused and clock() + LEFT_ALONE or nil
    answers[t], t.why = fields, message
  end
  return answers
end

-- ==}

local TEXT = "text/plain; charset=utf-8"
local KINDS = {
  heap = {first = "inuse_space", about = "live and allocated memory"},
  allocs = {first = "alloc_space", about = "allocated memory, and the live part of it"},
  profile = {first = "time", seconds = 30, about = "where time goes"},
}

local Server = {}
Server.__index = Server

function Server:answer(r, status, body, kind)
  self.http:answer(r.id, status, kind or TEXT, kind and body or layout.screen(body))
end

function Server:index(r)
  local lines = {"asamp serve", ""}
  for _, kind in ipairs{"allocs", "heap", "profile"} do
    lines[#lines + 1] = ("%-8s %s"):format(kind, KINDS[kind].about)
  end
  lines[#lines + 1] = "\ntargets (target=):"
  for _, t in ipairs(self.targets) do
    lines[#lines + 1] = "  " .. t.name
  end
  self:answer(r, 200, table.concat(lines, "\n") .. "\n")
end

-- Returns the target that the HTTP request r names, or the only target if it names none. If there is no such
-- target, sends an error response and returns nil.
function Server:which(r)
  local name = r.query.target
  for _, t in ipairs(self.targets) do
    if t.name == name or not name and #self.targets == 1 then
      return t
    end
  end
  self:answer(r, name and 404 or 400, (name and ("there is no target '%s'"):format(name)
              or "there are several targets: add target=NAME") .. "; /debug/pprof/ lists the names\n")
end

-- Queries the target 'wanted' (nil: all targets) for its statistics. Returns a map from target to statistics
-- (living.stats).
--
-- Also queries the targets that did not answer last time. All queries run at the same time, so the waits for
-- such targets do not add up.
function Server:stats(wanted, now)
  local queried, answers = {}, {}
  for _, t in ipairs(self.targets) do
    if not wanted or t == wanted or t.silent then
      queried[#queried + 1] = t
    end
  end
  for t, fields in pairs(put(queried, "stats", now)) do
    answers[t], t.peer = living.stats(fields), fields.peer
  end
  return answers
end

-- Creates a folder for a profile that the process of target t will write: next to its socket and accessible
-- only to its user, so that no other user can create a link in it. Returns the profile's path and the folder,
-- or nil and a message on failure.
local function fileof(t)
  local parent = client.absolute(assert(client.find(t.word))):match "^(.*)/"
  local folder, message = host.newfolder(parent, t.peer.uid)
  return folder and folder .. "/for-serve.vmprof", folder or message
end

-- Starts a job, which creates a profile for an HTTP request. Returns a table that describes the job. On
-- failure returns nil, an HTTP status and a message. Fields of a job:
--
--   - path: the profile to convert. It is the file that the process writes anyway, or a file in the folder
--     'own'
--   - since, till: range of the samples to convert, in seconds of the process's clock; 0 and 0: all
--   - due: time at which the conversion starts, in seconds of the clock
--   - peer: {pid, uid} of the process that writes the profile
--   - own: the folder created for this profile, or nil
--   - ring: id or socket of the process if it keeps its samples in memory (a flight recorder); else nil. The
--     conversion first makes this process write its samples to 'path'
function Server:start(t, kind, seconds, query, now)
  local s = self:stats(t, now)[t]
  if not s then
    return nil, 502, t.why
  end
  local standing = s.recording ~= 1 and s.file and
                   (kind == "profile" and s.time > 0 or kind ~= "profile" and s.alloc > 0)
  if standing and s.ring == 1 then
    local all = seconds == 0
    local path, own = fileof(t)
    if not path then
      return nil, 502, own
    end
    return {path = path, peer = t.peer, own = own, since = all and 0 or s.now,
            till = all and 0 or s.now + seconds, due = all and now or now + seconds + 1, ring = t.word}
  elseif standing then
    if seconds == 0 then
      return {path = s.file, peer = t.peer, since = 0, till = 0, due = now}
    end
    return {path = s.file, peer = t.peer, since = s.now, till = s.now + seconds,
            due = now + seconds + FLUSHED}
  elseif seconds == 0 then
    return nil, 409, "the process writes no profile of allocations: " ..
      "add seconds=N to the URL, or start the process with alloc= in ASAMP"
  elseif s.recording ~= 1 and s.file and query.record ~= "1" then
    return nil, 409, "the process's profile lacks samples of the requested kind: " ..
      "restart the process with alloc= and time= in ASAMP, " ..
      "or send this request by POST with record=1, which ends the profile's file and starts a recording"
  end
  local path, own = fileof(t)
  if not path then
    return nil, 502, own
  end
  local fields = put({t}, kind == "profile" and ("record %d 0 100 %s"):format(seconds, path)
                     or ("record %d 524288 0 %s"):format(seconds, path), now)[t]
  if not fields then
    host.discard(own, t.peer.uid)
    return nil, t.why:find("a recording is running", 1, true) and 503 or 502, t.why
  end
  return {path = path, peer = t.peer, own = own, since = 0, till = 0, due = now + seconds + FLUSHED}
end

function Server:profile(r, kind, now)
  local t = self:which(r)
  if not t then
    return
  end
  local seconds = r.query.seconds
  seconds = not seconds and (KINDS[kind].seconds or 0) or
            seconds:find "^%d+$" and #seconds < 9 and math.tointeger(tonumber(seconds))
  local least = kind == "profile" and 1 or 0
  if not seconds or seconds > MOST_SECONDS or seconds < least then
    return self:answer(r, 400, ("seconds= must be a whole number from %d to %d, got '%s'\n"):format(
      least, MOST_SECONDS, r.query.seconds))
  elseif #self.jobs >= WAITING then
    return self:answer(r, 503, ("%d requests are queued already; try again later\n"):format(WAITING))
  end
  local job, status, message = self:start(t, kind, seconds, r.query, now)
  if not job then
    return self:answer(r, status, message .. "\n")
  end
  job.request, job.target, job.first = r, t, KINDS[kind].first
  self.jobs[#self.jobs + 1] = job
end

-- Returns the contents of a file that the conversion wrote, or nil if it does not exist yet. Returns nil and
-- a message if the file is too large.
local function taken(path)
  local f <close> = io.open(path, "rb")
  if f and f:seek "end" > LARGEST then
    return nil, ("the profile is larger than %d MiB, the limit; give seconds=N to get a part of it")
      :format(LARGEST >> 20)
  end
  return f and f:seek "set" and f:read "a"
end

-- Starts a process that converts the job's profile to a file in a new folder that only this user can read.
-- Returns a message on failure, else nil.
function Server:convert(job, now)
  local folder, message = host.newfolder(host.temporary())
  if not folder then
    return message
  end
  job.folder, job.out, job.stop = folder, folder .. "/out", now + PATIENCE
  self.running = self.running + 1
  topprof.start(self.interpreter, job, PATIENCE)
end

local REMOVED = "the process has removed the file of the requested time, because of its options " ..
  "rotate= and keep=: give a seconds= below rotate=, or restart the process with a larger keep="

-- Returns true if the profile that the job converts is the process's own file, and the process writes to
-- another file by now.
function Server:rotated(job, now)
  local s = not job.own and self:stats(job.target, now)[job.target]
  return s and s.file ~= job.path
end

-- Ends a job: removes its files, and sends the profile ('body') or the error ('wrong') as the HTTP response.
-- Returns true.
function Server:finish(job, body, wrong, now)
  if job.folder then
    self.running = self.running - 1
    host.discard(job.folder)
  end
  if job.own then
    host.discard(job.own, job.peer.uid)
  end
  if body then
    self:answer(job.request, 200, body, "application/octet-stream")
  elseif wrong == topprof.UNOPENED and self:rotated(job, now) then
    self:answer(job.request, 409, REMOVED .. "\n")
  else
    self:answer(job.request, 500, wrong .. "\n")
  end
  return true
end

-- Performs the next step of a job, unless it is due later (job.due). Returns true when the job is done.
-- 'now': a result of clock().
function Server:step(job, now)
  if now < job.due then
    return false
  elseif not job.folder then
    local wrong = self.running < CONVERSIONS and self:convert(job, now)
    return wrong and self:finish(job, nil, wrong, now)
  end
  local body, wrong = taken(job.out)
  wrong = wrong or not body and taken(job.out .. ".error")
  if not body and not wrong and now < job.stop then
    return false
  end
  wrong = wrong or ("the conversion took more than %d s, the limit; " ..
    "give seconds=N to get a part of the profile"):format(PATIENCE)
  return self:finish(job, body, wrong, now)
end

function Server:steps(now)
  local left = {}
  for _, job in ipairs(self.jobs) do
    if not self:step(job, now) then
      left[#left + 1] = job
    end
  end
  self.jobs = left
end

function Server:metrics(list, now)
  local rows, answering = {}, {}
  local answers = self:stats(nil, now)
  for _, t in ipairs(self.targets) do
    answering[#answering + 1] = answers[t] and t
  end
  local names = put(answering, "names", now)  -- Processes with an older profiler refuse this request.
  local labels = put(answering, "labels", now)  -- Processes with an older profiler refuse this request.
  for i, t in ipairs(self.targets) do
    rows[i] = {name = t.name, stats = answers[t], names = names[t] and living.names(names[t].rows),
               labels = labels[t] and living.labels(labels[t])}
  end
  local text = metrics.text(rows)
  for _, r in ipairs(list) do
    self:answer(r, 200, text, metrics.TYPE)
  end
end

-- Runs one turn of the loop: responds to the requests that have arrived, and advances the jobs, which create
-- profiles. All requests for metrics in one turn receive the same response.
function Server:turn()
  local queried, now = {}, clock()
  for _, r in ipairs(self.http:wait(#self.jobs > 0 and 50 or 1000)) do
    local kind = r.path:match "^/debug/pprof/(%l+)$"
    local status, message = M.refusal(r, self.allowed)
    if status then
      self:answer(r, status, message .. "\n")
    elseif r.path == "/metrics" then
      queried[#queried + 1] = r
    elseif KINDS[kind] then
      self:profile(r, kind, now)
    elseif r.path == "/" or r.path == "/debug/pprof" or r.path == "/debug/pprof/" then
      self:index(r)
    else
      self:answer(r, 404, "no such path: there are /metrics and /debug/pprof/\n")
    end
  end
  if #queried > 0 then
    self:metrics(queried, now)
  end
  self:steps(clock())
end

M.run = options.command(DESCRIPTION, function(o, world, warn)
  local found, http = pcall(require, "asamp.http")
  if not found then
    return warn.failed("this installation lacks the HTTP server, or cannot load it: " ..
      "install libmicrohttpd-dev (Debian), and build Asamp from source")
  end
  local at = o.http or {host = "127.0.0.1", port = "6060"}
  if not islocal(at.host) and not o.token then
    return warn.wrong("other machines can reach '%s' and could read profiles: " ..
      "give --token TOKEN, or --http 127.0.0.1:%s for this machine alone", at.host, at.port)
  end
  local names = {localhost = true, ["127.0.0.1"] = true, ["[::1]"] = true}
  names[(at.host:find ":" and "[" .. at.host .. "]" or at.host):lower()] = true
  for name in pairs(o.host or {}) do
    names[name] = true
  end
  local server, message = http.open(at.host, at.port, CONNECTIONS)
  if not server then
    return warn.failed("cannot serve at %s:%s: %s", at.host, at.port, message)
  end
  local targets = targetsof(o.files, warn)
  if not reachable(targets, warn) then
    return 1
  end
  local s = setmetatable({http = server, targets = targets, jobs = {},
                          running = 0, interpreter = world.interpreter,
                          allowed = {names = names, token = o.token}}, Server)
  world.out(("http://%s:%d/debug/pprof/\n"):format(at.host:find ":" and "[" .. at.host .. "]" or at.host,
                                                   server:port()))
  io.stdout:flush()
  while true do
    s:turn()
  end
end)

return M
