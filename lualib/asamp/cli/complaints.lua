-- SPDX-License-Identifier: MIT
-- Messages of commands on stderr: one line each, prefixed with the command's name.

local layout = require "asamp.show.layout"

local M = {}

--- Formats a path, or text from a file or a process, as one line for a terminal.
M.line = layout.printable

--- Returns a table of functions with which 'command' (its name) reports errors on stderr. 'text' and its
-- arguments are as for string.format. 'world': see asamp.lua.
--
--   - failed(text, ...): reports a failure; returns the exit code 1
--   - wrong(text, ...): reports wrong arguments and refers to --help; returns 2
--   - partial(path, message, samples, covers): reports that a profile is incomplete, unless 'message' (the
--     reason) is nil; if it has samples, also which part the result covers
function M.of(command, world)
  local warn = {}
  function warn.failed(text, ...)
    world.err(("asamp %s: %s\n"):format(command, M.line(text:format(...))))
    return 1
  end
  function warn.wrong(text, ...)
    warn.failed("%s; see asamp %s --help", text:format(...), command)
    return 2
  end
  function warn.partial(path, message, samples, covers)
    if message then
      warn.failed("'%s': %s; %s", path, message, samples > 0 and covers
                  or "no sample could be read; make a new profile")
    end
  end
  return warn
end

return M
