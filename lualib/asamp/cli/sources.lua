-- SPDX-License-Identifier: MIT
-- Finds source files. Reads them, changes nothing. Names come from a profile, which
-- may be anybody's, and the result may be handed on:
--   VS1  only names of Lua functions are looked up. What a name leads to, with
--        all links followed, is opened only if it lies below the current folder
--        or one that the user has named, not in a hidden one below that, and
--        not in /proc or /sys; only regular files are opened. What has a zero
--        byte is no text.

local host = require "asamp.host"
local layout = require "asamp.show.layout"
local paths = require "asamp.sums.paths"
local sources = require "asamp.show.page.sources"

local M = {}

local MAXFILE = sources.MAXFILE

-- Why a file is not found (texts: asamp.show.page.sources). Of a file that may be in several
-- folders the first of these that holds for any of them is told.
local REASONS = {"outside", "hidden", "unread", "absent"}

-- The folders below which files may be opened, all links followed: 'folders', and
-- those in the list 'roots'.
local function rootsof(folders, roots)
  for _, folder in ipairs(folders) do
    roots[#roots + 1] = host.realpath(folder)
  end
  return roots
end

-- Why the file of that path, which has no links in it, must not be opened;
-- nil: it may.
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

-- The text of the file of that name and when it was modified; nil and why there is none.
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

-- The names in a folder by their written form (asamp.sums.paths), from 'cache' if they are
-- there; of several that are written alike none.
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

-- The path below 'folder' whose written form there is 'name'; nil: there is none.
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

-- Adds to 'names' those whose written form is 'name', an absolute one below one of the roots or
-- any other below one of the folders or the current one.
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

-- The same of the first file of that name, which may be in any of the folders. The name may be
-- the written form.
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

--- A function of a file's name that returns its text (with "long" behind it when
-- there is more than MAXFILE), or nil and the reason (VS1). 'folders': where names that
-- are not absolute are looked up besides the current folder, and below which files
-- may be opened. Also returns the list of files that it has read, for M.changed.
function M.finder(folders)
  local roots, read, cache = rootsof(folders, {host.realpath "."}), {}, {}
  return function(name)
    local text, more = find(name, folders, roots, cache)
    if not text then
      return nil, more
    end
    read[#read + 1] = {name = name, modified = more}
    return text, #text == MAXFILE and "long" or nil
  end, read
end

--- A warning about those files of a list {{name, modified}, ...} that were modified after the
-- profile had started, at 'started' seconds since the epoch (nil: unknown); nil: there are none.
function M.changed(read, started)
  local names = {}
  for _, file in ipairs(read) do
    if started and file.modified and file.modified > started then
      names[#names + 1] = layout.cutstart(layout.clean(file.name), 60)
    end
  end
  if #names == 1 then
    return ("'%s' has changed since the profile was made: its lines may not be those of the samples")
      :format(names[1])
  elseif #names > 1 then
    return ("%d source files have changed since the profile was made, such as '%s': their lines may " ..
            "not be those of the samples"):format(#names, names[1])
  end
end

--- Folders, with all links followed where they are there, and the current one: the
-- arguments of asamp.sums.owned.below.
function M.real(folders)
  local list = {}
  for _, folder in ipairs(folders) do
    list[#list + 1] = folder
    list[#list + 1] = host.realpath(folder)
  end
  return list, host.realpath "."
end

--- A function of a file's name that returns its whole text, or nil, and no more
-- than 'most' bytes in all. 'folders': as of M.finder, but the current folder is
-- none of those below which files may be opened. Also returns the list of M.finder.
function M.texts(folders, most)
  local roots, left, read, cache = rootsof(folders, {}), most, {}, {}
  return function(name)
    local text, modified = find(name, folders, roots, cache)
    if text and #text < MAXFILE and #text <= left then
      left = left - #text
      read[#read + 1] = {name = name, modified = modified}
      return text
    end
  end, read
end

return M
