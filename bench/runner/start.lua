-- SPDX-License-Identifier: MIT
-- The file that a script of bench/runner runs first: local start = dofile(arg[1] ..
-- "/bench/runner/start.lua") "bench/NAME". The arguments of the script are ROOT, WORK and those of the
-- command. The file sets package.path, so that the other modules of the folder are found.

-- Returns a table for the command 'name':
--   root, work   the folders
--   arguments    the list of the command's own arguments
--   runner       an object of runner.command
--   fail(message)       ends the command with the message and exit status 2
--   options(values, flags, words)   returns the command's options and its other words, like options.scan.
--       'values' and 'flags' are texts with the names of the options with and without a value. Unless
--       'words' is true, other words are an error
--   positive(found, option, default)    like options.positive, but a wrong value ends the command
--   mode(found, default)    returns the value of --mode; a wrong value ends the command
--   size(path)   returns the size of a file in bytes
return function(name)
  local root, work = arg[1], arg[2]
  package.path = root .. "/bench/?.lua;" .. package.path

  local start = {
    root = root, work = work, arguments = table.move(arg, 3, #arg, 1, {}),
    runner = require("runner.command").new(root .. "/build/bench", work),
  }

  function start.fail(message)
    io.stderr:write(name, ": ", message, "\n")
    os.exit(2)
  end

  local options = require "runner.options"

  local function set(names)
    local all = {}
    for word in (names or ""):gmatch "%S+" do all[word] = true end
    return all
  end

  function start.options(values, flags, words)
    local found, others = options.scan(start.arguments, set(values), set(flags))
    if not found then start.fail(others) end
    if not words and others[1] then start.fail(("%q is not an option; see --help"):format(others[1])) end
    return found, others
  end

  function start.mode(found, default)
    local mode = found.mode or default
    return options.MODES[mode] and mode or
      start.fail(("--mode must be size, small or tiny, got %q"):format(mode))
  end

  function start.size(path)
    local f <close> = assert(io.open(path, "rb"))
    return f:seek "end"
  end

  function start.positive(found, option, default)
    local value, message = options.positive(found, option, default)
    return value or start.fail(message)
  end

  return start
end
