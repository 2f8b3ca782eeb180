-- SPDX-License-Identifier: MIT
-- The source lines that the page shows: those with frames on them, and a few
-- around. Reads files, changes nothing. Names come from the profile, which
-- may be anybody's:
--   VS1  only names of Lua functions are looked up, only regular files are
--        opened, none below /proc and /sys, and of a file at most MAXFILE bytes
--        are read; what has a zero byte is no text;
--   VS2  at most MAXTEXT bytes of lines are taken in all, MAXLINE of a line.

local host = require "asamp.host"

local M = {}

local MAXFILE, MAXTEXT, MAXLINE, AROUND = 8 << 20, 4 << 20, 400, 4

local function load(path)
  if path:find "^/proc/" or path:find "^/sys/" or not host.isfile(path) then
    return nil
  end
  local file = io.open(path, "rb")
  local text = file and file:read(MAXFILE)
  if file then
    file:close()
  end
  return text and not text:find("\0", 1, true) and text or nil
end

local function find(name, folders)
  if name:find "^/" then
    return load(name)
  end
  local text = load(name)
  for _, folder in ipairs(folders) do
    text = text or load(folder .. "/" .. name)
  end
  return text
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

--- For every file that was found {[line] = text}, by the file's index as
-- text. 'folders': where names that are not absolute are looked up besides
-- the current folder.
function M.of(columns, folders)
  local files, order = wanted(columns)
  local out, left = {}, MAXTEXT
  for _, file in ipairs(order) do
    local text = left > 0 and find(columns.files[file + 1], folders)
    if text then
      local all, taken = lines(text), {}
      for line in pairs(files[file]) do
        for i = math.max(1, line - AROUND), math.min(#all, line + AROUND) do
          if not taken[i] and left > 0 then
            taken[i] = all[i]:sub(1, MAXLINE)
            left = left - #taken[i]
          end
        end
      end
      local texts = {}
      for i, s in pairs(taken) do
        texts["L" .. i] = s
      end
      out["F" .. file] = texts
    end
  end
  return out
end

return M
