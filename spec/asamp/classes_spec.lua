-- SPDX-License-Identifier: MIT
-- The class of a sample is the name of the sampled object's metatable, also if the object has died.

local samples = require "spec.support.samples"

-- Counts the samples of the list whose kind of block, such as "table", is in the set 'kinds'. Returns the
-- numbers by the text "kind class outcome".
local function count(list, kinds)
  local found = {}
  for _, s in ipairs(list) do
    if kinds[s.kind] then
      local key = ("%s %s %s"):format(s.kind, s.class or "-", s.survived and "lives" or "died")
      found[key] = (found[key] or 0) + 1
    end
  end
  return found
end

-- Calls 'make' 50 times with the sampler on. Returns the set of class names (of metatables) that the samples
-- of the created tables have.
local function classes(make)
  local kept, n = {}, 50
  local list = samples.of(function()
    for i = 1, n do kept[i] = make(i) end
  end)
  assert.equal(n, #kept)
  local set = {}
  for _, s in ipairs(list) do
    if s.kind:find "^table" and s.survived and s.class then set[s.class] = true end
  end
  return set
end

-- Calls f while these globals and these entries of package.loaded are set.
local function with(globals, modules, f)
  for k, v in pairs(globals) do rawset(_G, k, v) end
  for k, v in pairs(modules) do package.loaded[k] = v end
  local ok, message = xpcall(f, debug.traceback)
  for k in pairs(globals) do rawset(_G, k, nil) end
  for k in pairs(modules) do package.loaded[k] = nil end
  assert(ok, message)
end

describe("the class of a sample", function()
  it("is the metatable's __name, of those that live and of those that died", function()
    local mt, kept = {__name = "Point"}, {}
    local list = samples.of(function()
      collectgarbage "stop"
      for i = 1, 100 do kept[i] = setmetatable({i, i, x = i, y = i}, mt) end
      for i = 1, 100 do setmetatable({i, i, x = i, y = i}, mt) end
      collectgarbage "restart"
    end, {random = true})
    local found = count(list, {table = true})
    assert.is_true(found["table Point lives"] >= 50)
    assert.is_true(found["table Point died"] >= 50)
    assert.equal(100, #kept)
  end)

  it("is that of the table for its vectors, those it has outgrown too", function()
    local mt = {__name = "List"}
    local list = samples.of(function()
      collectgarbage "stop"
      local t = setmetatable({}, mt)
      for i = 1, 1000 do t[i] = i end
      for i = 1, 1000 do t["k" .. i] = i end
      collectgarbage "restart"
      assert(t)
    end)
    local found = count(list, {["table array part"] = true, ["table hash part"] = true})
    assert.is_true(found["table array part List died"] > 0)
    assert.is_true(found["table hash part List died"] > 0)
  end)

  it("is that of the metatable of userdata, which modules name", function()
    local kept = {}
    local list = samples.of(function()
      for i = 1, 50 do kept[i] = io.tmpfile() end
    end)
    local found = count(list, {userdata = true})
    for i = 1, 50 do kept[i]:close() end
    assert.same({["userdata FILE* lives"] = found["userdata FILE* lives"]}, found)
  end)

  it("is missing for objects without a metatable, and for all but tables and userdata", function()
    local list = samples.of(function()
      collectgarbage "stop"
      local t = {}
      for i = 1, 100 do t[i] = {("x"):rep(i) .. i, function() return i end} end
      collectgarbage "restart"
      assert(t)
    end)
    for _, s in ipairs(list) do assert.is_nil(s.class) end
    assert.same({}, list.classes)
  end)

  it("is the shortest name by which the metatable can be reached", function()
    local Point, Line, Deep, Nested, Module, Both = {}, {}, {}, {}, {}, {}
    Point.__index = Point
    local unreachable = {__index = Line}
    Module.Line, Module.sub, Module.Both = Line, {Deep = Deep}, Both
    Module.class = {__mt = Nested}
    local foreign = {__index = {}}
    with({Point = Point, Abc = Both, Xyz = Both}, {geometry = Module}, function()
      local function of(mt)
        local list = {}
        for name in pairs(classes(function() return setmetatable({}, mt) end)) do
          list[#list + 1] = name
        end
        return table.concat(list, " ")
      end
      assert.equal("Point", of(Point))
      assert.equal("geometry", of(Module))
      assert.equal("geometry.Line", of(Line))
      assert.equal("geometry.Line", of(unreachable))
      assert.equal("geometry.sub.Deep", of(Deep))
      assert.equal("geometry.class", of(Nested))
      assert.equal("Abc", of(Both))
      assert.equal("string", of({__index = string}))
      assert.equal("", of(foreign))
    end)
  end)

  it("keeps any bytes of a name, as text may have them", function()
    local names = {"two words", "a:b\nc", "\0zero", "\xff", "ä€𝄞", ("long"):rep(100), ""}
    local found = {}
    for i, name in ipairs(names) do
      found[i] = next(classes(function() return setmetatable({}, {__name = name}) end))
    end
    assert.same({"two words", "a:b;c", ";zero", "\u{FFFD}", "ä€𝄞", ("long"):rep(64):sub(1, 255)}, found)
  end)

  it("is found late, at the end if not before, when the name came late", function()
    local Late, kept = {}, {}
    local list = samples.of(function()
      for i = 1, 200 do
        if i == 100 then rawset(_G, "Late", Late) end
        kept[i] = setmetatable({}, Late)
      end
    end)
    rawset(_G, "Late", nil)
    assert.is_true((count(list, {table = true})["table Late lives"] or 0) > 0)
    assert.equal(200, #kept)
  end)

  it("is never that of a metatable which was at the same address before", function()
    local list = samples.of(function()
      for round = 1, 40 do
        for i = 1, 20 do
          local name = ("class %d.%d"):format(round, i)
          local mt = {__name = name}
          local t = setmetatable({name}, mt)
          t.name = name
          if i % 5 == 0 then collectgarbage "step" end
        end
        collectgarbage()
      end
    end)
    -- checks that the samples of one class are adjacent in time
    local last, seen = nil, {}
    for _, s in ipairs(list) do
      if s.class and s.class ~= last then
        assert.is_nil(seen[s.class], s.class)
        seen[s.class], last = true, s.class
      end
    end
    assert.is_true(#list.classes > 500, #list.classes)
  end)

  it("has at most 65535 names, the last of which says so", function()
    local list = samples.of(function()
      for i = 1, 66000 do
        setmetatable({1, 2, 3, 4, 5, 6, 7, 8}, {__name = "class " .. i})
      end
    end)
    assert.equal(65535, #list.classes)
    assert.equal("(other classes)", list.classes[65535])
  end)
end)
