-- SPDX-License-Identifier: MIT
-- Appends to a string. Each step creates a longer string, and the previous one becomes garbage.
local text = ""
for i = 1, 400 do text = text .. "a line of text with the number " .. i .. "\n" end
assert(#text > 12000)
