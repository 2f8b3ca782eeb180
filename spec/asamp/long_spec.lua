-- SPDX-License-Identifier: MIT
-- Long valid profiles, which have more entries of every kind than the initial capacity of each
-- table.

local convert = require "profiler.convert"
local fewer = require "spec.support.fewer"
local gen = require "profilegen"
local reader = require "profiler.reader"
local shell = require "spec.support.shell"

local path

-- Writes a profile with these options by the call fill(profile, now), and reads it. Returns the read
-- profile, and the totals that the writer reported.
local function written(options, fill)
  options.path, options.plain = path, true
  local p = assert(gen.open(options))
  fill(p, gen.now())
  local ok, totals = p:close()
  assert(ok)
  return assert(reader.read(path)), totals
end

describe("a long profile", function()
  before_each(function() path = os.tmpname() end)
  after_each(function() os.remove(path) end)

  -- A former bug: with 6,144 classes the map of kinds was enlarged while a pointer into it was in
  -- use, so that asamp report crashed for a program with 50,000 metatables that have a __name.
  it("may have any number of classes: those beyond 65,536 kinds count for their type", function()
    local N = 80000
    local profile = written({}, function(p, now)
      p:name(8, "f", 1, "@x.lua")
      for i = 1, N do p:class(i, "Class" .. i) end
      for from = 1, N, 1000 do
        local classes = {}
        for i = 1, 1000 do
          p:sample{8, from, kind = i % 2, time = now}
          classes[i] = from + i - 1
        end
        p:collection{fates = ("1"):rep(1000), classes = classes, time = now}
      end
    end)
    assert.equal(N, profile.samples)
    local names, blocks = {}, 0
    for _, kind in ipairs(profile.kinds) do
      if kind.class then
        assert.is_nil(names[kind.class])
        names[kind.class] = true
        assert.equal(1, kind.blocks)
      end
      blocks = blocks + kind.blocks
    end
    assert.equal(N, blocks)
    assert.equal(65536, #profile.kinds)
    -- 4 of the 65,536 kinds are not classes: unknown, time, and two types
    local left = N - (65536 - 4)
    assert.same({{what = "kinds", limit = 65536, count = left,
      text = "the limit of 65,536 combinations of type and class was reached, so 14,468 samples of " ..
             "other classes count for their type alone; use fewer values of __name"}}, profile.left)
  end)

  -- A server that loads a template again and again creates a new function each time, and profiles in the
  -- older formats have a new number for each. A former bug: the call tree had a node for each number and
  -- took 770 MB, up to its limit.
  for _, format in ipairs{6, 7} do
    it("of version " .. format .. " may name a function a hundred thousand times", function()
      local N = 100000
      local profile = written({format = format}, function(p, now)
        p:name(8, "main chunk", 0, "@server.lua")
        for i = 1, N do
          p:name(8 * (i + 1), "main chunk", 0, '[string "template"]')
          p:sample{8 * (i + 1), 3, 8, 7, time = now}
        end
        p:name(8 * (N + 2), "other", 1, "@server.lua")
        p:sample{8 * (N + 2), 3, 8, 7, time = now}
      end)
      assert.equal(N + 1, profile.samples)
      assert.same({"main chunk", "main chunk", "other"}, {profile.functions[1].name,
                   profile.functions[2].name, profile.functions[3].name})
      assert.same({0, 1, 1}, profile.nodes.parent)
      assert.same({N, 1}, profile.sites.samples)
      assert.same({}, profile.left)
    end)
  end

  -- In a damaged file the number of a function may be any integer. A large number must not need more
  -- memory.
  it("may have numbers of functions that are far apart", function()
    local profile = written({}, function(p, now)
      for i = 0, 60 do
        local id = 8 * ((i * 0x4000001) % 0xffffffff + 1)
        p:name(id, "f", 1, "@x.lua")
        p:sample{id, 2, time = now}
      end
    end)
    assert.same({61}, profile.sites.samples)
  end)

  -- Writes a synthetic profile. It has more functions, classes, names of marks, stacks and collections than
  -- the reader's tables can hold after they were enlarged twice, long and hostile names, deep stacks, and
  -- changing periods. Returns the expected sums.
  local function strange(format)
    local random = 12345
    local function upto(n)
      random = random * 6364136223846793005 + 1442695040888963407
      return (random >> 33) % n + 1
    end
    local exact = {bytes = 0, samples = 0, time = 0, own = {}, class = {}, survived = 0,
                   marks = {}, collections = 0, pauses = 0, tenured = 0}
    local function add(t, key, n) t[key] = (t[key] or 0) + n end
    local p = assert(gen.open{path = path, format = format, period = 4096, followed = 1000,
                              timeperiod = 1000000})
    local now, period, open = gen.now() + 10000000, 4096, {}
    for i = 1, 1500 do
      p:name(8 * i, "f" .. i % 1000, i % 1000, "@" .. ("d/"):rep(i % 1000 % 300) .. "x.lua")
    end
    for i = 1, 1500 do p:class(i, "C" .. i .. ("é"):rep(i % 100)) end
    for i = 1, 2400 do
      now = now + upto(1000000)
      local stack = {time = now, kind = upto(#gen.kinds) - 1, size = 16 * upto(400),
                     count = upto(20) == 1 and upto(5) or 1, outside = upto(9) == 1}
      for k = 1, upto(100) == 1 and 600 or upto(20) do
        stack[2 * k - 1], stack[2 * k] = 8 * upto(1500), upto(50)
      end
      local fn = "f" .. stack[1] // 8 % 1000
      if upto(5) == 1 then
        p:time(stack)
        exact.time = exact.time + stack.count
      else
        p:sample(stack)
        open[#open + 1] = stack
        exact.samples = exact.samples + stack.count
        exact.bytes = exact.bytes + stack.count * period
        add(exact.own, fn, stack.count * period)
        stack.bytes = stack.count * period
      end
      if upto(2000) == 1 then
        period = 1024 << upto(4)
        p:period(period)
      end
      if upto(3) == 1 then
        local name, value = "mark" .. upto(700), upto(1000)
        p:mark(name, tostring(value), now)
        add(exact.marks, name, value)
      end
      if upto(4) == 1 or i == 2400 then
        local fates, classes = {}, {}
        for k, s in ipairs(open) do
          local survived, class = upto(3) == 1, upto(1501) - 1
          fates[k], classes[k] = survived and "1" or "0", class
          exact.survived = exact.survived + (survived and s.bytes or 0)
          if class > 0 then add(exact.class, "C" .. class, 1) end
        end
        open = {}
        local us, tenured = upto(5000), upto(100000)
        p:collection{time = now, inuse = upto(1 << 30), held = 1 << 30, major = upto(9) == 1,
                     duration = us * 1000, tenured = tenured, fates = table.concat(fates),
                     classes = classes}
        exact.collections, exact.pauses = exact.collections + 1, exact.pauses + us
        exact.tenured = exact.tenured + tenured
      end
    end
    assert(p:close())
    return exact
  end

  local function weights(out, weight)
    local sum = 0
    assert(convert.collapsed(path, out, {weight = weight}))
    for line in io.lines(out) do sum = sum + math.tointeger(line:match " (%d+)$") end
    return sum
  end

  for _, format in ipairs{7, fewer(6)} do
    it("of version " .. format .. " adds up in every reader, in the same order each time", function()
      local exact, out = strange(format), os.tmpname()
      local profile = assert(reader.read(path, {bins = 64}))
      assert.same({}, profile.left)
      assert.same({exact.samples, exact.bytes, exact.survived, exact.time},
                  {profile.samples, profile.bytes, profile.survivedbytes, profile.timesamples})
      assert.same({exact.collections, exact.pauses, exact.tenured, exact.collections},
                  {profile.course.n, profile.course.pauses.total, profile.course.tenured,
                   profile.minors + profile.majors})
      local own, class, marks = {}, {}, {}
      for i, node in ipairs(profile.sites.node) do
        local name = profile.functions[profile.nodes.fn[node]].name
        if profile.sites.bytes[i] > 0 then
          own[name] = (own[name] or 0) + profile.sites.bytes[i]
        end
      end
      for _, kind in ipairs(profile.kinds) do
        local name = kind.class and kind.class:match "^C%d+"
        if name then class[name] = (class[name] or 0) + kind.blocks end
      end
      for _, mark in ipairs(profile.marknames) do
        marks[mark.name] = math.floor(mark.mean * mark.count + 0.5)
      end
      assert.same(exact.own, own)
      assert.same(exact.class, class)
      assert.same(exact.marks, marks)
      assert.is_true(#profile.functions >= 1000 and #profile.functions < 1010)
      assert.same({exact.bytes, exact.samples, exact.survived},
                  {weights(out, "bytes"), weights(out, "samples"), weights(out, "survived")})
      -- Each command runs in two processes with different hash seeds, which must print the same. The outputs
      -- would differ if a list had the order of a hash table.
      -- One version of the file is enough, because the reader builds the same tree from both. The commands
      -- run on the release build, so that the other variants need not repeat them.
      if format == 6 or (os.getenv "ASAMP_VARIANT" or "fork") ~= "fork" then return end
      for _, command in ipairs{"report --json", "report --tree", "convert --plain --to firefox -o -",

                               "convert --plain --to speedscope -o -",
                               "convert --plain --to collapsed -o -"} do
        command = ("build/bin/asamp %s %s | cksum"):format(command, path)
        assert.equal(shell.output(command), shell.output(command))
      end
    end)
  end
end)
