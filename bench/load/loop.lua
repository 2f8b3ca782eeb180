-- SPDX-License-Identifier: MIT
-- The smallest program that allocates: a loop creates a list cell and drops the previous one. 'size' is the
-- number of cells in thousands.

local function run(thousands)
  local last, sum = { value = 0 }, 0
  for i = 1, 1000 * thousands do
    local cell = { value = i, previous = last.value }
    sum = sum + cell.previous
    last = cell
  end
  return sum
end

return {
  about = "cells made in a loop and dropped",
  size = 14000, small = 100, tiny = 1,
  run = run,
}
