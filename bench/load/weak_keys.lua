-- SPDX-License-Identifier: MIT
-- A table with weak keys. 300,000 keys are old and referenced from elsewhere; others are added and die. A
-- collector that visits the whole table in every minor collection pays for all entries each time. 'size' is
-- the number of added keys.

local HELD = 300000

local function run(size)
  local extra, held = setmetatable({}, { __mode = "k" }), {}
  for i = 1, HELD do
    local key = {}
    held[i], extra[key] = key, i
  end
  local sum = 0
  for i = 1, size do
    local key = {}
    extra[key] = i
    sum = (sum + extra[key] + extra[held[i % HELD + 1]]) % 1000003
  end
  return sum
end

return {
  about = "weak keys that come and go, and many old ones",
  size = 2000000, small = 20000, tiny = 100,
  run = run,
}
