-- SPDX-License-Identifier: MIT
-- Sets, whose members are keys, for specs of what is listed in two places.

local M = {}

--- All captures of a pattern in a text.
function M.captured(text, pattern)
  local s = {}
  for word in text:gmatch(pattern) do s[word] = true end
  return s
end

--- What is in a and not in b (nothing), in order.
function M.sorted(a, b)
  local list = {}
  for v in pairs(a) do
    if not b or not b[v] then list[#list + 1] = v end
  end
  table.sort(list)
  return list
end

return M
