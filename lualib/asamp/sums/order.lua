-- SPDX-License-Identifier: MIT
-- The order of rows, as table.sort asks for it.

local M = {}

--- By the first of the keys in which two rows differ. Of a key with "-" before it the
-- larger value comes first, of any other the smaller one.
function M.by(...)
  local keys, falling = {...}, {}
  for i, key in ipairs(keys) do
    falling[i] = key:sub(1, 1) == "-"
    keys[i] = falling[i] and key:sub(2) or key
  end
  return function(a, b)
    for i, key in ipairs(keys) do
      local x, y = a[key], b[key]
      if x ~= y then
        if falling[i] then
          return x > y
        end
        return x < y
      end
    end
    return false
  end
end

--- Of numbers: by their values in a list, the largest first, then the smaller number.
function M.values(list)
  return function(a, b)
    if list[a] ~= list[b] then
      return list[a] > list[b]
    end
    return a < b
  end
end

return M
