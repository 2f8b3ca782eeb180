-- SPDX-License-Identifier: MIT
-- Where the result of a command goes: what may be there already.

local convert = require "profiler.convert"
local host = require "asamp.host"

local M = {}

--- What is wrong when the result would replace what it is made of.
M.REPLACES = "--out '%s' is '%s' itself, give another name"

-- What is wrong with a result's name that nobody gave: another sort of file has
-- it; nil: nothing.
local function another(out, kind)
  local there = host.isfile(out) and (convert.kind(out) or "of no known kind")
  if there and there ~= kind and there ~= "an empty file" then
    return ("'%s' is there and would be replaced, but is %s; give --out")
           :format(out, there)
  end
end

--- Refuses a result 'out' made of the file 'path' that would replace that file, or
-- one of another kind where nobody gave the name ('given' is nil). 'kind': as of
-- profiler.convert.kind. 'tell': asamp.cli.complaints. Returns the exit code, or
-- nil: nothing is wrong.
function M.refuse(tell, out, given, path, kind)
  local there = not given and another(out, kind)
  if there then
    return tell.failed("%s", there)
  elseif host.samefile(out, path) then
    return tell.wrong(M.REPLACES, out, path)
  end
end

return M
