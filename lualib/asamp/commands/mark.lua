-- SPDX-License-Identifier: MIT
-- The command `asamp mark`: writes a marker into the profile of a running process.

local client = require "asamp.cli.client"
local options = require "asamp.cli.options"

local M = {}

M.summary = "puts a marker into the profile of a running process"

local DESCRIPTION = {
  command = "mark", arguments = client.ARGUMENT .. " NAME [VALUE]", what = "argument",
  wants = "a process and a name", least = 2, most = 3,
  about = "Puts a marker into the profile of a process that listens (ASAMP=listen). " ..
    "profiler.mark does the same in a program. NAME is one word, such as deployed.",
  exits = "Exit codes: 0 done, 1 the given process does not answer or writes no profile, 2 wrong arguments.",
}

function M.usage()
  return options.usage(DESCRIPTION)
end

M.run = options.command(DESCRIPTION, function(o, _, warn)
  if o.files[2]:find "%s" or o.files[2] == "" then
    return warn.wrong("NAME must be one word, got '%s'", o.files[2])
  end
  local fields, message = client.send(o.files[1], ("mark %s %s"):format(o.files[2], o.files[3] or ""))
  if not fields then
    return warn.failed("%s", message)
  end
  return 0
end)

return M
