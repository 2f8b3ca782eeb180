-- SPDX-License-Identifier: MIT
--
-- Reads the commands of gcc from the output of `make -n`, in two lists: commands that compile, and commands
-- that link. Partial links (-r) are in neither list.

local shell = require "spec.support.shell"

local M = {}

-- Runs `make -n -f lua/build.mk V=... B=... P=...` with more arguments and with B and P in a temporary
-- folder. Returns {compiled, linked}, two lists of commands.
function M.ofbuild(variant, arguments)
  local folder = shell.folder()
  local text = shell.output("make -n -f lua/build.mk V=%s B=%s/b P=%s/p %s", variant, folder, folder,
                            arguments):gsub("\\\n", " ")
  local compiled, linked = {}, {}
  for line in text:gmatch "gcc [^\n]* %-o [^\n]+" do
    if line:find(" -c ", 1, true) then compiled[#compiled + 1] = line
    elseif not line:find(" -r ", 1, true) then linked[#linked + 1] = line end
  end
  shell.remove(folder)
  assert(#compiled > 100 and #linked >= 8, #compiled .. ", " .. #linked)
  return {compiled = compiled, linked = linked}
end

return M
