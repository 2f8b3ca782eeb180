-- SPDX-License-Identifier: MIT
-- The report as text: what it says, and that it fits a terminal.

local text = require "asamp.text"

local function sum(samples, survived, undecided)
  return {samples = samples, bytes = 524288 * samples,
          survived = survived or 0, survivedbytes = 524288 * (survived or 0),
          undecided = undecided or 0}
end

--- A profile and its totals, as the reader and asamp.totals make them.
local function example()
  local profile = {
    path = "app.vmprof", command = "lua app.lua in.json", duration = 4.5,
    samples = 1000, bytes = 1000 * 524288, timesamples = 0, undetailed = 0,
    period = 524288, periods = 0, random = true, fates = true, minors = 40,
    majors = 2,
    collections = {{inuse = 3 << 20, held = 4 << 20}},
  }
  local totals = {
    unit = "bytes", whole = sum(1000, 90, 100),
    functions = {
      {name = "decode", file = "lib/json.lua", line = 120, native = false,
       own = sum(600, 60), total = sum(800)},
      {name = "gsub", file = "/usr/lib/liblua5.4.so.0", line = 0, native = true,
       own = sum(400, 30, 100), total = sum(400)},
      {name = "main chunk", file = "app.lua", line = 0, native = false,
       own = sum(0), total = sum(1000)},
    },
    lines = {
      {name = "decode", file = "lib/json.lua", line = 130,
       own = sum(600), total = sum(800)},
    },
    types = {
      {name = "table", own = sum(700, 90), blocks = 700, objects = 1234567.4,
       outside = 0},
      {name = "string", own = sum(300), blocks = 0, objects = 0, outside = 0},
    },
  }
  return profile, totals
end

local function render(change, options)
  local profile, totals = example()
  if change then
    change(profile, totals)
  end
  return text.render(profile, totals, options or {top = 10, color = false})
end

-- The text with runs of white space as one space.
local function flat(s)
  return (s:gsub("%s+", " "))
end

describe("the report's text", function()
  it("says how much, in how long, from how many samples", function()
    local s = flat(render())
    assert.truthy(s:find("^app.vmprof lua app.lua in.json 500 MiB allocated " ..
      "in 4.50 s %(111.1 MiB/s%), estimated from 1,000 samples%. "))
  end)

  it("says what a sample stands for", function()
    assert.truthy(flat(render()):find("One sample stands for 512 KiB: it " ..
      "shows who allocated when 512 KiB had been allocated since the one " ..
      "before (on average, at random).", 1, true))
    local fixed = flat(render(function(p) p.random = false end))
    assert.truthy(fixed:find("since the one before. A row of n", 1, true))
    local changed = flat(render(function(p) p.periods = 2 end))
    assert.truthy(changed:find("the period was set 2 times", 1, true))
  end)

  it("says what survived of what was decided", function()
    local s = flat(render())
    assert.truthy(s:find("Of what was sampled 10.0% survived its first " ..
      "collection. 100 samples had no collection before the end.", 1, true))
    assert.is_nil(flat(render(function(p) p.fates = false end))
                  :find("Of what was sampled", 1, true))
  end)

  it("says how many collections there were", function()
    assert.truthy(flat(render()):find("42 collections (40 minor, 2 major); " ..
      "after the last one 3 MiB in use, 4 MiB held.", 1, true))
  end)

  it("says what it leaves out", function()
    local s = flat(render(function(p)
      p.timesamples, p.undetailed = 5, 1
    end))
    assert.truthy(s:find("5 samples of time are in the file but not", 1, true))
    assert.truthy(s:find("1 sample came without size and fate", 1, true))
  end)

  it("has rows with own, total, survival, name and place", function()
    local s = render()
    for _, line in ipairs{
      "    300.0M  60.0%    400.0M  80.0%    10%  decode  lib/json.lua:120\n",
      "    200.0M  40.0%    200.0M  40.0%    10%  gsub  [C] liblua5.4.so.0\n",
      "        0B   0.0%    500.0M 100.0%      -  main chunk  app.lua\n",
      "    300.0M  60.0%    400.0M  80.0%     0%  lib/json.lua:130  decode\n",
      "    350.0M  70.0%      1,234,567    13%  table\n",
      "    150.0M  30.0%              -     0%  string\n",
    } do
      assert.truthy(s:find(line, 1, true), line .. "missing in\n" .. s)
    end
  end)

  it("shows as many rows as it is told, and says how many more", function()
    local s = render(nil, {top = 1})
    assert.truthy(s:find("decode  lib", 1, true))
    assert.is_nil(s:find("gsub", 1, true))
    assert.truthy(s:find("and 2 more\n", 1, true))
    assert.truthy(s:find("and 1 more\n", 1, true))
  end)

  it("fits 80 columns whatever the names", function()
    local long = ("é"):rep(300)
    for _, case in ipairs{{long, "f.lua"}, {"f", "/" .. long .. "/x.lua"},
                          {long, long}, {"", ""}, {"\255\254", "\200"},
                          {("a\u{301}"):rep(99), "x"}} do
      local s = render(function(p, t)
        p.path, p.command = long, long
        for _, row in ipairs(t.functions) do
          row.name, row.file = case[1], case[2]
        end
        t.lines[1].name, t.lines[1].file = case[1], case[2]
        t.types[1].name = case[1]
      end)
      for line in s:gmatch "[^\n]*" do
        assert.is_true(utf8.len(line) <= 80, line)
      end
    end
  end)

  it("keeps a name's start and a file's end", function()
    local s = render(function(_, t)
      t.functions[1].name = "start" .. ("n"):rep(100)
      t.functions[1].file = ("d/"):rep(100) .. "end.lua"
    end)
    assert.truthy(s:find("  startn+…  …/[d/]+/end%.lua:120\n"))
  end)

  it("calls native code without a library plainly C", function()
    assert.truthy(render(function(_, t)
      t.functions[2].file = "-"
    end):find("gsub  [C]\n", 1, true))
  end)

  it("lets no control sequence of a file reach the terminal", function()
    local s = render(function(p, t)
      p.path, p.command = "a\27[2Jb", "c\7d\ne"
      t.functions[1].name, t.functions[1].file = "x\27]0;hi\7", "y\27\n"
      t.lines[1].name, t.types[1].name = "\27c", "\27c"
    end)
    assert.is_nil(s:find "[%z\1-\9\11-\31\127]")
  end)

  it("has colours on request only", function()
    assert.truthy(render(nil, {top = 10, color = true}):find("\27[1m", 1, true))
    assert.is_nil(render():find("\27", 1, true))
  end)

  it("counts samples where the file tells no bytes", function()
    local s = flat(render(function(p, t)
      t.unit, p.fates, p.samples, p.timesamples = "samples", false, 0, 1000
    end))
    assert.truthy(s:find("1,000 samples of time in 4.50 s.", 1, true))
    assert.truthy(s:find("The file does not tell how many bytes", 1, true))
    assert.truthy(s:find(" 600 60.0% 800 80.0% - decode lib", 1, true))
  end)

  it("of no sample is a head without tables", function()
    local s = render(function(p, t)
      t.whole, t.functions, t.lines, t.types = sum(0), {}, {}, {}
      t.unit, p.samples = "samples", 0
    end)
    assert.truthy(s:find("0 samples in 4.50 s.", 1, true))
    assert.is_nil(s:find("By function", 1, true))
  end)
end)
