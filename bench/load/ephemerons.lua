-- SPDX-License-Identifier: MIT
-- A workload that is hard for some collectors: a table with weak keys maps objects to their properties.
-- Each value refers to its own key, and most values also to the previous key. Most objects die; the last
-- WINDOW objects stay alive. 'size' is the number of objects. The result is the number of entries that are
-- left after two full collections.

local WINDOW = 2000

local function fill(properties, held, count)
  local previous
  for i = 1, count do
    local object = { i }
    properties[object] = { owner = object, neighbour = i % 8 ~= 0 and previous or nil }
    held[i % WINDOW + 1] = object
    previous = object
  end
end

local function survey(properties)
  local entries, sum = 0, 0
  for object, property in pairs(properties) do
    assert(property.owner == object)
    entries, sum = entries + 1, sum + object[1]
  end
  return entries, sum
end

local function run(count)
  local properties, held = setmetatable({}, { __mode = "k" }), {}
  fill(properties, held, count)
  collectgarbage()
  collectgarbage()
  local entries, sum = survey(properties)
  assert(#held == math.min(WINDOW, count) or count < WINDOW)
  return ("%d entries, sum %d"):format(entries, sum)
end

return {
  about = "weak-keyed table whose values refer to keys",
  size = 1500000, small = 40000, tiny = 100,
  run = run,
}
