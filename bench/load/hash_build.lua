-- SPDX-License-Identifier: MIT
-- Tables with computed string keys, h["k" .. i], are grown from empty, read and dropped. 'size' is the
-- number of tables, each with a thousand keys.

local KEYS = 1000

local function build(round)
  local h = {}
  for i = 1, KEYS do h["k" .. (i * 7 + round) % 5000] = i end
  return h
end

local function run(tables)
  local sum, found = 0, 0
  for round = 1, tables do
    local h = build(round)
    for i = 1, KEYS do
      local value = h["k" .. i]
      if value then sum, found = sum + value, found + 1 end
    end
  end
  return ("%d found, sum %d"):format(found, sum)
end

return {
  about = [[h["k" .. i] built and read back]],
  size = 2200, small = 80, tiny = 2,
  run = run,
}
