-- SPDX-License-Identifier: MIT
-- The lines of a log are kept as strings until they are written, but they are never written or removed.
-- cut: writer.lines = nil
local writer = {lines = {}}

local function log(i)
  writer.lines[#writer.lines + 1] = ("2030-01-01 00:00:00 [info] request %08d has ended"):format(i)
end

for i = 1, 60000 do log(i) end
print(#writer.lines)
