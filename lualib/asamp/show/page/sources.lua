-- SPDX-License-Identifier: MIT
-- The source lines that the page shows: those with frames on them, and a few
-- around. Reads files, changes nothing. Names come from the profile, which
-- may be anybody's, and the page may be handed on:
--   VS1  only names of Lua functions are looked up. What a name leads to, with
--        all links followed, is opened only if it lies below the current folder
--        or one that the user has named, not in a hidden one below that, and
--        not in /proc or /sys; only regular files are opened;
--   VS2  of a file at most MAXFILE bytes are read; what has a zero byte is no
--        text. At most MAXTEXT bytes of lines are taken in all, MAXLINE of a
--        line, which then ends in an ellipsis;
--   VS3  of every file whose lines are wanted, either they are there or it is
--        told why not.

local host = require "asamp.host"
local layout = require "asamp.show.layout"
local units = require "asamp.show.units"

local M = {}

local MAXFILE, MAXTEXT, MAXLINE, AROUND = 8 << 20, 4 << 20, 400, 4

-- Why lines are missing, as it is said of several files and of one. Of a file
-- that may be in several folders the first reason is told that goes for one.
local REASONS = {
  {"outside", "lie outside the current folder and those of --source"},
  {"hidden", "are in hidden folders, which --source has to name"},
  {"unread", "cannot be read as text"},
  {"long", "go on behind the first " .. units.bytes(MAXFILE)},
  {"full", "found no room in the page"},
  {"absent", "are not here; --source says where to look"},
}

--- The same of one file, by the reason's name.
M.WHY = {
  outside = "lies outside the current folder and those of --source",
  hidden = "is in a hidden folder, which --source has to name",
  unread = "cannot be read as text",
  long = "goes on behind the first " .. units.bytes(MAXFILE),
  full = "found no room in the page",
  absent = "is not here; --source says where to look",
}

-- The folders below which files may be opened, all links followed.
local function rootsof(folders)
  local roots = {host.realpath "."}
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

-- The text behind a name; nil and why there is none.
local function load(name, roots)
  local path = not name:find("\0", 1, true) and host.realpath(name)
  if not path then
    return nil, "absent"
  end
  local reason = forbidden(path, roots)
  if reason then
    return nil, reason
  end
  local file = host.isfile(path) and io.open(path, "rb")
  local text = file and file:read(MAXFILE)
  if file then
    file:close()
  end
  if not text or text:find("\0", 1, true) then
    return nil, "unread"
  end
  return text
end

local function find(name, folders, roots)
  local names, reasons = {name}, {}
  if not name:find "^/" then
    for _, folder in ipairs(folders) do
      names[#names + 1] = folder .. "/" .. name
    end
  end
  for _, candidate in ipairs(names) do
    local text, reason = load(candidate, roots)
    if text then
      return text
    end
    reasons[reason] = true
  end
  for _, reason in ipairs(REASONS) do
    if reasons[reason[1]] then
      return nil, reason[1]
    end
  end
end

local function lines(text)
  local out = {}
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do
    out[#out + 1] = line:gsub("\r$", "")
  end
  return out
end

-- files[f] = {[line] = true}: the lines that have frames, by index from 0.
local function wanted(columns)
  local files, order = {}, {}
  local fns, nodes = columns.functions, columns.nodes
  for i, fn in ipairs(nodes.fn) do
    local line, file = nodes.line[i], fns.file[fn + 1]
    if fns.native[fn + 1] == 0 and line > 0 and columns.files[file + 1] ~= "-" then
      if not files[file] then
        files[file] = {}
        order[#order + 1] = file
      end
      files[file][line] = true
    end
  end
  return files, order
end

-- The lines around those of the set, by "L" and number, from a list of all;
-- how many bytes they have, and the highest number in the set.
local function around(set, all)
  local texts, bytes, last = {}, 0, 0
  for line in pairs(set) do
    last = math.max(last, line)
    for i = math.max(1, line - AROUND), math.min(#all, line + AROUND) do
      if not texts["L" .. i] then
        local text = all[i]
        texts["L" .. i] = #text > MAXLINE and text:sub(1, MAXLINE) .. "…" or text
        bytes = bytes + #texts["L" .. i]
      end
    end
  end
  return texts, bytes, last
end

--- For every file that was found {L1 = text, ...}, by "F" and the file's
-- index, and for every other one the name of the reason (VS3). 'folders':
-- where names that are not absolute are looked up besides the current folder,
-- and below which files may be opened.
function M.of(columns, folders)
  local files, order = wanted(columns)
  local roots = rootsof(folders)
  local out, missing, left = {}, {}, MAXTEXT
  for _, file in ipairs(order) do
    local text, reason = find(columns.files[file + 1], folders, roots)
    if text then
      local texts, bytes, last = around(files[file], lines(text))
      if bytes > left then
        reason = "full"
      else
        reason = #text == MAXFILE and not texts["L" .. last] and "long" or nil
        out["F" .. file], left = texts, left - bytes
      end
    end
    missing["F" .. file] = reason
  end
  return out, missing
end

--- A function of a file's name that returns its text, or nil (VS1, VS2), and
-- no more than 'most' bytes in all. 'folders': as of M.of, but the current folder
-- is none of them.
function M.texts(folders, most)
  local roots, left = {}, most
  for _, folder in ipairs(folders) do
    roots[#roots + 1] = host.realpath(folder)
  end
  return function(name)
    local text = find(name, folders, roots)
    if text and #text < MAXFILE and #text <= left then
      left = left - #text
      return text
    end
  end
end

--- Of the files without lines: how many, and why, in a sentence without an
-- end; nil when there are none. One file of each reason is named.
function M.told(columns, missing)
  local by, n = {}, 0
  for i, name in ipairs(columns.files) do
    local reason = missing["F" .. i - 1]
    if reason then
      by[reason] = by[reason] or {}
      table.insert(by[reason], name)
      n = n + 1
    end
  end
  local parts = {}
  for _, reason in ipairs(REASONS) do
    local names = by[reason[1]]
    if names then
      parts[#parts + 1] = ("%d %s (%s%s)"):format(#names, #names > 1 and reason[2] or M.WHY[reason[1]],
        #names > 1 and "such as " or "", layout.cutstart(layout.clean(names[1]), 60))
    end
  end
  if n > 0 then
    return ("no source lines of %s: %s"):format(units.plural(n, "file"), table.concat(parts, "; "))
  end
end

return M
