-- SPDX-License-Identifier: MIT
-- The command `asamp`: finds the subcommand and runs it. A subcommand is a module asamp.commands.NAME with
-- 'summary' (one line of help), usage() (returns the help text) and run(args, world), which returns the exit
-- code. Subcommands write text and read the properties of the terminal through the table 'world' only.
--
-- Fields of 'world':
--
--   - read(path [, options [, shown]]): reads a profile as profiler.reader.read does, with a progress bar
--     on a terminal; 'shown': path that the bar shows instead of 'path'
--   - out(text), err(text): write a text to stdout and to stderr
--   - color, errcolor: true if texts on stdout and on stderr may have colours
--   - columns, errcolumns: width of the terminal at stdout and at stderr, in characters; nil: no terminal
--   - errrows: height of the terminal at stderr, in rows; nil: no terminal
--   - progress(label): creates a progress bar on stderr; returns its functions show(fraction) (fraction: 0 to
--     1) and finish()
--   - interpreter: path of the running Lua interpreter
--   - failed: message of the first failed write to stdout; nil or false: none has failed

local complaints = require "asamp.cli.complaints"
local host = require "asamp.host"
local options = require "asamp.cli.options"

local M = {}

--- The subcommands, in the order of the help.
M.COMMANDS = {"run", "report", "view", "convert", "diff", "check", "merge", "heap", "repair",
              "top", "record", "stats", "mark", "serve", "memory", "advise"}

local function usage()
  local lines = {
    "usage: asamp COMMAND [arguments]",
    "",
    "Profiles Lua programs, and shows profiles that Asamp or another profiler has written.",
    "",
  }
  for _, name in ipairs(M.COMMANDS) do
    lines[#lines + 1] = ("  %-8s %s"):format(
      name, require("asamp.commands." .. name).summary)
  end
  lines[#lines + 1] = ""
  lines[#lines + 1] = "Start with `asamp run app.lua`."
  lines[#lines + 1] = "asamp COMMAND --help shows a command's options, asamp --version the release."
  return table.concat(lines, "\n") .. "\n"
end

-- Returns the function world.progress(label), which creates progress bars.
--
--   - err(text): writes to stderr
--   - columns: width of the terminal at stderr, in characters; nil: no terminal, and the bars do nothing
local function bars(err, columns)
  return function(label)
    if not columns then
      return function() end, function() end
    end
    return require "asamp.cli.progress".bar(label, err, columns)
  end
end

local function interpreter()
  local first = 0
  while arg and arg[first - 1] do
    first = first - 1
  end
  return arg and arg[first]
end

local function theworld()
  local world = {columns = host.terminal(1), interpreter = interpreter()}
  world.errcolumns, world.errrows = host.terminal(2)
  function world.out(s)
    if not world.failed then
      local ok, message = io.stdout:write(s)
      world.failed = not ok and message
    end
  end
  function world.err(s)
    io.stderr:write(s)
  end
  local colors = (os.getenv "NO_COLOR" or "") == ""
                 and os.getenv "TERM" ~= "dumb"
  world.color = colors and world.columns ~= nil
  world.errcolor = colors and world.errcolumns ~= nil
  world.progress = bars(world.err, world.errcolumns)
  function world.read(path, o, shown)
    local show, finish = world.progress("reading " .. (shown or path):match "[^/]*$")
    local all = {progress = show}
    for k, v in pairs(o or {}) do
      all[k] = v
    end
    local profile, message = require("profiler.reader").read(path, all)
    finish()
    return profile, message
  end
  return world
end

local function unknown(name)
  local near = options.nearest(name, M.COMMANDS)
  if host.isfile(name) then
    return ("asamp: unknown command '%s', did you mean asamp %s %s?\n"):format(
      complaints.line(name), name:find "%.vmprof$" and "report" or name:find "%.heap$" and "heap" or "run",
      name:find "^[%w_./+:,@-]+$" and name or "FILE")
  end
  return (not near and name:find "[./]" and
    "asamp: '%s' is neither a command nor an existing file%s; see asamp --help\n" or
    "asamp: unknown command '%s'%s; see asamp --help\n"):format(complaints.line(name),
    near and (", did you mean %s?"):format(near) or "")
end

local function dispatch(args, world)
  local name = args[1]
  if name == "help" and args[2] then
    return dispatch({args[2], "--help"}, world)
  elseif name == "--help" or name == "-h" or name == "help" then
    world.out(usage())
    return 0
  elseif name == "--version" then
    world.out(("asamp %s (%s)\n"):format(host.release, host.lua))
    return 0
  end
  for _, command in ipairs(M.COMMANDS) do
    if name == command then
      return require("asamp.commands." .. command).run(
        table.move(args, 2, #args, 1, {}), world)
    end
  end
  world.err(name and unknown(name) or usage())
  return 2
end

--- Runs the subcommand that the list 'args', the words after `asamp`, names. Returns the exit code, and true
-- if the Lua state must be closed before the process exits, so that finalizers run. Exit codes:
--
--   - 0: success
--   - 1: failure; for example, a file has no usable contents, or the output cannot be written
--   - 2: wrong arguments
--   - any: `asamp run` returns the exit code of the script
function M.main(args)
  local world = theworld()
  host.streams()
  host.interruptible()
  local code = dispatch(args, world)
  if not world.failed then
    local ok, message = io.stdout:flush()
    world.failed = not ok and message
  end
  if world.failed then
    world.err(("asamp: cannot write the output: %s\n"):format(world.failed))
    code = code == 0 and 1 or code
  end
  return code, args[1] ~= "run"
end

return M
