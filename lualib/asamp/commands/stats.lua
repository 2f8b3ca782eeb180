-- SPDX-License-Identifier: MIT
-- The command `asamp stats`: prints statistics of a running process.

local client = require "asamp.cli.client"
local json = require "asamp.show.json"
local living = require "asamp.sums.living"
local layout = require "asamp.show.layout"
local options = require "asamp.cli.options"
local show = require "asamp.show.living"

local M = {}

M.summary = "prints statistics of a running process"

local DESCRIPTION = {
  command = "stats", arguments = client.ARGUMENT, what = "process",
  about = "Shows statistics of a process that listens (ASAMP=listen): " ..
    "bytes allocated and in use by its Lua states, their collections, and the samples.",
  {"json", nil, "prints the output as JSON, with sizes in bytes and pauses in nanoseconds"},
}

function M.usage()
  return options.usage(DESCRIPTION)
end

M.run = options.command(DESCRIPTION, function(o, world, warn)
  local fields, message = client.send(o.files[1], "stats")
  if not fields then
    return warn.failed("%s", message)
  end
  local stats = living.stats(fields)
  if o.json then
    json.write(stats, world.out)
  else
    world.out(layout.screen(table.concat(show.stats(stats), "\n") .. "\n"))
  end
  return 0
end)

return M
