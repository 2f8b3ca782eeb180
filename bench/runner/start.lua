-- SPDX-License-Identifier: MIT
-- What every command of this folder begins with; it is the first that one calls:
--   local start = dofile(arg[1] .. "/bench/runner/start.lua") "bench/NAME"
-- The script's arguments are ROOT WORK and those of the command. Finds the other
-- modules of the runner; measures and prints nothing.

-- { root, work (folders), arguments (the command's own, a list), runner (of
-- runner.command), fail(message): ends the command, which is called 'name', with
-- status 2; positive(found, option, default): as options.positive, or fails }
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

  function start.positive(found, option, default)
    local value, message = require("runner.options").positive(found, option, default)
    return value or start.fail(message)
  end

  return start
end
