-- SPDX-License-Identifier: MIT
-- Creates linked lists of closures. Each closure refers to the previous one by an upvalue.
for _ = 1, 10 do
  local first
  for i = 1, 500 do
    local previous = first
    first = function() return i, previous end
  end
  assert(first() == 500)
end
