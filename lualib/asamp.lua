-- SPDX-License-Identifier: MIT
-- The command `asamp`: finds the subcommand and runs it. Each subcommand is
-- a module asamp.NAME with summary, usage and run(args, world). Whoever
-- starts it calls main and exits with its result.

local M = {}

local COMMANDS = {"report", "view"}

local function usage()
  local lines = {
    "usage: asamp COMMAND [arguments]",
    "",
    "Looks at profiles that `lua -l profiler` and other VMProf writers leave.",
    "",
  }
  for _, name in ipairs(COMMANDS) do
    lines[#lines + 1] = ("  %-8s %s"):format(
      name, require("asamp." .. name).summary)
  end
  lines[#lines + 1] = ""
  lines[#lines + 1] = "asamp COMMAND --help tells more."
  return table.concat(lines, "\n") .. "\n"
end

--- Runs the command line 'args' (a list) and returns the exit code: 0 done,
-- 1 a file yields nothing, 2 wrong arguments.
function M.main(args)
  local reader = require "profiler.reader"
  local world = {
    read = reader.read,
    out = function(s) io.stdout:write(s) end,
    err = function(s) io.stderr:write(s) end,
    color = reader.isatty() and os.getenv "NO_COLOR" == nil,
  }
  local name = args[1]
  if name == "--help" or name == "-h" or name == "help" then
    world.out(usage())
    return 0
  end
  for _, command in ipairs(COMMANDS) do
    if name == command then
      return require("asamp." .. command).run(
        table.move(args, 2, #args, 1, {}), world)
    end
  end
  world.err(name and ("asamp: unknown command '%s'; see asamp --help\n")
                     :format(name)
            or "asamp: no command given; see asamp --help\n")
  return 2
end

return M
