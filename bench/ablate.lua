-- SPDX-License-Identifier: MIT
-- The programs with which bench/ablate measures pauses. `lua bench/ablate.lua NAME [SIZE]` runs one of
-- them, and prints the CPU time of its longest step in seconds. Each program is a function of its size,
-- loads.NAME. It returns three values: the step, a function that is called repeatedly; the number of calls;
-- a value that must stay alive until the last call.

local loads = {}

-- Each step adds 16 new string keys to a table.
function loads.new_keys(size)
  local t, n = {}, 0
  return function()
    for _ = 1, 16 do n = n + 1; t["key" .. n] = true end
  end, size // 16, t
end
loads.new_keys_size = 1200000

-- Fills a table with size / 4 string keys. Each step replaces the 16 oldest keys by new ones.
function loads.replaced_keys(size)
  local t, live = {}, size // 4
  local n = live
  for i = 1, live do t["key" .. i] = true end
  return function()
    for _ = 1, 16 do
      n = n + 1
      t["key" .. n], t["key" .. n - live] = true, nil
    end
  end, size // 16, t
end
loads.replaced_keys_size = 2000000

-- Stores 'size' objects in ten tables with weak values. All objects die before the first step. Each step
-- creates 32 short-lived tables.
function loads.dead_values(size)
  local weak, values = {}, {}
  for i = 1, 10 do weak[i] = setmetatable({}, { __mode = "v" }) end
  for i = 1, size do
    values[i] = { i }
    weak[i % 10 + 1][i + 0.5] = values[i]
  end
  collectgarbage()
  for i = size, 1, -1 do values[i] = nil end
  local last
  return function()
    for i = 1, 32 do last = { last and i } end
  end, size // 8, weak
end
loads.dead_values_size = 1000000

-- Each step is a full collection. The heap has 'size' pairs of small tables, one of which refers to the
-- other.
function loads.full_collections(size)
  local t = {}
  for i = 1, size do t[i] = { i, { i } } end
  return function() collectgarbage() end, 10, t
end
loads.full_collections_size = 100000

-- Each step creates 16 userdata of 'bytes' bytes with a finalizer. The last 'kept' userdata stay alive, and
-- so do 100,000 small tables. The environment variable USERDATA is the path of the compiled
-- bench/userdata.c.
local function userdata(steps, bytes, kept)
  local new = assert(package.loadlib(os.getenv "USERDATA", "luaopen_userdata"))()
  local live, ring, n = {}, {}, 0
  for i = 1, 100000 do live[i] = { i } end
  return function()
    for _ = 1, 16 do
      n = n + 1
      local one = new(bytes)
      if kept > 0 then ring[n % kept + 1] = one end
    end
  end, steps, { live, ring }
end

-- Creates userdata of 1,000 bytes that become garbage immediately, as database cursors do.
function loads.cursors(size)
  return userdata(size, 1000, 0)
end
loads.cursors_size = 50000

-- Creates small userdata, as for file handles. Each one lives until 1,000 others were created.
function loads.handles(size)
  return userdata(size, 16, 1000)
end
loads.handles_size = 50000

-- Each step swaps 256 pairs of elements of an old table with 'size' elements, and allocates one small
-- table.
function loads.swapped(size)
  local t, x, last = {}, 1, nil
  for i = 1, size do t[i] = { i } end
  collectgarbage()
  return function()
    for _ = 1, 256 do
      x = (x * 1103515245 + 12345) & 0x7FFFFFFF
      local i, k = x % size + 1, (x >> 8) % size + 1
      t[i], t[k] = t[k], t[i]
    end
    last = { last and x }
  end, 10 * size // 256, t
end
loads.swapped_size = 1000000

local name = arg[1]
if not loads[name] then
  io.stderr:write(("ablate.lua: no load %q; see %s\n"):format(tostring(name), arg[0]))
  os.exit(2)
end
local step, steps, kept = loads[name](math.tointeger(arg[2]) or loads[name .. "_size"])
local clock, longest = os.clock, 0
for _ = 1, steps do
  local start = clock()
  step()
  local time = clock() - start
  if time > longest then longest = time end
end
print(("longest %.6f"):format(longest))
os.exit(kept ~= nil, false)
