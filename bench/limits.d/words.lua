-- SPDX-License-Identifier: MIT
-- Splits a text into words and counts them.
local text = {}
for i = 1, 1500 do text[i] = "word" .. i * 7919 % 613 end
text = table.concat(text, " ")
for _ = 1, 3 do
  local count = {}
  for word in text:gmatch "%w+" do count[word] = (count[word] or 0) + 1 end
  assert(count.word0 > 0)
end
