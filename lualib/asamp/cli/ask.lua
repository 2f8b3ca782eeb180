-- SPDX-License-Identifier: MIT
-- Asks a running process, by its socket (asamp/control/control.h): finds the socket, sends
-- a line, takes the answer apart.

local answers = require "asamp.cli.answers"
local host = require "asamp.host"

local M = {}

--- What the usage of commands calls a process.
M.ARGUMENT = "PID|SOCKET"

local PATIENCE = 15  -- seconds for an answer
local ENDING = 100   -- looks, 10 ms apart, for a process to end whose socket is gone

-- What the system says of a process in a file of that name; nil: nothing.
local function said(pid, name)
  local file = io.open("/proc/" .. pid .. "/" .. name)
  local text = file and file:read "a"
  if file then
    file:close()
  end
  return text
end

-- The number of the user that a process is; nil: nobody knows.
local function userof(pid)
  local text = said(pid, "status")
  return text and math.tointeger(tonumber(text:match "\nUid:\t%d+\t(%d+)"))
end

-- The paths at which a process may listen that was given none, and whose each of them is then:
-- others may have made it, and answer what they like. Root finds that of the process's user, too.
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
  return nil, ("process %s has no socket '%s'; it listens with ASAMP=listen, or give the " ..
               "socket's path"):format(target, table.concat(list, "' or '"))
end

--- Does the argument name a process, by its number or by its socket, rather than a file?
function M.isprocess(word)
  if host.samefile(word, word) then
    return word:find "%.sock$" ~= nil and not host.isfile(word)
  end
  return word:find "^%d+$" ~= nil
end

--- The path of the process's socket; nil and what is wrong.
M.find = find

-- The process behind each target that has answered, by its number.
local known = {}

-- Is that process there, and no zombie? True where nothing tells.
local function isthere(pid)
  local text = said(pid, "stat")
  return text and not text:find "%) [ZX]" or not host.samefile("/proc/self/stat", "/proc/self/stat")
end

-- Has that process ended? One that had answered may be about to. 'looks.left': so many times it
-- is waited for, all together that are asked at a time.
local function hasended(pid, answered, looks)
  while answered and looks.left > 0 and isthere(pid) do
    looks.left = looks.left - 1
    host.pause(10)
  end
  return not isthere(pid)
end

-- What became of a process that had a socket and does not answer; nil: it is there. 'path':
-- the socket at which nobody listens any more, if there is one: a killed process leaves it.
local function gone(target, path, looks)
  local pid = target:match "^%d+$" or known[target]
  if pid and hasended(pid, known[target], looks) then
    local owner = path and target == pid and host.owner(path)
    if owner then
      host.unlinksocket(path, owner)
    end
    return ("process %s has ended"):format(pid)
  elseif path and not pid then
    return ("who listened at '%s' has ended"):format(path)
  end
end

-- The fields of an answer as they came, all text; nil and a refusal.
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

-- What host.ask has returned, as M.ask returns it.
local function result(looks, request, target, path, seconds, answer)
  local text, message, late, nobody = table.unpack(answer, 1, 4)
  local over = not text and not late and (nobody or known[target]) and
    gone(target, nobody and path, looks)
  if over then
    return nil, over
  elseif late then
    message = ("it has not answered for %d s; is the process stopped?"):format(seconds)
  end
  if not text then
    return nil, ("cannot ask '%s': %s"):format(path, message), late
  end
  local fields, wrong = parse(path, text)
  if not fields then
    return nil, wrong
  end
  fields, wrong = answers.check(request, fields)
  if not fields then
    return nil, ("'%s' answers %s with %s; is it a process with the same asamp?"):format(
      path, request:match "^%S*", wrong)
  end
  known[target] = fields.pid or known[target]
  fields.peer = {pid = answer[5], uid = answer[6]}
  return fields
end

--- Sends a request to all targets at the same time. Returns for each of them what M.ask does, in
-- a table.
function M.all(targets, request, seconds)
  local found, asked, paths, looks = {}, {}, {}, {left = ENDING}
  seconds = seconds or PATIENCE
  for i, target in ipairs(targets) do
    local path, message = find(target)
    if request:find "[\n%z]" then
      found[i] = {nil, "what is sent to a process must be one line"}
    elseif path then
      asked[#asked + 1], paths[#paths + 1] = i, path
    else
      found[i] = {nil, known[target] and gone(target, nil, looks) or message}
    end
  end
  for k, a in ipairs(host.askall(paths, request .. "\n", seconds)) do
    local i = asked[k]
    found[i] = {result(looks, request, targets[i], paths[k], seconds, a)}
  end
  return found
end

--- Sends a request. Returns the fields of the answer, {key = value} (as answers.check returns them;
-- 'rows': the list of those called row; 'peer': {pid, uid} of the process that answered), or nil,
-- why there is none, and whether 'seconds' (PATIENCE) have passed.
function M.ask(target, request, seconds)
  return table.unpack(M.all({target}, request, seconds)[1], 1, 3)
end

--- The path as an absolute one: a process that is asked may be in another folder.
function M.absolute(path)
  return path:find "^/" and path or host.realpath "." .. "/" .. path
end

return M
