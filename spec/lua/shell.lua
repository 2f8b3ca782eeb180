-- SPDX-License-Identifier: MIT
-- Shell commands for the specs of the build: run them, look at what they say.

local M = {}

function M.read(path)
  local f = io.open(path, "rb")
  if not f then return nil end
  local text = f:read "a"
  f:close()
  return text
end

function M.write(path, text)
  local f = assert(io.open(path, "wb"))
  f:write(text)
  f:close()
end

--- Runs a line of shell. Returns exit status, standard output, standard error.
function M.run(line)
  local out, err = os.tmpname(), os.tmpname()
  local _, how, status = os.execute(("( %s ) >%s 2>%s </dev/null"):format(line, out, err))
  local o, e = M.read(out), M.read(err)
  os.remove(out)
  os.remove(err)
  return how == "signal" and 128 + status or status, o, e
end

--- What a line of shell writes to standard output; raises when it fails.
function M.output(line)
  local status, out, err = M.run(line)
  if status ~= 0 then error(("%s: status %d: %s%s"):format(line, status, out, err), 2) end
  return out
end

--- The lines of a text.
function M.lines(text)
  local list = {}
  for line in text:gmatch("[^\n]+") do list[#list + 1] = line end
  return list
end

--- A fresh folder; remove(folder) takes it away again.
function M.folder()
  return (M.output("mktemp -d"):gsub("\n", ""))
end

function M.remove(folder)
  M.output("rm -rf '" .. folder .. "'")
end

return M
