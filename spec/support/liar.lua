-- SPDX-License-Identifier: MIT
-- A process that listens at a socket, as a process does with ASAMP=listen, but sends answers that a spec
-- chooses. For specs of how commands check answers. If the specs run as root, the process runs as another
-- user.

local host = require "asamp.host"
local process = require "spec.support.process"
local shell = require "spec.support.shell"

local M = {}

M.USER = 65534  -- nobody

-- The script of the process. Its answer to the request NAME is the contents of the file NAME.reply in its
-- folder.
local CODE = [[
  local unix = require "socket.unix"
  local s = unix()
  assert(s:bind "liar.sock")
  assert(s:listen(32))
  while true do
    local c = s:accept()
    c:settimeout(2)
    local line = c:receive() or ""
    local log <close> = io.open("requests", "a")
    log:write(line, "\n")
    local f <close> = io.open((line:match "^%w*") .. ".reply", "rb")
    c:send(f and f:read "a" or "error no such request\n")
    c:close()
  end]]

-- Returns true if the specs run as root, so that the process runs as another user.
function M.isother()
  return host.uid() == 0
end

-- Returns a correct answer to the request "stats". 'lines' maps keys to values; it replaces lines of the
-- answer or adds new ones. The value "" removes a line.
function M.stats(lines)
  local own = {version = 1, pid = 1, now = 5, filebytes = 1000, alloc = 524288, time = 100, recording = 0,
               states = 1, made = 1, samples = 5, timesamples = 5, allocated = 500, lost = 0, inuse = 500,
               held = 500, rss = 5000, minors = 1, majors = 1, pauses = 100, longest = 10, tenured = 5,
               pausebins = "0" .. (" 0"):rep(17)}
  local list = {}
  for key, value in pairs(lines or {}) do own[key] = value end
  for key, value in pairs(own) do
    list[#list + 1] = value ~= "" and key .. " " .. value .. "\n" or nil
  end
  return table.concat(list) .. "ok\n"
end

-- Starts the process. Returns {folder, socket, pid} with two functions: reply(name, text) sets an answer,
-- and stop() ends the process.
function M.start()
  local o = {folder = shell.folder()}
  o.socket = o.folder .. "/liar.sock"
  shell.write(o.folder .. "/liar.lua", CODE)
  local t = {directory = o.folder, "liar.lua"}
  if M.isother() then
    shell.output("chown -R %d '%s'", M.USER, o.folder)
    t = {directory = o.folder, program = "setpriv", "--reuid=" .. M.USER, "--regid=" .. M.USER,
         "--clear-groups", process.interpreter(), "liar.lua"}
  end
  function o.reply(name, text)
    shell.write(o.folder .. "/" .. name .. ".reply", text)
    shell.output("chmod 644 '%s/%s.reply'", o.folder, name)
  end
  function o.stop()
    os.execute(("kill -9 %d 2>/dev/null"):format(o.pid))
    shell.remove(o.folder)
  end
  o.reply("stats", M.stats())
  o.pid = process.start(t)
  for _ = 1, 12000 do
    if host.samefile(o.socket, o.socket) and host.query(o.socket, "stats\n") then return o end
    host.pause(10)
  end
  o.stop()
  error "the liar does not listen"
end

return M
