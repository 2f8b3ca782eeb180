-- SPDX-License-Identifier: MIT
-- Paths of source files in profiles, and their comparison with paths given by users.

local M = {}

local REPLACEMENT = "\u{FFFD}"

--- Returns a path as profiles contain it (asamp/format/framename.c): colons and control characters
-- are replaced by ";", and bytes that are not UTF-8 by U+FFFD.
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

--- Returns true if the path of a profile may have replaced characters (M.written), so that the
-- file has another name.
function M.replaced(path)
  return path:find(";", 1, true) ~= nil or path:find(REPLACEMENT, 1, true) ~= nil
end

-- Returns true if 'tail' is a path, or its last names, such as "b/x.lua" of "a/b/x.lua".
local function ends(path, tail)
  return path == tail or path:sub(-#tail - 1) == "/" .. tail
end

--- Returns true if a path given by the user can mean a path in a profile: it is this path or its end.
--
-- wanted: the user's path; it may be longer than 'file' if that was cut
-- file: the path in the profile; three dots at its start replace the start of a very long path
function M.names(wanted, file)
  local written = M.written(wanted)
  local tail = file:match "^%.%.%.(.+)$"
  return ends(file, wanted) or ends(file, written) or
         tail ~= nil and #written > #tail and written:sub(-#tail) == tail
end

return M
