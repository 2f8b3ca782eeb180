-- SPDX-License-Identifier: MIT
-- Comparison functions for table.sort.

local M = {}

--- Returns a comparison function for rows: it compares by the first of the keys '...' in which two rows
-- differ. A key with the prefix "-" sorts larger values first, any other key smaller ones.
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

--- Returns a comparison function for indices of a list: the index with the larger value is first. If two
-- values are equal, the smaller index is first.
function M.values(list)
  return function(a, b)
    if list[a] ~= list[b] then
      return list[a] > list[b]
    end
    return a < b
  end
end

return M
