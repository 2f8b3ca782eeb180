-- SPDX-License-Identifier: MIT
-- Selects the source lines that the page of `asamp view` embeds: lines with frames, and their surroundings.
-- Its input is the page's columns, and a function that reads files (asamp.cli.sources defines which).
--
--   VS2  At most MAXFILE bytes of a file are read. At most MAXTEXT bytes of lines are embedded in total. A
--        line longer than MAXLINE bytes is cut and ends with an ellipsis.
--   VS3  For every file with frames, the page has its lines, or a reason why lines are missing, or both.

local layout = require "asamp.show.layout"
local source = require "asamp.show.source"
local units = require "asamp.show.units"

local M = {}

--- Limit of the bytes that are read of one source file.
M.MAXFILE = 8 << 20

local MAXTEXT, MAXLINE, AROUND = 4 << 20, 400, 4

-- Reasons why the lines of files are missing, in display order. An element is {name, text}; a sentence about
-- several files ends with the text.
local REASONS = {
  {"outside", "lie outside the current folder: name their folders with --source DIRS"},
  {"hidden", "are in hidden folders: name these with --source DIRS"},
  {"unread", "are not text files that can be read"},
  {"long", "are longer than the limit, " .. units.bytes(M.MAXFILE)},
  {"full", "do not fit into the page, which has space for 4 MiB of lines"},
  {"absent", "were not found: name their folders with --source DIRS"},
}

--- Maps the name of a reason to the end of a sentence about one file whose lines are missing.
M.WHY = {
  outside = "lies outside the current folder: name its folder with --source DIRS",
  hidden = "is in a hidden folder: name it with --source DIRS",
  unread = "is not a text file that can be read",
  long = "is longer than the limit, " .. units.bytes(M.MAXFILE),
  full = "does not fit into the page, which has space for 4 MiB of lines",
  absent = "was not found: name its folder with --source DIRS",
  chunk = "was not found: its code may come from a string",
}

-- Returns two values, in which a file is represented by its index in columns.files, minus 1:
--
--   1. the source lines of the call tree's nodes, {[file] = {[line] = true}}
--   2. the list of their files, in the order of the nodes
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

-- Selects the lines whose numbers are in 'set', and the AROUND lines before and after each of them. Returns
-- three values:
--
--   1. the selected texts, with keys "L" .. number
--   2. their total bytes
--   3. the largest number in the set
--
-- all: list of all lines of the file
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

--- Returns two tables with keys "F" .. index of a file. Each file of the call tree has an element in at least
-- one of them:
--
--   1. the source lines of the file: texts with keys "L" .. number
--   2. the name of the reason why lines of the file are missing (a key of WHY)
--
-- columns: data of the page (data.lua)
-- find(name): returns the text of a file, and "long" if it was cut, or nil and the reason
function M.of(columns, find)
  local files, order = wanted(columns)
  local out, missing, left = {}, {}, MAXTEXT
  for _, file in ipairs(order) do
    local name = columns.files[file + 1]
    local text, reason = find(name)
    if reason == "absent" and (name:find '^%[string "' or not name:find "[/.]") then
      reason = "chunk"
    elseif text then
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

--- Returns a sentence, without a full stop, about the files whose lines are missing. It has their number and,
-- for each reason, one file as an example. Does not count chunks that may come from strings. Returns nil if
-- no lines are missing.
--
-- columns: data of the page (data.lua)
-- missing: second result of M.of
function M.summary(columns, missing)
  local by, n = {}, 0
  for i, name in ipairs(columns.files) do
    local reason = missing["F" .. i - 1]
    if reason and reason ~= "chunk" then
      by[reason] = by[reason] or {}
      table.insert(by[reason], name)
      n = n + 1
    end
  end
  local parts = {}
  for _, reason in ipairs(REASONS) do
    local names = by[reason[1]]
    if names then
      local name, why = layout.cutstart(layout.clean(names[1]), 60), M.WHY[reason[1]]
      if #names == n then
        return n == 1 and ("no source lines of %s, which %s"):format(name, why) or
               ("no source lines of %s, such as %s, which %s"):format(units.plural(n, "file"), name,
                                                                      reason[2])
      end
      parts[#parts + 1] = #names == 1 and ("%s %s"):format(name, why) or
                          ("%s, such as %s, %s"):format(units.count(#names), name, reason[2])
    end
  end
  if n > 0 then
    return ("no source lines of %s: %s"):format(units.plural(n, "file"), table.concat(parts, "; "))
  end
end

return M
