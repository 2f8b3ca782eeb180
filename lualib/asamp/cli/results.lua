-- SPDX-License-Identifier: MIT
-- Checks whether the result of a command may replace an existing file.

local convert = require "profiler.convert"
local host = require "asamp.host"

local M = {}

--- Format of the error message if the result would replace the command's input.
M.REPLACES = "--out '%s' is the input '%s' itself; give another name"

-- Returns an error message if the path 'out' of a result is a file that is not of 'kind' (a result of
-- profiler.convert.kind, such as "a profile"); else nil. An empty file is no obstacle.
local function another(out, kind)
  local there = host.isfile(out) and (convert.kind(out) or "a file of unknown kind")
  if there and there ~= kind and there ~= "an empty file" then
    return ("'%s' is %s and would be replaced; give another path with --out")
           :format(out, there)
  end
end

--- Checks whether a command may write its result to the file 'out'. Returns nil if it may; else prints an
-- error message and returns an exit code. The result must not replace:
--
--   - the command's input 'path'
--   - a file of another kind than 'kind' (profiler.convert.kind), unless 'given' is true: the user has given
--     the path
function M.refuse(warn, out, given, path, kind)
  local there = not given and another(out, kind)
  if there then
    return warn.failed("%s", there)
  elseif host.samefile(out, path) then
    return warn.wrong(M.REPLACES, out, path)
  end
end

return M
