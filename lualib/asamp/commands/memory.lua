-- SPDX-License-Identifier: MIT
-- The command `asamp memory`: breaks down the resident memory of a process, from a profile or
-- from the process itself.

local client = require "asamp.cli.client"
local options = require "asamp.cli.options"
local resident = require "asamp.sums.resident"
local show = require "asamp.show.resident"

local M = {}

M.summary = "shows the parts of resident memory: Lua, native, by line"

local DESCRIPTION = {
  command = "memory", arguments = "FILE|" .. client.ARGUMENT,
  about = "Shows the parts of the resident memory of a process: " ..
    "Lua objects, free memory of the Lua heap, native memory, code and stacks. " ..
    "Free memory between Lua objects is listed by the source lines of these objects. " ..
    "For a profile, shows the memory at the end of the run and over time. " ..
    "For a process that listens (ASAMP=listen), shows the present memory.",
  {"peak", nil, "for a profile, shows the memory when most was resident, instead of at the end of the run"},
  {"top", "N", "shows at most N source lines or files for each use of memory, " ..
    "and at most N rows of the table over time (default 8)",
    options.whole(1)},
  options.WIDTH,
  options.COLOR,
  {"json", nil, "prints the output as JSON, with sizes in bytes and times in seconds"},
}

function M.usage()
  return options.usage(DESCRIPTION)
end

local function ofprocess(target, warn)
  local fields, message = client.send(target, "memory")
  if not fields then
    warn.failed("%s", message)
    return nil
  end
  return {pid = fields.pid, last = resident.of(resident.parse(fields.rows))}
end

local function ofprofile(path, world, warn)
  local profile, message = world.read(path)
  if not profile then
    warn.failed("%s", message)
    return nil
  end
  local found, n = resident.ofprofile(profile), profile.samples + profile.timesamples
  warn.partial(path, profile.message, found and 1 or n, "snapshots of memory after that byte are missing")
  if not found and (n > 0 or not profile.message) then
    warn.failed("'%s' has no data about resident memory, because an older asamp or another profiler " ..
      "wrote the file, or the program had no collection; " ..
      "profile a longer run with this version of asamp", path)
  end
  return found
end

M.run = options.command(DESCRIPTION, function(o, world, warn)
  local target = o.files[1]
  local found
  if client.isprocess(target) then
    if o.peak then
      return warn.wrong("--peak needs a profile: a process reports its present memory only")
    end
    found = ofprocess(target, warn)
  else
    found = ofprofile(target, world, warn)
  end
  if not found then
    return 1
  end
  if o.peak then
    found.last, found.peak = found.peak, nil
  end
  options.print(found, o, world, 8, show.render)
  return 0
end)

return M
