-- SPDX-License-Identifier: MIT
-- Programs that `asamp run` starts: which file a word means, whether the Lua that it
-- runs can be ours, what profiles it has left. Reads files and asks the system's tools.

local host = require "asamp.host"

local M = {}

local function first(path, n)
  local file = host.isfile(path) and io.open(path, "rb")
  local text = file and file:read(n)
  if file then
    file:close()
  end
  return text or ""
end

-- Is the file at 'path' a program, as the system sees it, and no script for Lua?
local function isprogram(path)
  local head = first(path, 256)
  local by = head:match "^#!([^\n]*)"
  return head:find "^\127ELF" ~= nil or by ~= nil and not by:find "lua"
end

--- The path of the program that 'word' means: a file that is one, or what the shell
-- would find under that name. nil: it means a script.
function M.find(word)
  if host.samefile(word, word) or word == "-" then
    return isprogram(word) and (word:find "/" and word or "./" .. word) or nil
  end
  for folder in (word:find "/" and "" or os.getenv "PATH" or ""):gmatch "[^:]+" do
    local path = folder .. "/" .. word
    if isprogram(path) then
      return path
    end
  end
end

local function quoted(text)
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

local function output(command)
  local pipe = io.popen(command .. " 2>&1")
  local text = pipe and pipe:read "a" or ""
  if pipe then
    pipe:close()
  end
  return text
end

-- Does the file hold our Lua, or a library of it?
local function isours(path)
  return first(path, "a"):find("profiler: ASAMP is set", 1, true) ~= nil
end

-- Does the program get rights by its file, so that the loader and the profiler ignore the
-- variables of whoever starts it?
local function israised(program)
  local path = quoted(program)
  return os.execute(("{ [ -u %s ] && [ ! -O %s ]; } || { [ -g %s ] && [ ! -G %s ]; }"):format(
    path, path, path, path)) ~= nil or
    output "id -u" ~= "0\n" and output("getcap " .. path):find("cap_", #program, true) ~= nil
end

--- Why our library cannot take the place of this program's Lua; nil: it can, or only a run
-- can tell (the program loads plugins, say).
function M.foreign(program, interpreter)
  if not first(program, 4):find "^\127ELF" then
    return nil
  end
  local text = output(("LD_LIBRARY_PATH=%s ldd %s"):format(quoted(M.librarypath(interpreter)),
                                                           quoted(program)))
  if text:find "not a dynamic executable" or text:find "statically linked" then
    return ("'%s' is linked statically"):format(program)
  elseif israised(program) then
    return ("'%s' is setuid, setgid or has capabilities, and so ignores LD_LIBRARY_PATH and ASAMP")
      :format(program)
  elseif text:find "liblua5%.4" then
    local path = text:match "liblua5%.4%S* => (/[^\n]-) %(0x"
    return path and not isours(path) and
           ("'%s' is linked to %s, which it names before LD_LIBRARY_PATH (DT_RPATH)"):format(program, path)
           or nil
  end
  local other = text:match "liblua5[^%s]*" or text:match "libluajit[^%s]*"
  return other and ("'%s' is linked to %s"):format(program, other)
end

--- Is there a Lua in the program's own file, and not ours? It has the line by which Lua's
-- sources sign what is made of them.
function M.hasown(program)
  return first(program, "a"):find("$LuaVersion: Lua 5.", 1, true) ~= nil and not isours(program)
end

--- The loader's path with the folder of our library in front.
function M.librarypath(interpreter)
  local own = host.realpath(interpreter):match "^(.*)/bin/[^/]*$" .. "/lib"
  local before = os.getenv "LD_LIBRARY_PATH"
  return own .. (before and before ~= "" and ":" .. before or "")
end

--- The files that a pattern (%p and the like) may represent, as they are now: by their paths
-- what host.files tells of them. Asks no tool: who ends the program by a signal to its whole
-- group, as timeout does, would end the tool, too.
function M.profiles(pattern)
  local folder, name = pattern:match "^(.*/)([^/]*)$"
  local match = (name or pattern):gsub("[^%w%%]", "%%%0"):gsub("%%[pnth]", "[^/]*")
  local files = {}
  for _, f in ipairs(host.files(folder or ".") or {}) do
    if f.name:find("^" .. match .. "$") or f.name:find("^" .. match:gsub("%%%.vmprof$", "") ..
                                                       "%.%d+%.vmprof$") then
      files[(folder or "") .. f.name] = f
    end
  end
  return files
end

--- The paths of those that are not as they were 'before' (M.profiles), the largest first.
-- Compares no file's time with ours: its file system has a clock of its own.
function M.changed(pattern, before)
  local list, files = {}, M.profiles(pattern)
  for path, f in pairs(files) do
    local was = before[path]
    if not was or was.inode ~= f.inode or was.changed ~= f.changed or was.size ~= f.size then
      list[#list + 1] = path
    end
  end
  table.sort(list, function(a, b) return files[a].size > files[b].size end)
  return list
end

return M
