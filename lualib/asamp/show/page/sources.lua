-- SPDX-License-Identifier: MIT
-- The source lines that the page shows: those with frames on them, and a few
-- around. Pure: columns of the page in, and a function that finds files
-- (asamp.cli.sources, with the rules of what may be read); lines out.
--   VS2  of a file at most MAXFILE bytes are read. At most MAXTEXT bytes of lines
--        are taken in all, MAXLINE of a line, which then ends in an ellipsis;
--   VS3  of every file whose lines are wanted, either they are there or it is
--        told why not.

local layout = require "asamp.show.layout"
local source = require "asamp.show.source"
local units = require "asamp.show.units"

local M = {}

--- Bytes that are read of a file.
M.MAXFILE = 8 << 20

local MAXTEXT, MAXLINE, AROUND = 4 << 20, 400, 4

-- Why lines are missing, as it is said of several files and of one.
local REASONS = {
  {"outside", "lie outside the current folder and those of --source"},
  {"hidden", "are in hidden folders, which --source has to name"},
  {"unread", "cannot be read as text"},
  {"long", "go on behind the first " .. units.bytes(M.MAXFILE)},
  {"full", "found no room in the page"},
  {"absent", "are not here; --source says where to look"},
}

--- The same of one file, by the reason's name.
M.WHY = {
  outside = "lies outside the current folder and those of --source",
  hidden = "is in a hidden folder, which --source has to name",
  unread = "cannot be read as text",
  long = "goes on behind the first " .. units.bytes(M.MAXFILE),
  full = "found no room in the page",
  absent = "is not here; --source says where to look",
}

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
-- index, and for every other one the name of the reason (VS3). 'find': name of a
-- file -> its text, or nil and the reason; with a text the reason "long": it goes on.
function M.of(columns, find)
  local files, order = wanted(columns)
  local out, missing, left = {}, {}, MAXTEXT
  for _, file in ipairs(order) do
    local text, reason = find(columns.files[file + 1])
    if text then
      local texts, bytes, last = around(files[file], source.split(text))
      if bytes > left then
        reason = "full"
      else
        reason = not texts["L" .. last] and reason or nil
        out["F" .. file], left = texts, left - bytes
      end
    end
    missing["F" .. file] = reason
  end
  return out, missing
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
      parts[#parts + 1] = ("%s %s (%s%s)"):format(units.count(#names),
        #names > 1 and reason[2] or M.WHY[reason[1]], #names > 1 and "such as " or "",
        layout.cutstart(layout.clean(names[1]), 60))
    end
  end
  if n > 0 then
    return ("no source lines of %s: %s"):format(units.plural(n, "file"), table.concat(parts, "; "))
  end
end

return M
