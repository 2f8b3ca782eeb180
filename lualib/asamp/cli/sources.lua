-- SPDX-License-Identifier: MIT
-- Finds and reads source files. Their names are from a profile, which is untrusted, and the result may be
-- published. So this rule applies:
--
--   VS1  Only files of Lua functions are searched. A file is opened only if it is a regular file and its
--   path, with all links resolved, meets three conditions: it is below the current folder or a folder that
--   the user has named; it has no hidden folder below that folder; it is not in /proc or /sys. A file with a
--   zero byte is not text, and is not returned.

local host = require "asamp.host"
local layout = require "asamp.show.layout"
local paths = require "asamp.sums.paths"
local source = require "asamp.show.source"
local sources = require "asamp.show.page.sources"

local M = {}

local MAXFILE = sources.MAXFILE

-- Reasons why a source file cannot be read; asamp.show.page.sources has their texts. The order is that of
-- precedence: if several paths were tried and failed for different reasons, the first of these reasons is
-- reported.
local REASONS = {"outside", "hidden", "unread", "absent"}

-- Appends the real paths of 'folders' to 'roots', the list of folders whose files may be opened.
local function rootsof(folders, roots)
  for _, folder in ipairs(folders) do
    roots[#roots + 1] = host.realpath(folder)
  end
  return roots
end

-- Returns the reason (one of REASONS) why a file must not be opened (VS1), or nil if it may. 'path': its path
-- with all links resolved; 'roots': the folders whose files may be opened.
local function forbidden(path, roots)
  if path:find "^/proc/" or path:find "^/sys/" then
    return "outside"
  end
  local reason = "outside"
  for _, root in ipairs(roots) do
    local prefix = root:gsub("/*$", "/")
    if (path .. "/"):sub(1, #prefix) == prefix then
      if not path:find("/.", #prefix, true) then
        return nil
      end
      reason = "hidden"
    end
  end
  return reason
end

-- Returns the text of the file 'name' and the time of its last change (seconds since the epoch); nil and one
-- of the REASONS on failure. 'roots': the folders whose files may be opened.
local function load(name, roots)
  local path = not name:find("\0", 1, true) and host.realpath(name)
  if not path then
    return nil, "absent"
  end
  local reason = forbidden(path, roots)
  if reason then
    return nil, reason
  end
  local file = host.openfile(path)
  local text = file and file:read(MAXFILE)
  if file then
    file:close()
  end
  if not text or text:find("\0", 1, true) then
    return nil, "unread"
  end
  return text, host.modified(path)
end

-- Returns a map from the names of files in profiles to their names on disk, for the files of one folder. The
-- names can differ: in profiles, some characters are replaced by ";" or U+FFFD (asamp.sums.paths.written).
-- The value is false if several files have the same name in profiles. 'cache': earlier results, by folder.
local function entries(folder, cache)
  local by = cache[folder]
  if not by then
    by = {}
    for _, name in ipairs(host.names(folder) or {}) do
      local written = paths.written(name)
      by[written] = by[written] == nil and name
    end
    cache[folder] = by
  end
  return by
end

-- Finds the file below 'folder' that has the relative path 'name' in profiles, which replace some characters
-- of paths (asamp.sums.paths.written). Returns its path on disk, or nil if there is none. 'cache': earlier
-- results (entries).
local function unwritten(folder, name, cache)
  for part in name:gmatch "[^/]+" do
    local found = entries(folder, cache)[part]
    if not found or part:find "^%." then
      return nil
    end
    folder = folder .. "/" .. found
  end
  return folder
end

-- Finds the files on disk to which the path 'name' of a profile may refer: a profile replaces some
-- characters of each path (asamp.sums.paths.written). Appends the paths of the files to 'names'. Searches
-- below 'roots' if 'name' is an absolute path, otherwise below 'folders' and the current folder. 'cache':
-- earlier results of 'entries'.
local function addunwritten(names, name, folders, roots, cache)
  local isabsolute = name:find "^/"
  local bases = isabsolute and roots or table.move(folders, 1, #folders, 2, {"."})
  for _, base in ipairs(bases) do
    local prefix = isabsolute and paths.written(base):gsub("/*$", "/") or ""
    if name:sub(1, #prefix) == prefix then
      names[#names + 1] = unwritten(base, name:sub(#prefix + 1):gsub("^%./", ""), cache)
    end
  end
end

-- Finds a source file and reads it. Tries the path 'name' first, then, if it is relative, the same path in
-- each of the folders. Then, if the profile may have replaced characters of the path, tries the files whose
-- paths equal 'name' after such replacements (addunwritten). Returns the text of the first file that can be
-- read, and the time of its last change (load). Returns nil and one of the REASONS on failure.
local function find(name, folders, roots, cache)
  local names, reasons = {name}, {}
  if not name:find "^/" then
    for _, folder in ipairs(folders) do
      names[#names + 1] = folder .. "/" .. name
    end
  end
  if paths.replaced(name) then
    addunwritten(names, name, folders, roots, cache)
  end
  for _, candidate in ipairs(names) do
    local text, reason = load(candidate, roots)
    if text then
      return text, reason
    end
    reasons[reason] = true
  end
  for _, reason in ipairs(REASONS) do
    if reasons[reason] then
      return nil, reason
    end
  end
end

-- Returns the lines at which the Lua functions of a profile are defined, {[file] = {[line] = true}}. Omits
-- files that have another ending than ".lua".
local function definitions(functions)
  local lines = {}
  for _, f in ipairs(functions) do
    if not f.native and f.line > 0 and (f.file:find "%.lua$" or not f.file:find "%.%w+$") then
      lines[f.file] = lines[f.file] or {}
      lines[f.file][f.line] = true
    end
  end
  return lines
end

-- Returns true if line i of the list 'all' certainly defines no function: it has no word "function", and none
-- of the 3 lines before it ends with "function" or "function NAME".
local function definesnone(all, i)
  if all[i]:find("function", 1, true) then
    return false
  end
  local before = {}
  for k = math.max(1, i - 3), i - 1 do
    before[#before + 1] = all[k]:sub(1, 200):gsub("%-%-.*", "")
  end
  return not table.concat(before, "\n"):find "function[%s%w_]*$"
end

-- Returns true if a text is certainly not the profiled file: it defines no function at one of the 'lines' (a
-- set) where the profile has one.
local function isother(text, lines)
  local all = source.split(text)
  for line in pairs(lines) do
    if not all[line] and #text < MAXFILE or all[line] and definesnone(all, line) then
      return true
    end
  end
  return false
end

--- Returns two values:
--
--   1. f(name, profiled), a function that reads a source file and returns its text. A second result "long"
--      means that the text was cut at MAXFILE bytes. On failure the function returns nil and one of the
--      REASONS
--   2. the list of the files that this function has read, for M.changed
--
-- Parameters of the function f:
--
--   - name: the file's path
--   - profiled: its path in the profile; nil: the same
--
-- Parameters of M.finder:
--
--   - folders: folders whose files may be opened; a relative path is searched in the current folder first
--   - functions: the profile's functions, by which M.changed recognizes a different file of the same name
function M.finder(folders, functions)
  local roots, read, cache = rootsof(folders, {host.realpath "."}), {}, {}
  local defined = definitions(functions or {})
  return function(name, profiled)
    local text, more = find(name, folders, roots, cache)
    if not text then
      return nil, more
    end
    local lines = defined[profiled or name]
    read[#read + 1] = {name = name, modified = more, isother = lines and isother(text, lines)}
    return text, #text == MAXFILE and "long" or nil
  end, read
end

--- Returns a warning if source files have changed since the profile was made; else nil.
--
--   - read: list of the files, the second result of M.finder or M.texts. A file has changed if it was
--     modified after 'started', or if it defines no function at a line where the profile has one
--   - started: start of the profile, seconds since the epoch; nil: unknown
function M.changed(read, started)
  local names = {}
  for _, file in ipairs(read) do
    if file.isother or started and file.modified and file.modified > started then
      names[#names + 1] = layout.cutstart(layout.clean(file.name), 60)
    end
  end
  if #names == 1 then
    return ("'%s' has changed since the profile was made: numbers may be at wrong lines; profile again")
      :format(names[1])
  elseif #names > 1 then
    return ("%d source files have changed since the profile was made, such as '%s': " ..
            "numbers may be at wrong lines; profile again"):format(#names, names[1])
  end
end

--- Converts the list 'folders', the paths of --own, to the two arguments of asamp.sums.owned.below. The first
-- one is a list with two forms of each path, as given and with all links resolved, because a profile may
-- contain either. The second one is the current folder.
function M.real(folders)
  local list = {}
  for _, folder in ipairs(folders) do
    list[#list + 1] = folder
    list[#list + 1] = host.realpath(folder)
  end
  return list, host.realpath "."
end

--- Returns two values:
--
--   1. a function that maps a file's name to its whole text; it returns nil if it cannot read the whole file
--   2. the list of the files that this function has read, for M.changed
--
-- Parameters:
--
--   - folders: only files below these are opened. The current folder is not included
--   - most: limit of all texts together, in bytes
--   - functions: the profile's functions, by which M.changed recognizes a different file of the same name
function M.texts(folders, most, functions)
  local roots, left, read, cache = rootsof(folders, {}), most, {}, {}
  local defined = definitions(functions or {})
  return function(name)
    local text, modified = find(name, folders, roots, cache)
    if text and #text < MAXFILE and #text <= left then
      left = left - #text
      local lines = defined[name]
      read[#read + 1] = {name = name, modified = modified, isother = lines and isother(text, lines)}
      return text
    end
  end, read
end

return M
