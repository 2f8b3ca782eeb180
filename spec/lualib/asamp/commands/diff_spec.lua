-- SPDX-License-Identifier: MIT
-- `asamp diff`: arguments, exit codes, and the printed text.

local commands = require "spec.support.commands"
local diff = require "asamp.commands.diff"
local cjson = require "cjson"
local gen = require "profilegen"
local held = require "spec.support.held"

local run = commands.of(diff)

-- Writes a profile with these numbers of samples of the functions parse and main, and of time samples. If
-- 'random' is true, intervals are random; if 'wall' is true, time is wall time. Returns its path.
local function make(parse, main, time, random, wall)
  local path = os.tmpname()
  local p = assert(gen.open{path = path, period = 1 << 20, random = random,
                            timeperiod = time and 1000000, wall = wall})
  p:name(8, "main chunk", 0, "@app.lua")
  p:name(16, "parse", 10, "@lib/parse.lua")
  for _ = 1, parse do p:sample{16, 12, 8, 3, kind = 0} end
  for _ = 1, main do p:sample{8, 4, kind = 3} end
  for _ = 1, time or 0 do p:time{16, 12, 8, 3} end
  assert(p:close())
  return path
end

describe("asamp diff", function()
  local a, b, timed
  setup(function()
    a, b, timed = make(300, 100), make(100, 110), make(100, 100, 50)
  end)
  teardown(function()
    for _, path in ipairs{a, b, timed} do os.remove(path) end
  end)

  local has = commands.has

  it("shows changes, and counts noise", function()
    local code, out, err = run(a, b)
    assert.same({0, ""}, {code, err})
    has(out, "A  " .. a .. "\nB  " .. b .. "\n",
      "  Bytes: 400.0M in A, 210.0M in B, -190.0M (-47.5%).\n",
      "  300.0M  100.0M  -200.0M -66.7%  ±20.0M  parse  lib/parse.lua:10\n",
      "  300.0M  100.0M  -200.0M -66.7%  ±20.0M  lib/parse.lua:12  parse\n",
      "and 1 within noise\n")
    assert.is_nil(out:find("app.lua:4", 1, true))
  end)

  it("shows noise on request, marked", function()
    local _, out = run("--all", a, b)
    has(out, "  100.0M  110.0M  ~+10.0M +10.0%  ±14.5M  main chunk  app.lua\n")
    assert.is_nil(out:find("within noise", 1, true))
    _, out = run("--sigma", "0.5", a, b)
    has(out, "  100.0M  110.0M   +10.0M +10.0%")
  end)

  it("reports the error of the total, which only random gaps have", function()
    local random = make(300, 100, 50, true)
    local _, out = run(random, b)
    has(out, "  Bytes: 400.0M in A, 210.0M in B, -190.0M (-47.5%, ±24.7M).\n")
    _, out = run(b, random)
    has(out, "  Bytes: 210.0M in A, 400.0M in B, +190.0M (+90.5%, ±24.7M).\n")
    _, out = run(random, timed)
    has(out, "CPU time: 50ms in A, 50ms in B, +0s (+0.0%, ±10ms).\n")
    _, out = run("--json", random, b)
    has(out, '"error": ' .. ("%.14g"):format(math.sqrt(20 ^ 2 + 210) * (1 << 20)):sub(1, 8))
  end)

  it("finds nothing between a profile and itself", function()
    local code, out = run(a, a)
    assert.equal(0, code)
    has(out, "no change (2 rows)")
  end)

  it("fits narrow terminals", function()
    for _, columns in ipairs{40, 60, 80} do
      local _, out = run("--width", tostring(columns), a, b)
      commands.fits(out, columns)
      assert.truthy(out:find(columns == 80 and "  A +B +change +error  function\n"
                             or columns == 40 and "\n +B +change  function\n" or ""))
    end
  end)

  it("normalizes", function()
    local _, out = run("--normalize", a, b)
    has(out:gsub("%s+", " "), "scaled by 0.525")
    has(out, "157.5M  100.0M  -57.5M", "52.5M  110.0M  +57.5M")
  end)

  it("colours growth and shrinkage", function()
    local _, out = run("--color", "always", "--normalize", a, b)
    assert.truthy(out:find("\27%[31m *%+57.5M\27%[0m"))
    assert.truthy(out:find("\27%[32m *%-57.5M\27%[0m"))
    _, out = run("--color", "never", a, b)
    assert.is_nil(out:find("\27", 1, true))
  end)

  it("fits its columns", function()
    for _, columns in ipairs{60, 80, 140} do
      local _, out = run("--all", "--width", tostring(columns), a, b)
      commands.fits(out, columns)
    end
  end)

  it("compares all measures that both have", function()
    local _, out = run(timed, timed)
    has(out, "CPU time: 50ms in A, 50ms in B, +0s (+0.0%, ±10ms).", "by bytes", "by time")
    local code, _, err = run("--by", "time", a, timed)
    assert.equal(1, code)
    has(err, "have no time in common to compare\n")
  end)

  it("refuses to compare CPU time with wall time, and compares the rest", function()
    local walls = make(100, 100, 50, nil, true)
    local code, out = run(timed, walls)
    assert.equal(0, code)
    has(out, "Time is not compared: A has CPU time, B wall time.\n", "By function (self)\n")
    assert.is_nil(out:find("by time", 1, true))
    local err
    code, out, err = run("--by", "time", timed, walls)
    assert.equal(1, code)
    assert.equal("", out)
    has(err, "have no time in common to compare: A has CPU time, B wall time\n")
    code, out = run(walls, walls)
    assert.equal(0, code)
    has(out, "Wall time: 50ms in A")
  end)

  it("speaks JSON", function()
    local code, out = run("--json", "--top", "1", a, b)
    assert.equal(0, code)
    has(out:gsub("%s+", " "), '"a": 419430400,', '"change": -209715200',
        '"noise": false', '"field": "bytes"')
    assert.is_nil(out:find("main chunk", 1, true))
  end)

  describe("of profiles with holders", function()
    local before, after
    setup(function()
      before, after = os.tmpname(), os.tmpname()
      held.write(before, 40, 50)
      held.write(after, 160, 52)
    end)

    it("shows the holders of grown memory", function()
      for _, by in ipairs{"bytes", "alive"} do
        local code, out = run("--by", by, before, after)
        assert.equal(0, code)
        has(out, "By holder (live bytes at the end)\n",
          "  40.0M  160.0M  +120.0M +300.0%  ±14.1M  [1..n]\n           " ..
          '_G → upvalue "listeners" of on (app.lua:3) → ["close"] → [1..n]\n')
        assert.is_nil(out:find("cache", 1, true))
        assert.truthy(out:find("By holder.*and 1 within noise"))
      end
      local _, out = run("--by", "alive", "--all", "--normalize", before, after)
      has(out, '["cache"]\n')
      _, out = run("--by", "survived", before, after)
      assert.is_nil(out:find("By holder", 1, true))
      _, out = run("--json", before, after)
      local rows = cjson.decode(out).measures[1].holders
      assert.equal(2, #rows)
      local function fields(r) return {r.name, r.a, r.b, r.noise} end
      assert.same({held.PATHS[1], 40 << 20, 160 << 20, false}, fields(rows[1]))
      assert.same({held.PATHS[2], 50 << 20, 52 << 20, true}, fields(rows[2]))
    end)

    it("knows a holder again whose file was edited or renamed", function()
      local other = os.tmpname()
      for _, options in ipairs{{moved = 7}, {file = "lib/other.lua", moved = 2}} do
        held.write(other, 160, 50, options)
        local _, out = run("--by", "alive", before, other)
        out = out:match "By holder.*"
        has(out, "  40.0M  160.0M  +120.0M +300.0%")
        assert.is_nil(out:find("gone", 1, true) or out:find("new", 1, true))
      end
    end)

    -- A former bug: the comparison showed only allocated bytes, of which a fixed leak is an insignificant
    -- part.
    it("starts with live bytes at the end if they changed", function()
      local _, out = run(before, after)
      has(out, "  Bytes alive at the end: 91.0M in A, 213.0M in B, +122.0M (+134.1%, ±17.4M).\n  Bytes: ")
      assert.truthy(out:find("by bytes alive at the end.*By holder %(live bytes at the end%)\n" ..
                             ".*, by bytes\n"))
      assert.equal(1, select(2, out:gsub("By holder", "")))
      _, out = run(before, before)
      has(out, "\n  Bytes alive at the end: 91.0M in A, 91.0M in B, +0B (+0.0%, ±13.5M).\n" ..
        "\nBy function (self)\n")
    end)

    it("names the holders of only one profile as in that profile", function()
      local other = os.tmpname()
      held.write(other, 0, 50, {file = "lib/other.lua"})
      local _, out = run("--by", "alive", before, other)
      has(out, "  40.0M  0B  -40.0M gone  ±6.3M  [1..n]\n", '"listeners" of on (app.lua:3) →')
      local p = assert(gen.open{path = other, period = 1 << 20, followed = 100000, random = true})
      p:name(8, "main chunk", 0, "@app.lua")
      p:sample{8, 1, kind = 0, size = 64}
      p:collection{fates = "0", major = true}
      assert(p:close())
      -- the second profile has no live object at its end, so that no search found a holder
      _, out = run("--by", "alive", before, other)
      has(out, "  40.0M  0B  -40.0M gone  ±6.3M  [1..n]\n")
    end)

    it("shows no holders if one profile has none", function()
      local _, out = run("--by", "bytes", a, after)
      assert.is_nil(out:find("By holder", 1, true))
    end)

    it("fits narrow terminals", function()
      for _, columns in ipairs{40, 60, 80} do
        local _, out = run("--all", "--width", tostring(columns), before, after)
        commands.fits(out, columns)
      end
    end)
  end)

  it("reports wrong arguments on one line, exit code 2", function()
    for what, words in pairs{
      ["2 files expected, got 0"] = {}, ["2 files expected, got 1"] = {a},
      ["2 files expected, got 3"] = {a, b, a},
      ["--sigma needs a number from 0 to 100, got '-1'"] = {"--sigma=-1", a, b},
    } do
      local code, out, err = run(table.unpack(words))
      assert.equal(2, code)
      assert.equal("", out)
      assert.equal("asamp diff: " .. what .. "; see asamp diff --help\n", err)
    end
  end)

  it("reports every file that yields nothing, exit code 1", function()
    local empty = make(0, 0)
    local code, out, err = run("/nowhere/x", empty)
    assert.equal(1, (run(a, empty)))
    assert.equal(1, (run(empty, a)))
    os.remove(empty)
    assert.equal(1, code)
    assert.equal("", out)
    assert.equal("asamp diff: cannot read profile '/nowhere/x': No such file " ..
      "or directory\nasamp diff: '" .. empty .. "' has no samples; profile again with a smaller " ..
      "--alloc\n", err)
  end)
end)
