-- SPDX-License-Identifier: MIT
-- Compares the values that asamp heap and the loader of Chrome's DevTools read from one snapshot, for
-- bench/devtools. Prints a Markdown table.

local root, work, script = table.unpack(arg, 1, 3)
local heap = require "profiler.heap"

local OBJECTS = [[
  local profiler = require "profiler"
  local path, n = ...
  assert(profiler.alloc_start(4096, {out = path .. ".vmprof", overwrite = true}))
  local Session, kept = {__name = "Session"}, {}
  for i = 1, n // 4 do  -- shared, chained and circular objects
    local s = setmetatable({id = "session " .. i, before = kept[i - 1], all = kept}, Session)
    kept[i] = s
    s.close = function() return s, kept[i // 2] end
  end
  collectgarbage()
  assert(profiler.snapshot(path, {wait = true, overwrite = true}))
]]

local objects, path = 100000, nil
local i = 4
while arg[i] do
  if arg[i] == "--objects" then
    objects, i = math.tointeger(tonumber(arg[i + 1])), i + 1
  else
    path = arg[i]
  end
  i = i + 1
end

local function run(line)
  local pipe = assert(io.popen(line))
  local text = pipe:read "a"
  assert(pipe:close(), line)
  return text
end

if not path then
  path = work .. "/x.heap"
  local file = assert(io.open(work .. "/x.lua", "w"))
  file:write(OBJECTS)
  file:close()
  run(("'%s/build/bin/lua' '%s/x.lua' '%s' %d"):format(root, work, path, objects))
end
local converted = work .. "/x.heapsnapshot"
run(("'%s/build/bin/asamp' convert --to heapsnapshot --out '%s' '%s'"):format(root, converted, path))

local h = assert(heap.open(path))
local info, retained, ids, taken = h:info(), {}, {}, {}
for _, object in ipairs(h:objects{n = 250}) do
  local id = (object.address >> 3 & 0x3fffffff) << 1 | 1
  -- if several objects have the same id, only the first one is compared
  if not taken[id] then
    ids[#ids + 1] = id
  end
  taken[id], retained[id] = true, object.retained
end
local out = run(("node --max-old-space-size=8000 '%s' '%s' %s"):format(script, converted,
                                                                      table.concat(ids, ",")))
local nodes, self, whole = out:match "^(%d+) (%d+) (%d+)\n"
local same, seen = 0, 0
for id, n in out:gmatch "\n(%d+) (%d+)" do
  seen = seen + 1
  same = same + (retained[math.tointeger(id)] == math.tointeger(n) and 1 or 0)
end

print "| figure | asamp heap | DevTools |"
print "| --- | ---: | ---: |"
print(("| nodes, with the state | %d | %s |"):format(info.objects + 1, nodes))
print(("| bytes of their own | %d | %s |"):format(info.bytes, self))
print(("| retained by the root | %d | %s |"):format(info.bytes, whole))
print(("| of %d objects that retain most, the same bytes | | %d |"):format(#ids, same))
local equal = tonumber(nodes) == info.objects + 1 and tonumber(self) == info.bytes and
              tonumber(whole) == info.bytes and same == #ids and seen == #ids
os.exit(equal and 0 or 1)
