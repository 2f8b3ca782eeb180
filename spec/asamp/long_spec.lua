-- SPDX-License-Identifier: MIT
-- Long valid profiles: more of everything than any table has at first.

local gen = require "profilegen"
local reader = require "profiler.reader"

local path

-- Writes a profile and reads it.
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

  -- With 6,144 of them the map of kinds grew under a pointer into it: a program with
  -- 50,000 metatables that have a __name killed asamp report.
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
    local left = N - (65536 - 4)  -- unknown, time, and two types
    assert.same({{what = "kinds", limit = 65536, count = left,
      text = "more than 65,536 kinds of objects: 14,468 samples count for their " ..
             "type, without their class"}}, profile.left)
  end)

  -- A server that loads a template has a function of its own each time: in old files
  -- each has a number. The call tree was keyed by it: 770 MB, and no room left.
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
end)
