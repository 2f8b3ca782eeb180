-- SPDX-License-Identifier: MIT
-- Functions and lines of a program in so many columns of text: names are cut
-- where least is lost. Pure. A 'row' has name, file, line and native, 'paint' is
-- as of layout.painter.

local layout = require "asamp.show.layout"
local totals = require "asamp.sums.totals"

local M = {}

-- "file:line" of a Lua function or line, "[C] library" of a native one.
local function whereof(row)
  if row.native then
    local library = row.file:match "([^/]+)$"
    return (library == "-" or not library) and "[C]" or "[C] " .. library
  elseif row.file == "-" then
    return "?"
  end
  return row.line > 0 and row.file .. ":" .. row.line or row.file
end

-- The name of a function. Of code without a name it has the library, which whereof has, too: the
-- place in that stays, which distinguishes such functions.
local function nameof(row)
  local name = layout.clean(row.name)
  local library, place = name:match "^(.*)(%+0x%x+)$"
  return row.native and library == layout.clean(row.file:match "([^/]*)$") and place or name
end

-- Returns true for a row that is no code, and has no place.
local function isplaceless(row)
  return totals.iscollection(row) or totals.istailcalls(row)
end

-- The last name of a place, which is never cut.
local function lastname(where)
  return where:match "([^/]*)$"
end

--- A function and its place in n columns: the start and the end of the name, and of the place
-- the end, its last name before the rest of the function's.
function M.offunction(row, n, paint)
  local name = nameof(row)
  if isplaceless(row) then
    return layout.cutend(name, n)
  end
  local where = layout.clean(whereof(row))
  local room = n - 2 - math.min(layout.width(name), 8, n // 3)
  room = math.min(math.max(layout.width(lastname(where)) + 2, n // 2), room)
  name = layout.cutmiddle(name, n - 2 - math.min(layout.width(where), room))
  return name .. "  " ..
         paint("dim", layout.cutstart(where, n - 2 - layout.width(name)))
end

--- A line and the function it is in, in n columns; the file's name goes before
-- the function's.
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

--- Columns for the labels of rows, so that the last names of their places can be seen;
-- 'named': the name of a function stands before that.
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
