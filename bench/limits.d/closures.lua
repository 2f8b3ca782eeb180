-- SPDX-License-Identifier: MIT
-- Lists of closures, each of which shares an upvalue with the previous one.
for _ = 1, 10 do
  local first
  for i = 1, 500 do
    local previous = first
    first = function() return i, previous end
  end
  assert(first() == 500)
end
