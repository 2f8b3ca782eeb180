-- SPDX-License-Identifier: MIT
-- Each step creates a longer string and drops the previous one.
local text = ""
for i = 1, 400 do text = text .. "a line of text with the number " .. i .. "\n" end
assert(#text > 12000)
