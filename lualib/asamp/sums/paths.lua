-- SPDX-License-Identifier: MIT
-- Paths of source files as profiles have them, and whether a path that a user gives is one
-- of them. Pure.

local M = {}

local REPLACEMENT = "\u{FFFD}"

--- A path as a profile has it (asamp/format/framename.c): colons and control characters are
-- ";", and a byte that is not UTF-8 is U+FFFD.
function M.written(path)
  local pos, parts = 1, {}
  path = path:gsub("[\0-\31\127:]", ";")
  while true do
    local n, bad = utf8.len(path, pos)
    if n then
      break
    end
    parts[#parts + 1] = path:sub(pos, bad - 1) .. REPLACEMENT
    pos = bad + 1
  end
  return table.concat(parts) .. path:sub(pos)
end

--- Could the path be the written form of another one?
function M.replaced(path)
  return path:find(";", 1, true) ~= nil or path:find(REPLACEMENT, 1, true) ~= nil
end

-- Is 'tail' the path, or the end of it, from one of its names on?
local function ends(path, tail)
  return path == tail or path:sub(-#tail - 1) == "/" .. tail
end

--- Does the path 'wanted', as a user gives it, name the file of a profile, by the end of its path
-- at least? Of a very long path a profile has the end only, after three dots.
function M.names(wanted, file)
  local written = M.written(wanted)
  local tail = file:match "^%.%.%.(.+)$"
  return ends(file, wanted) or ends(file, written) or
         tail ~= nil and #written > #tail and written:sub(-#tail) == tail
end

return M
