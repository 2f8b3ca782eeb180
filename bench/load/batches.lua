-- SPDX-License-Identifier: MIT
-- A heap of 16 MB is created and dropped again and again, as in a server that does so for each request. If
-- a collector returns the pages to the system each time, the system has to clear them again. 'size' is the
-- number of heaps; each consists of a thousand arrays.

local function run(size)
  local sum = 0
  for _ = 1, size do
    local rows = {}
    for i = 1, 1000 do
      local row = {}
      for k = 1, 500 do row[k] = k end
      rows[i] = row
    end
    sum = (sum + #rows * rows[7][500]) % 1000003
  end
  return sum
end

return {
  about = "a heap of 16 MB made and dropped, over and over",
  size = 100, small = 4, tiny = 1,
  run = run,
}
