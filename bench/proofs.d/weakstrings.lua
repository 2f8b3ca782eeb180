-- SPDX-License-Identifier: MIT
-- A cache with weak keys. Its keys are strings, and Lua never removes strings from weak tables.
local parsed = setmetatable({}, {__mode = "k"})

local function parse(text)
  local words = parsed[text]
  if not words then
    words = {}
    for word in text:gmatch "%a+" do words[#words + 1] = word end
    parsed[text] = words
  end
  return words
end

local n = 0
for i = 1, 30000 do n = n + #parse("a line of text " .. i) end
print(n)
