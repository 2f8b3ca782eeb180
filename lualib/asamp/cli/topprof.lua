-- SPDX-License-Identifier: MIT
-- What `asamp serve` has a process of its own do: a profile as pprof, so that a large one
-- keeps nobody waiting, and a damaged one harms nobody. It leaves the file OUT, or OUT.error
-- with the reason why there is none. What a flight recorder keeps it has written before.

local answers = require "asamp.cli.answers"
local ask = require "asamp.cli.ask"
local convert = require "profiler.convert"

local M = {NAME = "asamp.cli.topprof"}

local PATIENCE = 50  -- seconds for a flight recorder to be written: fewer than the server has

local UNOPENED = "the profile that the process names cannot be opened; asamp stats shows its path"

-- 'since' and 'till' are times of the monotonic clock, and so is the start that a profile tells.
-- Of a profile that began after 'since' all samples before 'till' are taken, but for what stands at
-- the begin of a flight recorder's: that is from before.
local function part(path, out, since, till, first, isring)
  local _, _, _, clock = convert.version(path)
  local least = isring and since ~= "0" and 1 or 0
  local function at(time)
    return math.max(least, math.tointeger(time) - (clock or 0))
  end
  return convert.pprof(path, out, {packing = "small", first = first, together = "state",
                                   since = at(since), till = till ~= "0" and at(till) or nil})
end

--- arg: this module, path, out, since and till (us of the monotonic clock; 0 and 0: all), the type
-- that comes first, the numbers of the process that writes the path and of its user, and the process
-- whose flight recorder is to be written there, if it is.
function M.main(args)
  local path, out, since, till, first, pid, uid, ring = table.unpack(args, 2, 9)
  local function all()
    if ring then
      local fields, message = ask.ask(ring, "dump " .. path, PATIENCE)
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
    -- The reason would show the sender of the request which files there are.
    return result, opened and message or UNOPENED
  end
  local ok, result, message = pcall(all)
  if not ok or not result then
    convert.write(out .. ".error", tostring(ok and message or result))
    return 1
  end
  return 0
end

--- Starts it; 'interpreter' is a path; 'job': {path, out, since, till (seconds), first, peer, ring};
-- it is killed after 'seconds'.
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
