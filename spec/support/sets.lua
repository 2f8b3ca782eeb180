-- SPDX-License-Identifier: MIT
-- Sets whose members are the keys of a table, for specs that compare two lists.

local M = {}

--- Returns the set of all captures of a pattern in a text.
function M.captured(text, pattern)
  local s = {}
  for word in text:gmatch(pattern) do s[word] = true end
  return s
end

-- Returns the sorted list of members of set a that are not in set b. b = nil is the empty set.
function M.sorted(a, b)
  local list = {}
  for v in pairs(a) do
    if not b or not b[v] then list[#list + 1] = v end
  end
  table.sort(list)
  return list
end

return M
