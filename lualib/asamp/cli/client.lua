-- SPDX-License-Identifier: MIT
-- Sends requests to running processes through their sockets (asamp/control/control.h): finds the
-- socket, sends a line and parses the answer.

local answers = require "asamp.cli.answers"
local host = require "asamp.host"

local M = {}

--- The argument that names a process, in the usage of commands.
M.ARGUMENT = "PID|SOCKET"

local PATIENCE = 15  -- default time limit of an answer, in seconds
-- A process that has closed its socket may still be about to exit. A request waits for such exits in steps of
-- 10 ms. This is the largest number of steps of one request, for all processes together.
local ENDING = 100

-- Returns the text of /proc/PID/NAME, or nil if it cannot be read.
local function said(pid, name)
  local file = io.open("/proc/" .. pid .. "/" .. name)
  local text = file and file:read "a"
  if file then
    file:close()
  end
  return text
end

-- Returns true if the process 'pid' exists and is not a zombie, or if there is no /proc.
local function isthere(pid)
  local text = said(pid, "stat")
  return text and not text:find "%) [ZX]" or not host.samefile("/proc/self/stat", "/proc/self/stat")
end

-- Returns the user id of the process 'pid', or nil if it is unknown.
local function userof(pid)
  local text = said(pid, "status")
  return text and math.tointeger(tonumber(text:match "\nUid:\t%d+\t(%d+)"))
end

-- Returns the id that the process 'pid' has inside its container, or nil if it runs in none.
local function idincontainer(pid)
  local text = said(pid, "status")
  return text and text:match "\nNSpid:\t%d+[%d\t]*\t(%d+)\n"
end

