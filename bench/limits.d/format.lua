-- SPDX-License-Identifier: MIT
-- Formats lines of numbers and strings of up to 2,000 bytes.
local long = ("x"):rep(2000)
for i = 1, 800 do
  local text = ("%d %5.2f %q %s"):format(i, i / 3, "quoted " .. i, long:sub(1, i * 13 % 2000))
  assert(#text > 10)
end
