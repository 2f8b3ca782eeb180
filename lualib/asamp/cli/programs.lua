-- SPDX-License-Identifier: MIT
-- Programs that `asamp run` starts: finds the file, checks whether Asamp's library can replace
-- the program's Lua, and finds the profiles that it wrote.

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

-- Returns "program" if the system can execute the file, or "script" if its first line is #! with a Lua
-- interpreter. Returns nil for other files.
local function sortof(path)
  local head = first(path, 256)
  local by = head:match "^#!([^\n]*)"
  return (head:find "^\127ELF" or by and not by:find "lua") and "program" or by and "script" or nil
end

local function isprogram(path)
  return sortof(path) == "program"
end

--- Finds the program that 'word' names: the file 'word', or else the first program or Lua script of that name
-- in PATH. Ignores folders. Returns two values:
--
--   1. the path of the program; nil if it is a Lua script or was not found
--   2. the path of the program or Lua script if it was found in PATH; else nil
function M.find(word)
  if host.samefile(word, word) and not host.samefile(word, word .. "/.") or word == "-" then
    return isprogram(word) and (word:find "/" and word or "./" .. word) or nil
  end
  for folder in (word:find "/" and "" or os.getenv "PATH" or ""):gmatch "[^:]+" do
    local path = folder .. "/" .. word
    local sort = sortof(path)
    if sort then
      return sort == "program" and path or nil, path
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

local function isours(path)
  return first(path, "a"):find("profiler: ASAMP is set", 1, true) ~= nil
end

-- Returns true if the program's file is setuid, setgid or has capabilities: then the loader and the
-- profiler ignore environment variables.
local function israised(program)
  local path = quoted(program)
  return os.execute(("{ [ -u %s ] && [ ! -O %s ]; } || { [ -g %s ] && [ ! -G %s ]; }"):format(
    path, path, path, path)) ~= nil or
    output "id -u" ~= "0\n" and output("getcap " .. path):find("cap_", #program, true) ~= nil
end

--- Returns the reason why Asamp's library cannot replace the Lua of a program (a path), and the remedy.
-- Returns nil if it can, or if this is unknown before the program runs: for example, if the program loads Lua
-- as a plugin.
-- 'interpreter': path of the running Lua.
function M.foreign(program, interpreter)
  if not first(program, 4):find "^\127ELF" then
    return nil
  end
  local text = output(("LD_LIBRARY_PATH=%s ldd %s"):format(quoted(M.librarypath(interpreter)),
                                                           quoted(program)))
  if text:find "not a dynamic executable" or text:find "statically linked" then
    return "the program is linked statically; link it to Asamp's liblua5.4.so.0"
  elseif israised(program) then
    return "the program is setuid, setgid or has capabilities, and so ignores LD_LIBRARY_PATH and ASAMP; " ..
           "profile a copy without these rights"
  elseif text:find "liblua5%.4" then
    local path = text:match "liblua5%.4%S* => (/[^\n]-) %(0x"
    if not path or isours(path) then return nil end
    return ("the program's DT_RPATH, which precedes LD_LIBRARY_PATH, links it to %s; " ..
            "remove that entry (chrpath -d)"):format(path)
  end
  local other = text:match "liblua5[^%s]*" or text:match "libluajit[^%s]*"
  return other and ("the program is linked to %s; link it to Asamp's liblua5.4.so.0"):format(other)
end

-- Texts that the file of a program contains if the program includes Lua 5.2 or newer, Lua 5.1, or LuaJIT.
local VERSIONS = {"$LuaVersion: Lua 5.", "$Lua: Lua 5.", "LuaJIT 2."}

--- Returns true if the program's file contains a Lua that is not Asamp's.
function M.hasown(program)
  local text = first(program, "a")
  for _, version in ipairs(VERSIONS) do
    if text:find(version, 1, true) then
      return not isours(program)
    end
  end
  return false
end

--- Returns the value of LD_LIBRARY_PATH with the folder of Asamp's library as its first folder.
-- 'interpreter': path of the running Lua, which is in the folder bin/ next to that folder.
function M.librarypath(interpreter)
  local own = host.realpath(interpreter):match "^(.*)/bin/[^/]*$" .. "/lib"
  local before = os.getenv "LD_LIBRARY_PATH"
  return own .. (before and before ~= "" and ":" .. before or "")
end

--- Returns the files whose path matches 'pattern', as a map from path to {name, size, inode, changed}
-- (host.files). The pattern is the path of a profile. Its escapes %p, %n, %t and %h match any text without a
-- slash. A number may precede ".vmprof".
--
-- Uses no child process such as ls: a signal to the process group, such as that of Ctrl-C, would end the
-- child.
function M.profiles(pattern)
  local folder, name = pattern:match "^(.*/)([^/]*)$"
  local match = (name or pattern):gsub("%%?.", function(c)
    return c:find "^%%[pnth]$" and "[^/]*" or c == "%%" and c or (c:gsub("%W", "%%%0"))
  end)
  local files = {}
  for _, f in ipairs(host.files(folder or ".") or {}) do
    if f.name:find("^" .. match .. "$") or f.name:find("^" .. match:gsub("%%%.vmprof$", "") ..
                                                       "%.%d+%.vmprof$") then
      files[(folder or "") .. f.name] = f
    end
  end
  return files
end

--- Returns the paths of files that match 'pattern' (M.profiles) and are new or changed since 'before' (an
-- earlier result of M.profiles), the largest first. Does not compare the files' times with the clock, because
-- the file system may have another clock.
function M.changed(pattern, before)
  local list, files = {}, M.profiles(pattern)
  for path, f in pairs(files) do
    local was = before[path]
    if not was or was.inode ~= f.inode or was.changed ~= f.changed or was.size ~= f.size then
      list[#list + 1] = path
    end
  end
  table.sort(list, function(a, b)
    if files[a].size ~= files[b].size then
      return files[a].size > files[b].size
    end
    return a < b
  end)
  return list
end

return M
