-- SPDX-License-Identifier: MIT
-- The command `asamp record`: records a profile of a running process.

local client = require "asamp.cli.client"
local complaints = require "asamp.cli.complaints"
local host = require "asamp.host"
local keys = require "profiler.options"
local options = require "asamp.cli.options"

local M = {}

M.summary = "takes a profile of a running process"

local RATE = 1000  -- limit of allocation samples per second if --alloc is not given
local DUMP = 60  -- seconds that the process has to answer the request "dump": it may write a large file

local DESCRIPTION = {
  command = "record", arguments = client.ARGUMENT, what = "process",
  about = "Makes a process that listens (ASAMP=listen) write a separate profile for a limited time. " ..
    "Waits until the recording is complete. " ..
    "If the process already writes a profile, that file ends, and a new file continues it afterwards. " ..
    "Ctrl-C ends the recording early.",
  {"for", "TIME", "length of the recording (default 10s)", options.duration},
  {"out", "OUT", "path of the profile (default PID.vmprof in the current folder). " ..
    "The process writes the file, with the rights of its user", short = "o"},
  {"alloc", "BYTES", "takes a sample every BYTES allocated, on average; 0: none. " ..
    "The default is 32K, which is doubled while there are over 1000 samples a second"},
  {"time", "RATE", "takes RATE time samples per second; 0: none (default 100)"},
  {"ring", nil, "makes no recording, but makes the process write the present contents " ..
    "of its flight recorder to a file"},
  {"stop", nil, "stops the current recording, even if another client started it"},
}

function M.usage()
  return options.usage(DESCRIPTION)
end

-- Checks --alloc and --time. Returns {alloc (bytes between samples), time (samples per second)}, or nil and a
-- message if a value is wrong or both are 0.
local function rates(o)
  local t, wrong = keys.check{alloc = o.alloc or "32K", time = o.time or "100"}
  if not t then
    return nil, wrong
  elseif t.alloc == 0 and t.time == 0 then
    return nil, "nothing to sample: --alloc and --time are 0; set one of them"
  end
  return t
end

-- Makes the process 'target' write its flight recorder to the file 'out' (nil: a path that the process
-- chooses), and prints the path. Returns the exit code.
local function dump(target, out, warn, world)
  local fields, message
  if out then
    out, message = client.absolute(out)
  end
  if not message then
    fields, message = client.send(target, out and "dump " .. out or "dump", DUMP)
  end
  if not fields then
    return warn.failed("%s", message)
  end
  world.out(complaints.line(fields.file) .. "\n")
  return 0
end

-- Waits until a recording of 'seconds' has ended. On a signal, makes the process stop the recording, and then
-- ends this process by the same signal. Returns true if the profile 'path' is complete, else a false value
-- and a message.
local function await(target, seconds, path)
  local left = seconds
  while true do
    local signal = host.pause(math.min(left, 1) * 1000 + 100)
    if signal then
      client.send(target, "stop")
      host.raise(signal)
    end
    left = math.max(left - 1, 0)
    local fields, message = client.send(target, "stats")
    if not fields then
      return nil, (message:gsub("has ended; start it again$", function()
        return ("has ended during the recording; run asamp repair --in-place '%s', which completes the " ..
                "file if it is cut"):format(path)
      end))
    elseif fields.recording ~= 1 then
      return not fields.cut, ("'%s' is incomplete: %s; remove the cause, and record again, or run " ..
                              "asamp repair --in-place '%s'"):format(path, fields.cut, path)
    end
  end
end

M.run = options.command(DESCRIPTION, function(o, world, warn)
  local target, seconds = o.files[1], o["for"] or 10
  if o.ring then
    if o["for"] or o.alloc or o.time then
      return warn.wrong("--ring writes samples that were taken already: leave --for, --alloc and --time out")
    end
    return dump(target, o.out, warn, world)
  elseif o.stop then
    if o["for"] or o.alloc or o.time or o.out then
      return warn.wrong("--stop stops a recording: leave --for, --alloc, --time and --out out")
    end
    local fields, message = client.send(target, "stop")
    return fields and 0 or warn.failed("%s", message)
  end
  local t, wrong = rates(o)
  if not t then
    return warn.wrong("%s", wrong)
  end
  local before, message = client.send(target, "stats")
  if not before then
    return warn.failed("%s", message)
  end
  local out, fields
  out, message = client.absolute(o.out or before.pid .. ".vmprof")
  if not out then
    return warn.failed("%s", message)
  end
  host.catch()
  local period = o.alloc and ("%d"):format(t.alloc) or ("%d/%d"):format(t.alloc, RATE)
  fields, message = client.send(target, ("record %d %s %d %s"):format(seconds, period, t.time, out))
  if not fields then
    return warn.failed("%s", message)
  end
  world.out(complaints.line(fields.file) .. "\n")
  io.stdout:flush()
  local ok
  ok, message = await(target, seconds, fields.file)
  if not ok then
    return warn.failed("%s", message)
  end
  return 0
end)

return M
