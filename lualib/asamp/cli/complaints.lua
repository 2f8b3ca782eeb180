-- SPDX-License-Identifier: MIT
-- What a command says on stderr when something is wrong: always on one line, after
-- its name.

local layout = require "asamp.show.layout"

local M = {}

--- A path, or another text of a file or a process, as one line for a terminal.
M.line = layout.printable

--- The complaints of 'command', through world.err. Texts are formats.
--   failed(text, ...)  of files; returns the exit code 1
--   wrong(text, ...)   of arguments: says where to look them up; returns 2
--   partial(path, message, samples, covers)  of a profile with n samples that is not
--                      whole, for the reason 'message' (nil: it is whole); 'covers'
--                      says what becomes of these
function M.of(command, world)
  local tell = {}
  function tell.failed(text, ...)
    world.err(("asamp %s: %s\n"):format(command, M.line(text:format(...))))
    return 1
  end
  function tell.wrong(text, ...)
    tell.failed("%s; see asamp %s --help", text:format(...), command)
    return 2
  end
  function tell.partial(path, message, samples, covers)
    if message then
      tell.failed("'%s': %s; %s", path, message, samples > 0 and covers
                  or "no sample could be read")
    end
  end
  return tell
end

return M
