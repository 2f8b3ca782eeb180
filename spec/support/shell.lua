-- SPDX-License-Identifier: MIT
-- Functions for files, folders and shell commands in specs.

local M = {}

--- Returns the contents of a file; nil if it does not exist.
function M.read(path)
  local f = io.open(path, "rb")
  if not f then return nil end
  local text = f:read "a"
  f:close()
  return text
end

--- Writes the texts to a file, which is created or replaced.
function M.write(path, ...)
  local f = assert(io.open(path, "wb"))
  f:write(...)
  f:close()
end

--- Returns the size of a file in bytes.
function M.size(path)
  local f <close> = assert(io.open(path, "rb"))
  return f:seek "end"
end

-- Runs a shell command. Returns its exit status (128 + the number of the signal that ended it), stdout and
-- stderr.
function M.run(line)
  local out, err = os.tmpname(), os.tmpname()
  local _, how, status = os.execute(("( %s ) >%s 2>%s </dev/null"):format(line, out, err))
  local o, e = M.read(out), M.read(err)
  os.remove(out)
  os.remove(err)
  return how == "signal" and 128 + status or status, o, e
end

-- Returns the standard output of a shell command. Raises an error if the command fails. If there are more
-- arguments, they are formatted into the command.
function M.output(line, ...)
  if select("#", ...) > 0 then line = line:format(...) end
  local status, out, err = M.run(line)
  if status ~= 0 then error(("%s: status %d: %s%s"):format(line, status, out, err), 2) end
  return out
end

--- Returns the lines of a text.
function M.lines(text)
  local list = {}
  for line in text:gmatch("[^\n]+") do list[#list + 1] = line end
  return list
end

--- Creates a folder that only its owner may access; remove(folder) deletes it.
function M.folder()
  return (M.output("mktemp -d"):gsub("\n", ""))
end

function M.remove(folder)
  M.output("rm -rf '" .. folder .. "'")
end

return M
