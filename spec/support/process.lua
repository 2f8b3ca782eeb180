-- SPDX-License-Identifier: MIT
-- Runs an interpreter in a separate process, with given arguments, environment and standard input, for
-- specs.

local host = require "asamp.host"
local shell = require "spec.support.shell"

local M = {}

M.read = shell.read

local function quote(text)
  return "'" .. tostring(text):gsub("'", "'\\''") .. "'"
end

--- Returns the absolute path of the interpreter that runs the specs.
function M.interpreter()
  local i = -1
  while arg[i - 1] do i = i - 1 end
  return arg[i]:find "^/" and arg[i] or shell.lines(shell.output "pwd")[1] .. "/" .. arg[i]
end

--- Creates a file with this text and returns its path.
function M.file(text)
  local path = os.tmpname()
  shell.write(path, text)
  return path
end

local function command(t, limit, script)
  local words = {}
  -- the leak checker must not search thread-local memory, because it cannot read that of libunwind
  local env = {LUA_PATH = package.path, LUA_CPATH = package.cpath, LUA_PROFILER = "",
               LSAN_OPTIONS = "use_tls=0:print_suppressions=0"}
  for k, v in pairs(t.env or {}) do env[k] = v end
  if t.directory then words[1] = "cd " .. quote(t.directory) .. " &&" end
  words[#words + 1] = "exec"
  if limit then words[#words + 1] = "timeout --foreground --kill-after=9 " .. limit end
  words[#words + 1] = "env"
  for k, v in pairs(env) do words[#words + 1] = quote(k .. "=" .. v) end
  words[#words + 1] = quote(t.program or M.interpreter())
  if t.load then words[#words + 1] = "-l " .. quote(t.load) end
  words[#words + 1] = script
  for _, w in ipairs(t) do words[#words + 1] = quote(w) end
  return table.concat(words, " ")
end

-- Runs an interpreter in a separate process, and waits until it has ended. Fields of t:
--   1, 2, ...   the arguments
--   env         environment variables
--   input       text for standard input
--   directory   the working directory
--   program     the interpreter (default: the one that runs the specs)
--   load        a module for the option -l
--   code        text of a script that receives the arguments
--   limit       time limit in seconds (default 600)
-- Returns the exit status, stdout and stderr. If a signal ended the process, the status is 128 + its
-- number. If the time limit ended it, the status is 124 (SIGTERM) or 137 (SIGKILL).
function M.run(t)
  local input, out, err = M.file(t.input or ""), os.tmpname(), os.tmpname()
  local script = t.code and M.file(t.code)
  local _, how, status = os.execute(("%s <%s >%s 2>%s"):format(command(t, t.limit or 600, script),
                                                               input, out, err))
  local text, errors = M.read(out), M.read(err)
  for _, path in ipairs{input, out, err, script} do os.remove(path) end
  return how == "signal" and 128 + status or status, text, errors
end

--- Runs a script with this text and these arguments. Returns the exit status and all output.
function M.code(code, ...)
  local status, out, err = M.run{code = code, ...}
  return status, out .. err
end

--- Waits until f() returns a true value, and returns that value. Raises an error after two minutes.
function M.await(f)
  for _ = 1, 12000 do
    local value = f()
    if value then return value end
    host.pause(10)
  end
  error("it was still awaited after two minutes", 2)
end

-- Returns true if the process has ended, also if it is still a zombie.
function M.ended(pid)
  local stat = M.read(("/proc/%d/stat"):format(pid))
  return not stat or stat:match "%) (%a)" == "Z"
end

--- Stops a process by SIGSTOP, and waits until each of its threads has stopped.
function M.stop(pid)
  assert(os.execute("kill -STOP " .. pid))
  M.await(function()
    local states = io.popen(("cat /proc/%d/task/*/stat | sed 's/.*) //' | cut -c1"):format(pid)):read "a"
    return not states:find "[^T\n]"
  end)
end

-- Starts a process in the background. 't' is the same as for M.run. Returns the id of the process.
function M.start(t)
  local pipe = assert(io.popen(("{ %s; } </dev/null >/dev/null 2>&1 & echo $!"):format(command(t))))
  local pid = pipe:read "n"
  pipe:close()
  return pid
end

return M
