-- SPDX-License-Identifier: MIT
-- Does the measurements of bench/heap and prints Markdown. A program with a large heap takes snapshots of
-- the heap, and searches for the holders of sampled objects. Then asamp heap reads a snapshot.

local start = dofile(arg[1] .. "/bench/runner/start.lua") "bench/heap"
local root, work, fork = start.root, start.work, table.remove(start.arguments, 1)
local found = start.options "objects bytes rounds fork"
local options = {objects = start.positive(found, "objects", 4000000),
                 bytes = start.positive(found, "bytes", 1 << 30), rounds = start.positive(found, "rounds", 5)}

local PROGRAM = [[
  local profiler, core = require "profiler", require "profiler.core"
  local objects, bytes, rounds, path = ...
  objects, bytes, rounds = objects // 1, bytes // 1, rounds // 1
  local keep, size = {}, math.max((bytes - objects * 104) // objects - 32, 8)
  local pad = ("x"):rep(size - 8)
  for i = 1, objects do keep[i] = {name = pad .. i, next = keep[i - 1]} end
  collectgarbage() collectgarbage()
  local function clock()
    local f = io.open("/proc/uptime")
    local n = f:read "n"
    f:close()
    return n
  end
  local t = os.clock()
  collectgarbage()
  print("inuse", collectgarbage "count" * 1024)
  print("full", os.clock() - t)
  for _ = 1, rounds do
    local s = assert(profiler.snapshot(path, {overwrite = true}))
    print("stopped", s.stopped, s.forked)
    repeat  -- the file is locked while it is written
      os.execute "sleep 0.2"
    until os.execute(("flock -n '%s' true"):format(path))
  end
  local before = clock()
  assert(profiler.snapshot(path, {overwrite = true, wait = true}))
  print("child", clock() - before)
  assert(profiler.alloc_start(1 << 16, {out = path .. ".vmprof", overwrite = true,
    holders = false}))
  local more = {}
  for i = 1, 400000 do more[i] = {i, tostring(i)} end
  collectgarbage()
  t = os.clock()
  collectgarbage()
  print("full", os.clock() - t)
  t = os.clock()
  print("samples", profiler.holders())
  print("holders", os.clock() - t)
  profiler.disable()
  local core, reader = require "profiler.core", require "profiler.reader"
  assert(core.open{out = path .. ".vmprof", number = 1, replace = 2, period = 1 << 16,
    holdersevery = 1, native = false})
  core.on(1 << 16, false)
  for _ = 1, 10 do
    for i = 1, 400000 do more[i] = {i, tostring(i)} end
    collectgarbage()
    os.execute "sleep 0.5"  -- a child looks
  end
  assert(core.close())
  local p = assert(reader.read(path .. ".vmprof"))
  print("asked", p.walked / 1e6 / p.walks)
  os.exit(true)
]]

local script, path = work .. "/heap.lua", work .. "/x.heap"
local file = assert(io.open(script, "w"))
file:write(PROGRAM)
file:close()
local pipe = assert(io.popen(("'%s' '%s' %d %d %d '%s'"):format(fork, script, options.objects,
  options.bytes, options.rounds, path)))
local got = {}
for line in pipe:lines() do
  local key, value = line:match "^(%l+)\t([%d.e+-]+)"
  got[key] = got[key] or {}
  table.insert(got[key], tonumber(value))
end
assert(pipe:close(), "the program has failed")
table.sort(got.stopped)

local reader = assert(io.popen(("/usr/bin/env time -f '%%e %%M' '%s/build/bin/asamp' heap '%s' " ..
  "2>&1 >/dev/null"):format(root, path)))
local seconds, kib = reader:read "a":match "([%d.]+) (%d+)\n$"
reader:close()
local info = assert(require "profiler.heap".open(path)):info()
local size = assert(io.open(path)):seek "end"

print(("A heap of %.2f GiB, %d objects and %d references."):format(
  got.inuse[1] / (1 << 30), info.objects, info.references))
print()
print "| what | |"
print "| --- | ---: |"
print(("| the program stands still, median of %d | %.1f ms |"):format(#got.stopped,
  1000 * got.stopped[(#got.stopped + 1) // 2]))
print(("| until it is written | %.1f s |"):format(got.child[1]))
print(("| the file | %.1f MiB |"):format(size / (1 << 20)))
print(("| `asamp heap` | %s s, %s MiB |"):format(seconds or "?", kib and kib // 1024 or "?"))
print(("| a full collection | %.2f s |"):format(got.full[2]))
print(("| holders of %d samples | %.2f s |"):format(got.samples[1], got.holders[1]))
print(("| ... of a child, every so often: the program stands still, mean | %.1f ms |"):format(
  1000 * got.asked[1]))
