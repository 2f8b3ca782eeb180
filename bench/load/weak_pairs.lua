-- SPDX-License-Identifier: MIT
-- A table with weak keys and weak values. 300,000 entries are old and referenced from elsewhere; others are
-- added and die. A collector that visits the whole table in every minor collection pays for all entries
-- each time. 'size' is the number of added entries.

local HELD = 300000

local function run(size)
  local pairs_, keys = setmetatable({}, { __mode = "kv" }), {}
  local values = {}  -- luacheck: ignore 241 (keeps them)
  for i = 1, HELD do
    local key, value = {}, { i }
    keys[i], values[i], pairs_[key] = key, value, value
  end
  local sum = 0
  for i = 1, size do
    local key = {}
    local value = { i }
    pairs_[key] = value
    sum = (sum + pairs_[key][1] + pairs_[keys[i % HELD + 1]][1]) % 1000003
  end
  return sum
end

return {
  about = "pairs of weak keys and values that come and go, and many old ones",
  size = 1500000, small = 20000, tiny = 100,
  run = run,
}
