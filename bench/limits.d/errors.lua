-- SPDX-License-Identifier: MIT
-- Raises errors whose message is a traceback, and errors whose value is a table.
local function failing(n)
  if n == 0 then error("a message of some length", 0) end
  failing(n - 1)
  return n
end
for i = 1, 150 do
  local _, text = xpcall(failing, debug.traceback, 30)
  local _, value = pcall(error, { code = i })
  assert(#text > 200 and value.code == i)
end
