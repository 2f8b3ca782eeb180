-- SPDX-License-Identifier: MIT
-- A page with data in it: the template that `view/build` makes of view/ in, the
-- page out. Pure. Data are embedded as JSON in which no "<" is left, so that
-- nothing in a name or in a source line can end the element or begin another:
--   VP1  no byte of a profile or a source file reaches the page but as the
--        content of a JSON string or as a number.

local json = require "asamp.show.json"

local M = {}

local MARK = "@DATA@"

--- The page with the data in it.
function M.fill(template, columns)
  local from, to = template:find(MARK, 1, true)
  local out = {template:sub(1, from - 1)}
  json.embed(out, columns)
  out[#out + 1] = template:sub(to + 1)
  return table.concat(out)
end

return M
