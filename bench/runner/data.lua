-- SPDX-License-Identifier: MIT
-- Writes data files for plots. The first line of a file has the column titles, each other line is a row.
-- Fields are separated by tabs. "?" is a missing value.

local data = {}

-- Returns the text of a data file. 'rows' is a list of rows, each a list of fields.
function data.text(header, rows)
  local lines = { table.concat(header, "\t") }
  for i, row in ipairs(rows) do lines[i + 1] = table.concat(row, "\t") end
  return table.concat(lines, "\n") .. "\n"
end

-- Writes a data file. Returns true, or nil and a message.
function data.write(path, header, rows)
  local file, reason = io.open(path, "w")
  if not file then return nil, ("cannot write data: %s; make the folder of --data"):format(reason) end
  file:write(data.text(header, rows))
  file:close()
  return true
end

return data
