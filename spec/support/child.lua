-- SPDX-License-Identifier: MIT
-- Runs Lua code in a process of its own, with the interpreter and the module
-- paths of this one: for specs of what ends a process or changes its limits.

local M = {}

local function interpreter()
  local i = -1
  while arg[i - 1] do
    i = i - 1
  end
  return arg[i]
end

--- Runs 'code' (a string, its arguments as in a script). Returns the exit
-- status, or 128 + the signal that ended it, and what it wrote to stdout and
-- stderr.
function M.run(code, ...)
  local script, output = os.tmpname(), os.tmpname()
  local f = assert(io.open(script, "w"))
  f:write(("package.path, package.cpath = %q, %q\n")
          :format(package.path, package.cpath), code)
  f:close()
  local words = {interpreter(), script, ...}
  for i, w in ipairs(words) do
    words[i] = "'" .. w .. "'"
  end
  -- exec: the status is that of the interpreter, not of the shell
  local _, how, status = os.execute("exec " .. table.concat(words, " ") ..
                                    " >" .. output .. " 2>&1")
  f = assert(io.open(output))
  local text = f:read "a"
  f:close()
  os.remove(script)
  os.remove(output)
  return how == "signal" and 128 + status or status, text
end

return M
