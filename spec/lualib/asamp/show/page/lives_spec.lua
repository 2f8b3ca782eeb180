-- SPDX-License-Identifier: MIT
-- What the page of `asamp view` tells of likely leaks, lifetimes and of where
-- the time of a line went, against what the report tells of the same profile.

local browser = require "spec.support.browser"
local leaks = require "asamp.sums.leaks"
local lifetimes = require "asamp.sums.lifetimes"
local shown = require "asamp.show.leaks"
local lives = require "asamp.show.page.lives"
local pages = require "spec.support.pages"
local process = require "spec.support.process"
local reader = require "profiler.reader"
local totals = require "asamp.sums.totals"
local units = require "asamp.show.units"

-- A server that keeps something of every fifth request.
local SERVER = [[
local log = {}
local function handle(i)
  local words = {}
  for word in ("request %d of many"):format(i):rep(8):gmatch "%w+" do
    words[#words + 1] = word
  end
  if i % 5 == 0 then log[#log + 1] = table.concat(words, ",") end
  table.sort(words)
end
for i = 1, 8000 do handle(i) end
]]

describe("the page of asamp view #plain", function()
  local path, b
  setup(function()
    b = browser.open()
    local script = process.file(SERVER)
    path = script .. ".vmprof"
    assert.equal(0, (process.run{"-l", "profiler", script,
      env = {LUA_PROFILER = "alloc=2048,time=1000,seed=7,out=" .. path}}))
    os.remove(script)
    assert.equal(0, (pages.run(path)))
  end)
  teardown(function()
    if b then b:close() end
    if path then os.remove(path) os.remove(path .. ".html") end
  end)
  before_each(function()
    b:look(1280, 1000)
    b:visit(path .. ".html")
  end)
  after_each(function()
    assert.same({}, b.errors)
  end)

  local function rows(label)
    local list = [[[...document.querySelectorAll("[aria-label='%s'] .spacer .row")].map(row =>
      [...row.children].map(cell => cell.innerText.replace(/\s*\n\s*/g, "  ").replace(/,/g, "")))]]
    return b:eval(list:format(label))
  end

  it("lists the lines that are likely to leak, as the report does", function()
    b:press "7"
    local found = leaks.of(assert(reader.read(path, {bins = leaks.BINS})))
    assert.is_true(#found.rows > 0)
    local wanted = {}
    for i, row in ipairs(found.rows) do
      wanted[i] = {units.bytes(row.keptbytes), ("%.0f%%"):format(100 * row.kept / row.samples),
                   ("%d of %d"):format(row.parts, row.of), row.type,
                   ("%s:%d  %s"):format(row.file, row.line, row.name)}
    end
    assert.same(wanted, rows "Likely leaks")
    assert.truthy(b:text "#panel-leaks":find(shown.told(found), 1, true))
    b:press "Enter"  -- shows the line among the others
    assert.equal(("%s:%d"):format(found.rows[1].file, found.rows[1].line), rows "Lines"[1][7])
  end)

  it("tells how long things lived, as the report does", function()
    b:press "7"
    local profile = assert(reader.read(path))
    local wanted = {}
    for i, row in ipairs(lifetimes.of(profile)) do
      wanted[i] = {row.kind == "young" and "died young" or row.kind == "alive" and "alive"
                   or "< " .. units.bytes(row.below), units.bytes(row.bytes),
                   units.percent(row.bytes, profile.bytes)}
    end
    local seen = rows "By lifetime"
    for i, row in ipairs(seen) do seen[i] = {row[1], row[2], row[3]} end
    assert.same(wanted, seen)
    assert.is_true(#seen > 1)
  end)

  it("tells where the time of lines went: Lua, C functions, collections", function()
    b:click "[name=mode][value=time]"
    b:press "4"
    local t = totals.of(assert(reader.read(path)))
    local list, whole = totals.sorted(t.lines, "timesamples"), t.whole.timesamples
    local seen = rows "Lines"
    assert.is_true(#seen > 1)
    for i, row in ipairs(seen) do
      local own = list[i].self
      assert.same({units.percent(own.timesamples - own.nativesamples - own.gcsamples, whole),
                   units.percent(own.nativesamples, whole), units.percent(own.gcsamples, whole)},
                  {row[5], row[6], row[7]})
    end
  end)

  it("says when a profile tells nothing of leaks, and how many lines it leaves out", function()
    local profile = assert(reader.read(path, {bins = leaks.BINS}))
    profile.course = nil
    assert.truthy(lives.leaks(profile).told:find "does not tell enough")
    local found = leaks.of
    finally(function() leaks.of = found end)
    leaks.of = function()
      local all = {proved = true, before = 1, after = 2, grew = true, kept = true, late = 1, rows = {}}
      for i = 1, 512 do
        all.rows[i] = {file = "x", line = i, name = "f", kept = 1, keptbytes = 1, samples = 1,
                       parts = 1, of = 1, type = "table", group = i}
      end
      return all
    end
    local told = lives.leaks(profile)
    assert.equal(12, told.left)
    assert.equal(500, #told.rows)
  end)
end)
