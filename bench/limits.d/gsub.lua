-- SPDX-License-Identifier: MIT
-- Calls gsub with a replacement function. The result grows in a buffer.
local page = ("name=$name; value=$value; "):rep(100)
for i = 1, 20 do
  local text = page:gsub("%$(%w+)", function(name) return name:upper() .. i end)
  assert(#text > 2000)
end
