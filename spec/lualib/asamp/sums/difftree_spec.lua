-- SPDX-License-Identifier: MIT
-- Two profiles combined to one call tree (asamp.sums.difftree): the amounts of both profiles at each node,
-- and which differences are more than chance.

local difftree = require "asamp.sums.difftree"
local gen = require "profilegen"
local reader = require "profiler.reader"
local totals = require "asamp.sums.totals"

-- Returns a profile. Each element of 'samples' is {number of samples, function and line of each frame,
-- innermost first}. 'time' has time samples in the same form.
local function profile(samples, time, options)
  local path = os.tmpname()
  local p = assert(gen.open{path = path, period = 1 << 20, random = true, followed = 100,
                            timeperiod = 1000000, wall = options and options.wall})
  local shift = options and options.shift or 0
  p:name(8, "main chunk", 0, "@app.lua")
  p:name(16, "load", 10 + shift, "@app.lua")
  p:name(24, options and options.third or "work", 20 + shift, "@app.lua")
  local n = 0
  for _, s in ipairs(samples) do
    for _ = 1, s[1] do
      n = n + 1
      p:sample(table.move(s, 2, #s, 1, {kind = 0, size = s.size or 64}))
    end
  end
  p:collection{fates = ("1"):rep(n)}
  for _, s in ipairs(time or {}) do
    for _ = 1, s[1] do p:time(table.move(s, 2, #s, 1, {})) end
  end
  assert(p:close())
  local read = assert(reader.read(path))
  os.remove(path)
  return read, totals.of(read)
end

local function compared(pa, a, pb, b, limit)
  return difftree.of(pa, a, pb, b, difftree.measures(pa, a, pb, b), limit or 1000)
end

-- Returns the nodes of a measure by their path in the tree. Each is {a, b, noise}, where 'noise' is true if
-- the difference may be chance.
local function bypath(found, key)
  local out, paths = {}, {[0] = ""}
  for _, m in ipairs(found.measures) do
    if m.key == key then
      for i, fn in ipairs(found.nodes.fn) do
        paths[i] = paths[found.nodes.parent[i]] .. "/" .. found.functions[fn].name
        local row = m.nodes[i]
        out[paths[i]] = {row.a, row.b, row.noise}
      end
    end
  end
  return out
end

describe("two profiles as one call tree", function()
  -- a C function with which all stacks start
  local C = {0x1001, 0}

  local function stack(n, ...)
    local s = {n, ...}
    table.move(C, 1, 2, #s + 1, s)
    return s
  end

  it("have the amounts of both, and the frames of one alone", function()
    local pa, a = profile({stack(300, 16, 11, 8, 1), stack(100, 24, 21, 8, 1)}, {stack(40, 8, 1)})
    local pb, b = profile({stack(600, 16, 11, 8, 1), stack(50, 16, 12, 16, 11, 8, 1)}, {stack(90, 8, 1)})
    local found = compared(pa, a, pb, b)
    local M = 1 << 20
    assert.same({
      ["/main chunk"] = {400 * M, 650 * M, true}, ["/main chunk/load"] = {300 * M, 650 * M, false},
      ["/main chunk/work"] = {100 * M, 0, false}, ["/main chunk/load/load"] = {0, 50 * M, false},
    }, bypath(found, "bytes"))
    -- live bytes are compared as amounts, not as shares
    assert.same({400 * M, 650 * M, false}, bypath(found, "alive")["/main chunk"])
    assert.same({40, 90, true}, bypath(found, "time")["/main chunk"])
    local keys = {}
    for i, m in ipairs(found.measures) do keys[i] = m.key end
    assert.same({"bytes", "blocks", "alive", "time"}, keys)
  end)

  it("know a function again that has moved in its file", function()
    local pa, a = profile{stack(100, 16, 11, 8, 1), stack(100, 24, 21, 8, 1)}
    local pb, b = profile({stack(90, 16, 14, 8, 1), stack(100, 24, 24, 8, 1)}, nil, {shift = 3})
    local nodes = bypath(compared(pa, a, pb, b), "bytes")
    assert.same({100 << 20, 90 << 20, true}, nodes["/main chunk/load"])
    assert.is_nil(nodes["/main chunk/load/load"])
  end)

  it("count blocks apart from bytes: smaller blocks are more of them", function()
    local few = stack(400, 16, 11, 8, 1)
    local pa, a = profile{few, stack(400, 24, 21, 8, 1)}
    local pb, b = profile{{size = 4096, table.unpack(few)}, stack(400, 24, 21, 8, 1)}
    local found = compared(pa, a, pb, b)
    assert.is_true(bypath(found, "bytes")["/main chunk/load"][3])
    local blocks = bypath(found, "blocks")
    assert.same({true, false}, {blocks["/main chunk"][3], blocks["/main chunk/load"][3]})
  end)

  it("compare no CPU time with wall time, and nothing where nothing is common", function()
    local pa, a = profile({stack(10, 8, 1)}, {stack(40, 8, 1)})
    local pb, b = profile({}, {stack(40, 8, 1)}, {wall = true})
    assert.same({}, difftree.measures(pa, a, pb, b))
  end)

  it("are bounded, the largest frames first", function()
    local pa, a = profile{stack(100, 16, 11, 8, 1), stack(10, 24, 21, 8, 1)}
    local found = compared(pa, a, pa, a, 2)
    assert.equal(1, found.left)
    assert.is_nil(bypath(found, "bytes")["/main chunk/work"])
  end)

  -- 30 pairs of runs of the same program. By chance, at most 0.3% of the nodes may differ by 3 standard
  -- errors.
  it("are grey where only chance differs, coloured where a share went from a tenth to a fifth", function()
    math.randomseed(5)
    local function drawn(n, part)
      local work = 0
      for _ = 1, n do work = work + (math.random() < part and 1 or 0) end
      return profile{stack(n - work, 16, 11, 8, 1), stack(work, 24, 21, 8, 1)}
    end
    local colored, found = 0, 0
    for _ = 1, 30 do
      local pa, a = drawn(800, 0.1)
      local pb, b = drawn(1400, 0.1)
      local pc, c = drawn(1400, 0.2)
      for _, node in pairs(bypath(compared(pa, a, pb, b), "bytes")) do
        colored = colored + (node[3] and 0 or 1)
      end
      found = found + (bypath(compared(pa, a, pc, c), "bytes")["/main chunk/work"][3] and 0 or 1)
    end
    assert.is_true(colored <= 1, colored)
    assert.is_true(found >= 28, found)
  end)
end)
