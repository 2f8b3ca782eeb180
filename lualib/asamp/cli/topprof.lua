-- SPDX-License-Identifier: MIT
-- Converts a profile to pprof for `asamp serve`, in a separate process: a large profile does not block the
-- server, and a damaged one cannot crash it. The result is the file OUT, or OUT.error with the reason of a
-- failure. If the profiled process keeps its samples in a flight recorder (in memory), makes it write these
-- to a file first.

local answers = require "asamp.cli.answers"
local client = require "asamp.cli.client"
local convert = require "profiler.convert"

local M = {NAME = "asamp.cli.topprof"}

-- Time limit for writing a flight recorder, in seconds; less than that of a conversion (serve.lua).
local PATIENCE = 50

--- The error message if the file of the process's profile cannot be opened.
M.UNOPENED = "the process's profile cannot be opened; asamp stats shows the path"

-- Converts the samples of a range of time to the pprof format.
--
--   - path, out: paths of the profile and of the result
--   - since, till: times of the monotonic clock in us, as text; "0": no limit
--   - first: default sample type
--   - isring: true for the file of a flight recorder. Some of its data are older than its first sample and
--     have time 0. They are left out if 'since' is not "0"
local function part(path, out, since, till, first, isring)
  local _, _, _, clock = convert.version(path)
  local least = isring and since ~= "0" and 1 or 0
  local function at(time)
    return math.max(least, math.tointeger(time) - (clock or 0))
  end
  return convert.pprof(path, out, {packing = "small", first = first, together = "state",
                                   since = at(since), till = till ~= "0" and at(till) or nil})
end

--- Runs the conversion. Returns the exit code. The list 'args' has the name of this module, then:
--
--   - path, out: paths of the profile and of the result
--   - since, till: us of the monotonic clock; 0 and 0: all
--   - first: the default sample type, such as "inuse_space"
--   - pid, uid: process id and user id of the profile's writer
--   - ring: id or socket of the process whose flight recorder must be written to 'path' first; optional
function M.main(args)
  local path, out, since, till, first, pid, uid, ring = table.unpack(args, 2, 9)
  local function all()
    if ring then
      local fields, message = client.send(ring, "dump " .. path, PATIENCE)
      if not fields then
        return nil, message
      end
    end
    local opened
    local result, message = answers.reading(path, {pid = math.tointeger(pid), uid = math.tointeger(uid)},
      function(name)
        opened = true
        return part(name, out, since, till, first, ring)
      end)
    -- If the file cannot be opened, the error (UNOPENED) has no reason: the sender of the request could find
    -- out which files exist.
    return result, opened and message or M.UNOPENED
  end
  local ok, result, message = pcall(all)
  if not ok or not result then
    convert.write(out .. ".error", tostring(ok and message or result))
    return 1
  end
  return 0
end

--- Starts a process that runs a conversion (M.main). The process is killed after 'seconds' seconds.
--
--   - interpreter: path of the Lua interpreter
--   - job: the conversion, a table of asamp.commands.serve. Its fields 'path', 'out', 'since', 'till'
--     (seconds), 'first' and 'ring' have the meaning of the arguments of M.main; 'peer' is {pid, uid}
function M.start(interpreter, job, seconds)
  local words = {"timeout", "-s", "KILL", ("%d"):format(seconds), "env", "-u", "ASAMP", interpreter,
                 "-E", "-e",
                 "os.exit(require(arg[1]).main(arg), true)", "/dev/null", M.NAME, job.path, job.out,
                 ("%d"):format(math.floor(job.since * 1e6)), ("%d"):format(math.floor(job.till * 1e6)),
                 job.first, ("%d"):format(job.peer.pid), ("%d"):format(job.peer.uid), job.ring}
  for i, word in ipairs(words) do
    words[i] = "'" .. word:gsub("'", "'\\''") .. "'"
  end
  os.execute(table.concat(words, " ") .. " </dev/null >/dev/null 2>&1 &")
end

return M
