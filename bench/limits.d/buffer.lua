-- SPDX-License-Identifier: MIT
-- Each round creates rows, and joins lines in a buffer that comes from lua_Alloc because it is too long for
-- the C stack.
for _ = 1, 30 do
  local rows, lines = {}, {}
  for i = 1, 100 do rows[i] = { id = i, name = "n" .. i } end
  for i = 1, 60 do lines[i] = "a line of text with a number " .. i end
  assert(#rows == 100 and #table.concat(lines, "\n") > 1800)
end
