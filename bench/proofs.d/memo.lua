-- SPDX-License-Identifier: MIT
-- A function keeps all of its results in a table, which never shrinks.
-- The code in the next line removes the leaked reference (bench/proofs).
-- cut: debug.setupvalue(square, 1, nil)
local square
do
  local results = {}
  function square(n)
    local r = results[n]
    if not r then
      r = {value = n * n, text = "square of " .. n}
      results[n] = r
    end
    return r
  end
end

local n = 0
for i = 1, 40000 do n = n + square(i).value end
print(n)