-- Returns two lists: the paths at which process 'pid' can have its socket; and for each path, the id of the
-- user who must own the socket. The second list is needed because anybody can create a socket in a public
-- folder such as /tmp. If root runs this command, the paths include that of the process's user.
local function places(pid)
  local list, owners, run, uid = {}, {}, os.getenv "XDG_RUNTIME_DIR", host.uid()
  local function add(owner, path, ...)
    list[#list + 1], owners[#list + 1] = path:format(...), owner
  end
  if run and run ~= "" then
    add(uid, "%s/asamp/%s.sock", run, pid)
  end
  add(uid, "/tmp/asamp-%d/%s.sock", uid, pid)
  local user = uid == 0 and userof(pid) or uid
  if user ~= uid then
    add(user, "/tmp/asamp-%d/%s.sock", user, pid)
  end
  return list, owners
end

local function find(target)
  if not target:find "^%d+$" then
    return target
  end
  local list, owners = places(target)
  for i, path in ipairs(list) do
    if host.owner(path) == owners[i] then
      return path
    end
  end
  local user, uid = userof(target), host.uid()
  if not isthere(target) then
    return nil, ("no process %s is running; give the id of a running one"):format(target), true
  elseif user and user ~= uid and uid ~= 0 then
    return nil, ("process %s belongs to another user; run asamp as that user or as root"):format(target)
  end
  local id = idincontainer(target)
  if id then
    return nil, ("process %s runs in a container, as process %s; " ..
                 "run asamp there, for example: docker exec CONTAINER asamp stats %s"):format(target, id, id)
  end
  return nil, ("process %s has no socket '%s'; start the process with ASAMP=listen, " ..
               "or give the path of its socket"):format(target, table.concat(list, "' or '"))
end

--- Returns true if the argument 'word' of a command names a process, by its id or its socket, and not a file.
function M.isprocess(word)
  if host.samefile(word, word) then
    return word:find "%.sock$" ~= nil and not host.isfile(word)
  end
  return word:find "^%d+$" ~= nil
end

--- Returns the path of the socket of 'target', a process id. If 'target' is the path of a socket, returns
-- 'target'. On failure returns nil, a message, and true if no process with this id runs.
M.find = find

-- Maps a target (id or socket, as the user has given it) to the process id in the target's last answer.
local known = {}

-- Returns true if process 'pid' has ended. A process may close its socket shortly before it exits. So if
-- 'answered' is true (the process has answered an earlier request), waits for the exit.
--
-- waits: {left}: number of waits of 10 ms that remain. All targets of one call of M.all share this counter
local function hasended(pid, answered, waits)
  while answered and waits.left > 0 and isthere(pid) do
    waits.left = waits.left - 1
    host.pause(10)
  end
  return not isthere(pid)
end

-- Returns the reason why a target does not answer: its process has ended, or it is no socket. Returns nil if
-- the reason is unknown. Removes the socket of a killed process.
--
--   - target: process id or path of a socket, as the user has given it
--   - path: the target's socket if no process listens there; else nil
--   - waits: {left}: number of waits of 10 ms that remain for all targets (hasended)
local function gone(target, path, waits)
  local pid = target:match "^%d+$" or known[target]
  if pid and hasended(pid, known[target], waits) then
    local owner = path and target == pid and host.owner(path)
    if owner then
      host.unlinksocket(path, owner)
    end
    return ("process %s has ended; start it again"):format(pid)
  elseif path and host.isfile(path) then
    return ("'%s' is a file; give the id of a process, or the path of its socket"):format(path)
  elseif path and host.realpath(path) and not host.issocket(path) then
    return ("'%s' is not a socket; give the id of a process, or the path of its socket"):format(path)
  elseif path and path ~= "" and not pid then
    return ("the process that listened at '%s' has ended; start it again"):format(path)
  end
end

-- Parses the text of an answer. Returns its fields as a map from name to text; the field 'rows' is a list of
-- texts. Returns nil and a message if the process refuses the request. 'path': the socket, for the message.
local function parse(path, text)
  local fields, rows = {}, {}
  for line in text:gmatch "[^\n]+" do
    local word, rest = line:match "^(%S+) ?(.*)$"
    if word == "error" then
      return nil, ("'%s' refuses: %s"):format(path, rest)
    elseif word == "row" then
      rows[#rows + 1] = rest
    elseif word then
      fields[word] = rest
    end
  end
  fields.rows = rows
  return fields
end

-- Converts a result of host.queryall to the results of M.send.
--
--   - waits: {left}: number of waits of 10 ms that remain for all targets (hasended)
--   - request, target, seconds: the parameters of M.send
--   - path: the target's socket
--   - answer: the result of host.queryall for this target
local function result(waits, request, target, path, seconds, answer)
  local text, message, late, nobody, closed = table.unpack(answer, 1, 5)
  local over = not text and not late and (nobody or known[target]) and
    gone(target, nobody and path, waits)
  if over then
    return nil, over
  elseif not text and closed then  -- 'closed': id of the process that closed the connection
    if hasended(closed, true, waits) then
      return nil, gone(target, target == ("%d"):format(closed) and path or nil, waits) or
                  ("process %d has ended; start it again"):format(closed)
    end
    message = "the process closed the connection without an answer; try again"
  elseif late then
    message = ("the process has not answered for %d s: it may be stopped or busy; try again"):format(seconds)
  elseif not text and not host.realpath(path) then
    message = message .. "; give the id of a process, or the path of its socket"
  end
  if not text then
    return nil, ("cannot query '%s': %s"):format(path, message), late
  end
  local fields, wrong = parse(path, text)
  if not fields then
    return nil, wrong
  end
  fields, wrong = answers.check(request, fields)
  if not fields then
    return nil, ("the answer of '%s' to '%s' is malformed: %s; " ..
                 "use the asamp installed with the process's Lua"):format(path, request:match "^%S*", wrong)
  end
  known[target] = fields.pid or known[target]
  fields.peer = {pid = answer[5], uid = answer[6]}
  return fields
end

--- Sends a request to all targets (process ids or paths of sockets) at the same time, and waits up to
-- 'seconds' (default PATIENCE). Returns a list with a table of the results of M.send for each target.
function M.all(targets, request, seconds)
  local found, sent, paths, waits = {}, {}, {}, {left = ENDING}
  seconds = seconds or PATIENCE
  for i, target in ipairs(targets) do
    local path, message = find(target)
    if request:find "[\n%z]" then
      found[i] = {nil, ("the request '%s' has a line break or a zero byte: " ..
                        "give a path or name without these"):format(request)}
    elseif path then
      sent[#sent + 1], paths[#paths + 1] = i, path
    else
      found[i] = {nil, known[target] and gone(target, nil, waits) or message}
    end
  end
  for k, a in ipairs(host.queryall(paths, request .. "\n", seconds)) do
    local i = sent[k]
    found[i] = {result(waits, request, targets[i], paths[k], seconds, a)}
  end
  return found
end

--- Sends a request to 'target', a process id or the path of a socket. Returns the fields of the answer, which
-- answers.check has checked. In addition, the field 'rows' is a list of texts, and the field 'peer' is the
-- {pid, uid} of the process. On failure returns nil, the reason, and true if no answer came within 'seconds'
-- (default PATIENCE).
function M.send(target, request, seconds)
  return table.unpack(M.all({target}, request, seconds)[1], 1, 3)
end

--- Returns an absolute path: the process that receives it may have another current folder. Returns nil and a
-- message if the path is relative, and the current folder cannot be found.
function M.absolute(path)
  local folder = path:find "^/" and "" or host.realpath "."
  if not folder then
    return nil, "cannot find the current folder, which may have been removed; " ..
                "give --out a path that starts with /"
  end
  return folder == "" and path or folder .. "/" .. path
end

return M
