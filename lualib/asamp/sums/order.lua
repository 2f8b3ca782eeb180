-- SPDX-License-Identifier: MIT
-- The order of rows, as table.sort asks for it.

local M = {}

--- By the first of the keys in which two rows differ: the larger value of the first key
-- comes first, the smaller one of the others.
function M.largest(first, ...)
  local others = {...}
  return function(a, b)
    if a[first] ~= b[first] then
      return a[first] > b[first]
    end
    for _, key in ipairs(others) do
      if a[key] ~= b[key] then
        return a[key] < b[key]
      end
    end
    return false
  end
end

return M
