-- SPDX-License-Identifier: MIT
-- A workload that is hard for some collectors: objects with finalizers. Most die young, one in fifty lives
-- in a ring of slots, and one in a thousand is resurrected by its finalizer. The result is the number of
-- finalizer calls: one for every dropped object. 'size' is the number of objects.

local SLOTS = 500

local function make(count, Handle)
  local ring = {}
  for i = 1, count do
    local handle = setmetatable({ id = i }, Handle)
    if i % 50 == 0 then ring[i // 50 % SLOTS + 1] = handle end
  end
  assert(next(ring) or count < 50)
end

local function run(count)
  local calls, sum, saved = 0, 0, {}
  local Handle = {}
  function Handle.__gc(handle)
    calls, sum = calls + 1, sum + handle.id
    if handle.id % 1000 == 0 then saved[#saved + 1] = handle end
  end
  make(count, Handle)
  collectgarbage()
  collectgarbage()
  return ("%d calls, sum %d, %d saved"):format(calls, sum, #saved)
end

return {
  about = "objects with finalizers, most of them short-lived",
  size = 3000000, small = 100000, tiny = 100,
  run = run,
}
