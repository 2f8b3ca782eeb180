-- SPDX-License-Identifier: MIT
-- The allocation sampler, compared with a model that predicts every sample: the number of sample points
-- that each action passes, the distance to the next one, and the record of each sample in the file.
-- (sampler_ends_spec.lua has the ends of sessions.)

local core = require "profiler.core"
local fewer = require "spec.support.fewer"
local natives = require "natives"
local reader = require "profiler.reader"
local samples = require "spec.support.samples"
local peers = require "peers"

local function round(n) return (n + 7) & ~7 end

-- Returns the size in bytes of a hash part created for n fields.
local function hashbytes(n)
  local slots = n > 0 and 1 or 0
  while slots < n do slots = 2 * slots end
  return 24 * slots
end

-- Returns a function that runs one table constructor with narray items and nhash fields.
local function constructor(narray, nhash)
  local list = {}
  for i = 1, narray do list[i] = "0" end
  for i = 1, nhash do list[#list + 1] = "x" .. i .. " = 0" end
  return assert(load("return {" .. table.concat(list, ", ") .. "}", "=constructor"))
end

-- {== the model =============================================================

-- Opens a session with fixed intervals and returns a model of it. m.act(name, f, block) runs f and checks
-- its effect on the distance to the next sample point. 'block' is {kind, size, counted} if f allocates
-- exactly one block, and {counted} if only the number of its bytes is known.
local function model(period, seed)
  local m = {path = os.tmpname(), story = {}, expected = {}, bytes = 0, points = 0, seed = seed}
  assert(core.open{out = m.path, period = period, seed = seed})

  function m.fail(...)
    local n = #m.story
    error(("seed %s, action %d: %s after: ... %s"):format(seed, n, string.format(...),
          table.concat(m.story, ", ", math.max(1, n - 15))), 2)
  end

  function m.on(p)
    assert(not m.period)
    m.story[#m.story + 1] = "on " .. p
    core.on(p, false)
    local allocated, distance = core.allocated(), core.distance()
    m.allocated, m.distance = allocated, distance
    m.period, m.span, m.spanpoints, m.pure = p, 0, 0, true
    if m.distance < 1 or m.distance > p then m.fail("first distance %d", m.distance) end
  end

  -- Adds the bytes to the model that the core has counted since the last call, and checks the distance.
  -- Bytes that this function allocates itself are added by the next call.
  local function look(allocated, distance, block)
    if not m.period then
      if distance then m.fail("a distance of %d while off", distance) end
      return
    end
    local new = allocated - m.allocated
    local n = new < m.distance and 0 or 1 + (new - m.distance) // m.period
    local expected = m.distance - new + n * m.period
    if distance ~= expected then
      m.fail("distance %s, not %d (%d new bytes, %d before, period %d)", distance,
             expected, new, m.distance, m.period)
    end
    if block and new ~= block.counted then
      m.fail("%d bytes counted, not %d", new, block.counted)
    end
    m.allocated, m.distance = allocated, distance
    m.points, m.spanpoints = m.points + n, m.spanpoints + n
    m.bytes, m.span = m.bytes + new, m.span + new
    if n > 0 then
      m.expected[#m.expected + 1] = {points = n, block = block}
    end
    if m.pure and math.abs(m.spanpoints * m.period - m.span) >= m.period then
      m.fail("%d points of %d for %d bytes", m.spanpoints, m.period, m.span)
    end
  end

  function m.act(name, f, block)
    m.story[#m.story + 1] = name
    local before, distance = core.allocated(), core.distance()
    f()
    local after, left = core.allocated(), core.distance()
    look(before, distance)
    if m.period then look(after, left, block) end
  end

  -- Checks that the sampler's statistics are those of the model.
  function m.stats()
    local allocated, distance = core.allocated(), core.distance()
    -- 'allocated' and 'distance' are read before this call, because it allocates a table
    local t = core.stats()
    look(allocated, distance)
    if t.samples ~= m.points then m.fail("stats have %d samples, not %d", t.samples, m.points) end
    if t.bytes ~= m.bytes then m.fail("stats have %d bytes, not %d", t.bytes, m.bytes) end
    if t.lost ~= 0 or t.on ~= (m.period ~= nil) then m.fail("stats: lost %d, on %s", t.lost, t.on) end
  end

  -- Changes the period. The distance to the next sample point must stay the same fraction of a period.
  function m.change(p)
    m.story[#m.story + 1] = "period " .. p
    local allocated, before = core.allocated(), core.distance()
    core.period(p)
    local distance = core.distance()
    look(allocated, before)
    local left = math.max(1, math.min((before * p + m.period - 1) // m.period, p))
    if distance ~= left then m.fail("distance %d, not %d, of period %d", distance, left, p) end
    m.period, m.distance, m.pure = p, left, false
  end

  function m.off()
    m.story[#m.story + 1] = "off"
    local allocated, distance = core.allocated(), core.distance()
    core.off()
    look(allocated, distance)
    m.period = nil
    look(0, core.distance())
  end

  -- Ends the session. Checks that the samples in the file are the predicted ones.
  function m.close()
    if m.period then m.off() end
    assert(core.close())
    local list = samples.read(m.path)
    os.remove(m.path)
    m.story[#m.story + 1] = "close"
    if list.points ~= m.points then m.fail("%d points in the file, not %d", list.points, m.points) end
    if list.undecided ~= 0 then m.fail("%d samples without a fate", list.undecided) end
    local at = 1
    for i, e in ipairs(m.expected) do
      local points = 0
      while points < e.points do
        local s = list[at]
        if not s then m.fail("the file ends at %d of %d", i, #m.expected) end
        if s.survived == nil then m.fail("sample %d has no fate", at) end
        -- Large blocks and explicitly freed blocks are allocated outside of the nursery. Blocks of up to
        -- 256 bytes are not. Blocks of other sizes are, if the current hole is too short.
        local apart = s.size > 8192 or s.kind == "proto" or s.kind == "buffer"
        if s.outside ~= apart and (apart or s.size <= 256) then
          m.fail("%s of %d bytes, outside: %s", s.kind, s.size, s.outside)
        end
        points, at = points + s.count, at + 1
        local b = e.block
        -- the class may be missing in the last sample of a collection, which may run before the new table
        -- has its metatable
        local after = list[at]
        local last = not after or after.collection ~= s.collection
        if b and b.kind and s.class ~= b.class and not (s.class == nil and last) then
          m.fail("sample %d is of class %s, not %s", at - 1, s.class, b.class)
        end
        if b and b.kind and (s.kind ~= b.kind or s.size ~= b.size or s.count ~= e.points) then
          m.fail("sample %d is %s of %d bytes, %d times, not %s of %d, %d times", at - 1,
                 s.kind, s.size, s.count, b.kind, b.size, e.points)
        end
      end
      if points ~= e.points then m.fail("%d points, not %d, in step %d", points, e.points, i) end
    end
    return list
  end

  return m
end

-- ==}

-- {== random actions ========================================================

local CLASSES = {{__name = "One"}, {__name = "Two"}, {__name = "Three"}}

-- Each function returns three values: the name of an action, the action (a function that allocates a known
-- number of bytes), and a description of the allocated block. They are the arguments of model.act. Most
-- actions allocate exactly one block.
local KNOWN = {
  function(keep, random)
    local n = random(41, ({100, 3000, 60000})[random(1, 3)])
    local block = {kind = "string", size = round(17 + n)}
    return "string " .. n, function() keep(natives.string(n)) end, block
  end,
  function(keep, random)
    local n, nuv = random(0, ({0, 100, 3000, 60000})[random(1, 4)]), random(0, 2)
    -- an empty userdata has one byte, so that its address differs from that of the next block
    local block = {kind = "userdata", size = round(32 + 16 * nuv + math.max(n, 1))}
    return ("userdata %d %d"):format(n, nuv), function() keep(natives.userdata(n, nuv)) end, block
  end,
  function(keep, random)
    local n = random(1, 15)
    return "closure " .. n, function() keep(natives.closure(n)) end,
      {kind = "C closure", size = 16 + 16 * n}
  end,
  function(keep)
    return "table", function() keep {} end, {kind = "table", size = 40}
  end,
  function(keep, random)
    local i = random(1, #CLASSES)
    return "object " .. i, function() keep(setmetatable({}, CLASSES[i])) end,
      {kind = "table", size = 40, class = CLASSES[i].__name}
  end,
  function(keep, random)
    local i, n = random(1, #CLASSES), random(0, 200)
    return ("userdata of %d %d"):format(i, n),
      function() keep(debug.setmetatable(natives.userdata(n, 0), CLASSES[i])) end,
      {kind = "userdata", size = 32 + round(math.max(n, 1)), class = CLASSES[i].__name}
  end,
  -- a table with its vectors in the same block
  function(keep, random)
    local narray, nhash = random(0, 32), random(0, 32)
    local make = constructor(narray, nhash)
    return ("constructor %d %d"):format(narray, nhash), function() keep(make()) end,
      {kind = "table", size = 40 + 16 * narray + hashbytes(nhash)}
  end,
  -- a constructor of a large table, whose vectors are in blocks of their own
  function(keep, random)
    local narray, nhash = random(0, 100), random(33, 100)
    if random(1, 2) == 1 then narray, nhash = nhash, narray end
    local make = constructor(narray, nhash)
    return ("large constructor %d %d"):format(narray, nhash), function() keep(make()) end,
      {counted = 40 + 16 * narray + hashbytes(nhash)}
  end,
  function(keep, random)
    local narray, nhash = random(0, 40), random(0, 40)
    return ("created %d %d"):format(narray, nhash),
      function() keep(natives.table(narray, nhash)) end,
      {counted = 40 + 16 * narray + hashbytes(nhash)}
  end,
  function(keep)
    return "Lua closure", function() keep(function() return keep end) end,
      {kind = "Lua closure", size = 24}
  end,
  -- grows a vector; only the bytes that are added count
  function(_, random)
    local n = 1 << random(0, ({6, 8, 12})[random(1, 3)])
    local t = {}
    for i = 1, n do t[i] = i end
    return "append to " .. n, function() t[n + 1] = #t end,
      {kind = "table array part", size = 32 * n, counted = 16 * n}
  end,
  function(_, random)
    local n = 1 << random(0, ({5, 7, 11})[random(1, 3)])
    local t = {}
    for i = 1, n do t[-i] = i end
    return "hash beyond " .. n, function() t.more = t end,
      {kind = "table hash part", size = 48 * n}
  end,
  -- shrinks a vector, which counts no bytes; but the node of the new key counts
  function(_, random)
    local t, n = {}, 4096
    for i = 1, n do t[i] = i end
    -- number of remaining elements: many or few
    local left = random(1, 2) == 1 and 2000 or 10
    for i = left + 1, n do t[i] = nil end
    return "shrink to " .. left, function() t.key = #t end,
      {kind = "table hash part", size = 24}
  end,
}

-- Functions that return an action which allocates an unknown number of blocks: its name and function.
local MANY = {
  function(keep, random)
    local n, narray, nhash = random(1, 30), random(0, 40), random(0, 40)
    return ("%d tables %d %d"):format(n, narray, nhash), function()
      for _ = 1, n do keep(natives.table(narray, nhash)) end
    end
  end,
  function(keep, random)
    local n = random(1, 3000)
    return "fill " .. n, function()
      local t = {}
      for i = 1, n do t[random(1, 4) == 1 and i or -i] = {} end
      for k in pairs(t) do if random(1, 2) == 1 then t[k] = nil end end
      keep(t)
    end
  end,
  function(keep, random)
    local n = random(1, 200)
    return "strings " .. n, function()
      for i = 1, n do keep(i .. ":" .. random(1, 1000000)) end
    end
  end,
  function(keep, random)
    local n = 1 << random(10, 22)
    return "buffer " .. n, function() keep(#natives.buffer(n // 8)) end
  end,
  function(_, random)
    local n = 1 << random(16, 23)
    return "huge " .. n, function() return #natives.string(n) end
  end,
  function(keep, random)
    local depth = random(1, 300)
    return "coroutine " .. depth, function()
      local function down(n)
        if n == 0 then return coroutine.yield {} end
        return down(n - 1), {}
      end
      local co = coroutine.create(down)
      coroutine.resume(co, depth)
      if random(1, 2) == 1 then coroutine.resume(co) end
      keep(co)
    end
  end,
  function(keep, random)
    local n = random(1, 20)
    return "load " .. n, function()
      keep(load(("local a = {...} "):rep(n) .. "return function() return a end"))
    end
  end,
  function(_, random)
    local n = random(1, 30)
    return "errors " .. n, function()
      for _ = 1, n do pcall(error, {}) pcall(function() return nil + n end) end
    end
  end,
  function(_, random)
    local n = random(1, 30)
    return "finalizers " .. n, function()
      for _ = 1, n do setmetatable({}, {__gc = function() return {} end}) end
    end
  end,
  function(_, random)
    local text = random(1, 3)
    return "state " .. text, function()
      local s = peers.new{}
      assert(s:run("local t = {} for i = 1, 1000 do t[i] = {} end"))
      s:close()
    end
  end,
}

local COLLECT = {
  function() return "collect", collectgarbage end,
  function() return "minor", function() collectgarbage "step" end end,
  function(random)
    local n = random(1, 100)
    return "step " .. n, function() collectgarbage("step", n) end
  end,
  function() return "incremental", function() collectgarbage "incremental" end end,
  function() return "generational", function() collectgarbage "generational" end end,
  function() return "restart", function() collectgarbage "restart" end end,
}

local function run(seed, period, steps)
  math.randomseed(seed)
  local random = math.random
  local kept = {}
  for i = 1, 100 do kept[i] = false end
  local function keep(v)
    local i = random(1, 100)
    kept[i] = v or kept[i]
  end
  local mode = collectgarbage "generational"
  local m = model(period, seed)
  m.on(period)
  for step = 1, steps do
    local what = random(1, 100)
    if what <= 50 then
      local name, f, block = KNOWN[random(1, #KNOWN)](keep, random)
      block.counted = block.counted or block.size
      collectgarbage "stop"
      local function ready(n) return n and ready(n - 1 > 0 and n - 1) end
      -- a deep recursion allocates the stack and the call records, so that the next action does not allocate
      -- them
      ready(50)
      m.act(name, f, block)
      collectgarbage "restart"
    elseif what <= 80 then
      m.act(MANY[random(1, #MANY)](keep, random))
    elseif what <= 90 then
      m.act(COLLECT[random(1, #COLLECT)](random))
    elseif what <= 92 then
      m.act("drop", function() for i = 1, 100, 2 do kept[i] = false end end)
    elseif what <= 95 then
      if m.period then m.off() else m.on(m.last or period) end
    elseif what <= 97 and m.period then
      m.last = random(64, 2 * period)
      m.change(m.last)
    else
      m.stats()
    end
    if step % 200 == 0 then assert(core.check()) end
  end
  collectgarbage "incremental"
  collectgarbage(mode)
  return m.close(), m
end

-- ==}

-- Ends the session that a failed spec has left open.
after_each(function()
  core.off()
  core.close()
end)

describe("samples over random actions are those of the model", function()
  for power = 6, 26, 2 do
    it("at a period of " .. (1 << power), function()
      local list, m = run(1000 + power, 1 << power, power < 10 and 120 or 300)
      assert.equal(m.points, list.points)
      if power <= 16 then assert.is_true(#list > 20) end
    end)
  end

  it("at periods that are no powers of two", function()
    for seed, period in ipairs{65, 1000, 4097, 99991} do run(seed, period, fewer(100, 40)) end
  end)

  it("at the largest period, where none is taken", function()
    local m = model(core.MAX, 3)
    m.on(core.MAX)
    m.act("much", function() return #natives.string(1 << 24) end)
    m.stats()
    assert.equal(0, m.close().points)
  end)
end)

describe("a sample", function()
  it("represents all points that its block crossed", function()
    local m = model(64, 1)
    m.on(64)
    m.act("string", function() return natives.string(1 << 20) end,
          {kind = "string", size = round((1 << 20) + 17), counted = round((1 << 20) + 17)})
    local list = m.close()
    local found
    for _, s in ipairs(list) do
      if s.size > 1 << 20 then found = s end
    end
    assert.is_true(math.abs(found.count * 64 - found.size) < 64)
    assert.is_true(found.outside)
  end)

  it("of a vector that grows counts the growth only", function()
    local t = {}
    for i = 1, 1024 do t[i] = i end
    local list = samples.of(function() t[1025] = #t end)
    for _, s in ipairs(list) do
      if s.kind == "table array part" and s.size == 32768 then
        assert.equal(256, s.count)
        return
      end
    end
    error "the growth was not sampled"
  end)

  it("is not taken where a vector shrinks", function()
    local t = {}
    for i = 1, 5000 do t[i] = i end
    for i = 1, 5000 do t[i] = nil end
    -- storing t.x rehashes the table, whose array part becomes empty
    local list = samples.of(function() t.x = #t end)
    for _, s in ipairs(list) do
      assert.is_true(s.kind ~= "table array part" or s.size < 1000)
    end
  end)

  it("may be of every kind", function()
    local kinds = {}
    local list = samples.of(function()
      local kept = {}
      for i = 1, 300 do
        local t = {i, x = i}
        kept[i] = function() return t, kept end
        kept[-i] = natives.closure(3)
        kept[i / 8] = natives.userdata(10)
        kept["a string that is not yet there" .. i] = coroutine.wrap(function() end)
        load("return function() return " .. i .. " end")
      end
      assert(#kept == 300)
    end)
    for _, s in ipairs(list) do kinds[s.kind] = true end
    assert.same({["table"] = true, ["table array part"] = true, ["table hash part"] = true,
                 ["string"] = true, ["Lua closure"] = true, ["C closure"] = true,
                 ["upvalue"] = true, ["userdata"] = true, ["coroutine"] = true,
                 ["stack"] = true, ["proto"] = true, ["buffer"] = true}, kinds)
  end)

  it("never comes from the profiler's own memory", function()
    local list = samples.of(function()
      for _ = 1, 1000 do natives.userdata(100) end
    end)
    for _, s in ipairs(list) do
      for _, f in ipairs(s.stack) do
        assert.is_nil(f.name:find "^sampler_" or f.name:find "^pending_" or f.name:find "^profile_")
      end
    end
    local sum = 0
    for _, s in ipairs(list) do
      if s.kind == "userdata" then sum = sum + 1 end
    end
    assert.equal(1000, sum)
  end)

  it("that is not to be had moves nothing", function()
    local path = os.tmpname()
    local s = peers.new{}
    local ok, message = s:run([[
      core, natives = require "profiler.core", require "natives"
      assert(core.open{out = ..., period = 64, seed = 1})
      core.on(64, false)
      keep = {}
      for i = 1, 20000 do keep[i] = false end
      -- allocates until there is no memory; the last, failed request must move nothing
      function exhaust(n, f)
        for i = 1, #keep do
          local allocated, distance = core.allocated(), core.distance()
          local done, v = pcall(f, n)
          if not done then
            local new, left = core.allocated() - allocated, core.distance()
            assert(v == "not enough memory", v)
            assert(new == 0 and left == distance, new)
            return i
          end
          keep[i] = v
        end
        error "there is always more"
      end
      function all()
        collectgarbage "stop"  -- only emergency collections, which do not move the stack
        local function deep(n) return n == 0 or (deep(n - 1)) end
        deep(50)
        local large = exhaust(100000, natives.userdata)
        local medium = exhaust(4000, natives.userdata)
        local small = exhaust(8, natives.userdata)
        for i = 1, #keep do keep[i] = false end
        return large, medium, small
      end
    ]], path)
    assert.is_true(ok, message)
    s:limit(s:used() + 500000)
    local done, large, medium, small = s:run "return all()"
    assert.is_true(done, large)
    assert.is_true(large > 1 and medium > 1 and small > 1)
    s:limit(0)
    ok, message = s:run [[
      core.off()
      local t = core.stats()
      assert(core.close())
      assert(core.check())
      return t.samples
    ]]
    assert.is_true(ok, message)
    assert.equal(message, samples.read(path).points)
    s:close()
  end)
end)

describe("sampling on and off", function()
  it("again and again loses and doubles nothing", function()
    local m = model(256, 5)
    for i = 1, 50 do
      m.on(256)
      m.act("strings", function() for j = 1, i do natives.string(100 + j) end end)
      if i % 7 == 0 then m.change(64 * i) end
      m.act("tables", function() for _ = 1, i do natives.table(i, 0) end end)
      m.stats()
      m.off()
      m.act("nobody counts", function() return #natives.string(100000) end)
      m.stats()
    end
    m.close()
  end)

  it("without a start is a matter of course", function()
    assert.is_false(core.off())
    assert.is_nil(core.distance())
    assert.is_true(core.close())
  end)

  it("records each new period at its start", function()
    local list = samples.of(function()
      core.period(1000)
      for _ = 1, 100 do natives.string(100) end
      core.off()
      core.on(2000, false)
      for _ = 1, 100 do natives.string(100) end
    end)
    assert.same({1000, 2000}, list.periods)
  end)

  -- The collection at the end of sampling may call finalizers, which may start the sampler again.
  it("survives a finalizer that starts it again", function()
    local path = os.tmpname()
    assert(core.open{out = path, period = 64, seed = 1})
    core.on(64, false)
    local ran = 0
    do
      local _ = setmetatable({}, {__gc = function()
        ran = ran + 1
        core.on(64, false)
      end})
    end
    core.off()
    local on, distance = core.stats().on, core.distance()
    core.off()
    assert(core.close())
    collectgarbage()
    assert.equal(1, ran)
    samples.read(path)
    assert.equal(on, distance ~= nil)  -- the core has a sample point only while sampling is on (A1)
  end)

  it("in a finalizer gives every sample its fate all the same", function()
    -- No collection can run inside a finalizer, so that the samples of the finalizer stay undecided until the
    -- next collection. Before it, the sampler must not read their objects, which may have died.
    local path = os.tmpname()
    assert(core.open{out = path, period = 64, seed = 1})
    core.on(64, false)
    do
      local _ = setmetatable({}, {__gc = function()
        for _ = 1, 10 do natives.string(20000) end
        core.off()
      end})
    end
    collectgarbage()
    collectgarbage()
    assert.is_nil(core.distance())
    core.on(64, false)
    local kept = {}
    for i = 1, 1000 do kept[i] = {} end
    core.off()
    assert(core.close() and #kept == 1000)
    local list = samples.read(path)
    local strings = 0
    for _, s in ipairs(list) do
      if s.kind == "string" and s.size > 20000 then
        strings = strings + 1
        assert.is_not_true(s.survived)
      end
    end
    assert.equal(10, strings)
    local alive = 0
    for _, s in ipairs(list) do
      if s.kind == "table" and s.survived then alive = alive + s.count end
    end
    assert.is_true(math.abs(alive * 64 - 1000 * 40) < 1000, alive)
    assert.equal(0, list.undecided)
  end)
end)

describe("several states", function()
  local WORK = [[
    local path, n = ...
    local core, natives = require "profiler.core", require "natives"
    assert(core.open{out = path, period = 512, seed = n})
    core.on(512, false)
    local allocated, distance = core.allocated(), core.distance()
    for i = 1, n do natives.string(1000 + i) end
    local new, left = core.allocated() - allocated, core.distance()
    local points = new < distance and 0 or 1 + (new - distance) // 512
    assert(left == distance - new + points * 512)
    core.off()
    local t = core.stats()
    assert(core.close())
    assert(core.check())
    return t.samples
  ]]

  it("never share a file: two writers in one leave nothing that can be read", function()
    local one, two, path = peers.new{}, peers.new{}, os.tmpname()
    local open = [[
      local ok, message = require "profiler".enable{alloc = "1K", out = ...}
      return ok and "open" or message
    ]]
    local names = [[
      local p = require "profiler"
      assert(p.enable{alloc = "1K"} and p.disable())
      return p.stats().file
    ]]
    assert.equal("open", select(2, one:run(open, path)))
    assert.equal("open", select(2, two:run(open, path)))
    assert.equal(path .. ".2", select(2, two:run [[return require "profiler".stats().file]]))
    one:run [[require "profiler".disable()]]
    two:run [[require "profiler".disable()]]
    assert.is_true(reader.read(path).complete)
    assert.is_true(reader.read(path .. ".2").complete)
    os.remove(path .. ".2")
    os.remove(path)
    assert.equal("open", select(2, two:run(open, path)))
    two:run [[require "profiler".disable()]]
    local _, first = one:run(names)
    local _, second = two:run(names)
    assert.not_equal(first, second)
    one:close()
    two:close()
    for _, p in ipairs{path, first, second} do assert(os.remove(p)) end
  end)

  it("are sampled at once, each into its own file", function()
    local list, m = {}, model(1024, 2)
    m.on(1024)
    for i = 1, 4 do
      list[i] = {state = peers.new{}, path = os.tmpname()}
      assert.is_true(list[i].state:run([[
        core, natives = require "profiler.core", require "natives"
        local path, period = ...
        assert(core.open{out = path, period = period, seed = 3})
        core.on(period, false)
        function work(n) for i = 1, n do natives.string(10 * n) end end
      ]], list[i].path, 256 << i))
    end
    for round_ = 1, 20 do
      for i, s in ipairs(list) do
        m.act("work " .. i, function() s.state:run("work(...)", 10 * round_) end)
        natives.table(round_, 0)
      end
    end
    for i, s in ipairs(list) do
      local ok, n = s.state:run [[
        core.off()
        local n = core.stats().samples
        assert(core.close())
        return n
      ]]
      assert.is_true(ok, n)
      local file = samples.read(s.path)
      os.remove(s.path)
      assert.equal(n, file.points)
      local sizes = {}
      for _, one in ipairs(file) do
        if one.stack[1].name == "native_string" then
          sizes[one.size] = (sizes[one.size] or 0) + one.count
        end
      end
      -- in each round the action allocates only n_ strings of 100 * round_ + 17 bytes
      for round_ = 1, 20 do
        local n_, size = 10 * round_, round(100 * round_ + 17)
        assert.is_true(math.abs((sizes[size] or 0) * (256 << i) - n_ * size) < 2 * (256 << i))
      end
      s.state:close()
    end
    m.close()
  end)

  it("run in threads of their own", function()
    local list = {}
    for i = 1, 4 do
      list[i] = {path = os.tmpname()}
      list[i].thread = peers.thread(WORK, list[i].path, 200 * i)
    end
    for i, t in ipairs(list) do
      local ok, n = t.thread:join()
      assert.is_true(ok, n)
      local file = samples.read(t.path)
      os.remove(t.path)
      assert.equal(n, file.points)
      assert.is_true(file.points > 200 * i)
      for _, s in ipairs(file) do assert.is_not_nil(s.survived) end
    end
  end)

  it("have numbers of their own in the file", function()
    local threads = {}
    for i = 1, 2 do
      local path, s = os.tmpname(), peers.new{}
      assert.is_true(s:run(WORK, path, 10))
      s:close()
      threads[i] = samples.read(path)[1].thread
      os.remove(path)
    end
    assert.not_equal(threads[1], threads[2])
  end)

  it("end their session when they are closed", function()
    local path, s = os.tmpname(), peers.new{}
    local ok, n = s:run([[
      local core = require "profiler.core"
      assert(core.open{out = ..., period = 64})
      core.on(64, false)
      kept = {}
      for i = 1, 1000 do kept[i] = {} end
      return core.stats().samples
    ]], path)
    assert.is_true(ok, n)
    s:close()
    local file = samples.read(path)
    assert.is_true(file.points >= n)
    assert.equal(0, file.undecided)
  end)
end)
