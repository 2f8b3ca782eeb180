-- SPDX-License-Identifier: MIT
-- The page's modes "At the peak" and "Died young", compared with the report, and the paths of holders in
-- its view of leaks.

local commands = require "spec.support.commands"
local gen = require "profilegen"
local pages = require "spec.support.pages"
local process = require "spec.support.process"
local report = require "asamp.commands.report"

local run = commands.of(report)

-- Writes a profile with two functions. Objects of 'big' are alive at the collection with the most memory in
-- use, and dead at the next one; objects of 'kept' stay alive.
local function make(path)
  local p = assert(gen.open{path = path, period = 1 << 20, followed = 100, command = "lua app.lua"})
  local t0, MS = gen.now(), 1000000
  p:name(8, "main chunk", 0, "@app.lua")
  p:name(16, "big", 10, "@app.lua")
  p:name(24, "kept", 20, "@app.lua")
  local function add(n, fn, ms)
    for i = 1, n do p:sample{fn, 1, 8, 1, kind = 0, size = 64, time = t0 + ms * MS + i} end
  end
  local function collection(ms, inuse, fates, deaths)
    p:collection{inuse = inuse << 20, held = 50 << 20, rss = 60 << 20, duration = MS, major = deaths ~= nil,
                 fates = fates, deaths = deaths, time = t0 + ms * MS}
  end
  add(20, 16, 10)
  add(5, 24, 20)
  collection(100, 22, ("1"):rep(18) .. "00" .. ("1"):rep(4) .. "0")
  -- the last argument has the lengths of runs of followed samples: 0 live ones, then 18 dead ones
  collection(101, 4, "", {0, 18})
  add(10, 24, 500)
  collection(1000, 8, ("1"):rep(4) .. ("0"):rep(6))
  assert(p:close())
end

describe("the page of asamp view #plain", function()
  local b, path = pages.browse(make)

  local function functions(mode)
    b:press "3"
    b:click(("[name=mode][value=%s]"):format(mode))
    local out = {}
    for _, row in ipairs(b:rows "Functions") do out[row[#row]:match "^%S+"] = row[1] end
    return out
  end

  it("counts the samples alive when most was in use, as the report does", function()
    assert.same({big = "18 MiB", kept = "4 MiB", main = "–"}, functions "peak")
    local text = b:text "#selection"
    assert.truthy(text:find "^22 MiB alive when most of Lua's heap was in use.*%(22 MiB at %d+ ms%)", text)
    local code, out = run("--at", "peak", "--json", path)
    assert.equal(0, code)
    local json = require "cjson".decode(out)
    assert.equal(22 << 20, json.bytes)
    assert.same({kept = "8 MiB", main = "–"}, functions "alive")
  end)

  it("counts the samples that died young: neither survivors nor undecided ones", function()
    assert.same({big = "2 MiB", kept = "7 MiB", main = "–"}, functions "young")
    assert.truthy(b:text "#selection":find("dead at the first collection: temporary objects", 1, true))
  end)

  it("disables the peak for standard input", function()
    local html = path .. ".stdin.html"
    assert(os.execute(("build/bin/asamp view -o %s - <%s >/dev/null 2>&1"):format(html, path)))
    b:visit(html)
    assert.is_true(b:eval "document.querySelector('[name=mode][value=peak]').disabled")
    assert.is_false(b:eval "document.querySelector('[name=mode][value=young]').disabled")
  end)

  it("shows the whole paths of a leak, which may be long, as text", function()
    local code, _, err = process.run{code = [[
      local profiler = require "profiler"
      profiler.enable{out = ..., alloc = 1024, seed = 3}
      local bus = {["<b>"] = {["a name that is longer than some columns are"] = {}}}
      local list = bus["<b>"]["a name that is longer than some columns are"]
      bus, list = {inner = bus}, nil
      for i = 1, 200000 do
        local t = bus.inner["<b>"]["a name that is longer than some columns are"]
        t[#t + 1] = {i}
        local _ = {} , {}
      end
      collectgarbage()
      assert(profiler.disable())
    ]], path .. ".leak"}
    assert.same({0, ""}, {code, err})
    assert.equal(0, (pages.run(path .. ".leak")))
    b:look(500, 900)
    b:visit(path .. ".leak.html")
    b:press "7"
    local text = b:text ".paths"
    local tail = '["inner"] → ["<b>"] → ["a name that is longer than some columns are"]'
    assert.truthy(text:find(tail, 1, true), text)
    assert.is_true(b:eval "document.documentElement.scrollWidth" <= 500)
  end)
end)
