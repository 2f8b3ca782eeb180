-- SPDX-License-Identifier: MIT
-- Texts for functions and lines of a program in a given number of columns, cut where least information is
-- lost. A 'row' has name, file, line and native; 'paint': a result of layout.painter.

local layout = require "asamp.show.layout"
local totals = require "asamp.sums.totals"

local M = {}

-- Returns the place of a row: "file:line" of Lua code, "[C] library" of a native function.
local function whereof(row)
  if row.native then
    local library = row.file:match "([^/]+)$"
    return (library == "-" or not library) and "[C]" or "[C] " .. library
  elseif row.file == "-" then
    return "?"
  end
  return row.line > 0 and row.file .. ":" .. row.line or row.file
end

-- Returns the name of a row's function. Native code without a symbol has a name such as "libc.so+0x1f0". Of
-- this name, returns only "+0x1f0", because labels show the library after it (whereof).
local function nameof(row)
  local name = layout.clean(row.name)
  local library, place = name:match "^(.*)(%+0x%x+)$"
  return row.native and library == layout.clean(row.file:match "([^/]*)$") and place or name
end

-- Returns true for a row that has no file: the row of collections, or of callers that tail calls have
-- removed.
local function isplaceless(row)
  return totals.iscollection(row) or totals.istailcalls(row)
end

-- Returns the file's name and the line of a place: "app.lua:12" for "lib/app.lua:12".
local function lastname(where)
  return where:match "([^/]*)$"
end

--- Returns the text "function  file:line" of a row in n columns. Cuts the middle of the function's name and
-- the start of the file's path. The end of the path has precedence over the name, but not for a native
-- function.
function M.offunction(row, n, paint)
  local name = nameof(row)
  if isplaceless(row) then
    return layout.cutend(name, n)
  end
  local where = layout.clean(whereof(row))
  local room = n - 2 - math.min(layout.width(name), 8, n // 3)
  room = math.min(math.max(layout.width(lastname(where)) + 2, n // 2), room)
  -- The place of native code is only a library. The function's name says more, so less of it is cut.
  if row.native then
    room = math.max(n - 2 - layout.width(name), n // 3)
  end
  name = layout.cutmiddle(name, n - 2 - math.min(layout.width(where), room))
  return name .. "  " ..
         paint("dim", layout.cutstart(where, n - 2 - layout.width(name)))
end

--- Returns the text "file:line  function" of a row in n columns. Cuts the start of the file's path and the
-- middle of the function's name; the end of the path has precedence over the function's name.
function M.ofline(row, n, paint)
  local name, where = nameof(row), layout.clean(whereof(row))
  local room = math.min(n, math.max(layout.width(lastname(where)) + 2, n - n // 2,
                                    n - 2 - layout.width(name)))
  if layout.width(where) > room and n - 2 - room < 3 then
    return layout.cutstart(where, n)
  end
  where = layout.cutstart(where, room)
  local left = n - 2 - layout.width(where)
  return left < 1 and where
         or where .. "  " .. paint("dim", layout.cutmiddle(name, left))
end

--- Returns the minimum width for a column of labels. It is wide enough to show "file:line" without folders,
-- and a part of the function's name. It does not exceed two fifths of 'width', unless layout.LEAST is more.
-- 'named': true: labels start with the function's name (M.offunction).
function M.least(width, rows, named)
  local most = 0
  for _, row in ipairs(rows) do
    if row.file and not isplaceless(row) then
      local last = layout.width(lastname(layout.clean(whereof(row)))) + 2
      local name = layout.width(nameof(row))
      most = math.max(most, last + 2 + math.min(named and 12 or 5, name))
    end
  end
  return math.max(layout.LEAST, math.min(most, width * 2 // 5))
end

return M
