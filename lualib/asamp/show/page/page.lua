-- SPDX-License-Identifier: MIT
-- Inserts data into the template of the page of `asamp view`, which `view/build` makes. The data are JSON
-- without "<". So no name or source line can end the page's script element or start another one:
--
--   VP1  Data of a profile or a source file are in the page only as numbers or in JSON strings.

local json = require "asamp.show.json"

local M = {}

local MARK = "@DATA@"

function M.fill(template, columns)
  local from, to = template:find(MARK, 1, true)
  local out = {template:sub(1, from - 1)}
  json.embed(out, columns)
  out[#out + 1] = template:sub(to + 1)
  return table.concat(out)
end

return M
