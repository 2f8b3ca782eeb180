-- SPDX-License-Identifier: MIT
-- Labels and Lua states on the page of `asamp view`, compared with those that the reader returns for the
-- same profile. If the profile has none, the page must have a note.

local pages = require "spec.support.pages"
local process = require "spec.support.process"
local profilegen = require "profilegen"
local reader = require "profiler.reader"
local units = require "asamp.show.units"

local SERVER = [[
  local profiler = require "profiler"
  profiler.enable{out = ..., alloc = 1024, seed = 3}
  local function handle(n) local t = {} for i = 1, n do t[i] = {i} end return #t end
  for _ = 1, 200 do
    for route, n in pairs{["/a"] = 50, ["/b"] = 100, ["/c"] = 200} do
      profiler.with({route = route}, handle, n)
    end
  end
  assert(profiler.disable())
]]

describe("the page of asamp view #plain", function()
  local b, path = pages.browse(nil, 1280, 1600)
  after_each(function() os.remove(path) end)

  local function rows(label) return b:rows(label) end

  local function says(text)
    return b:eval "document.getElementById('panel-apart').innerText":find(text, 1, true) ~= nil
  end

  local function visit()
    assert.equal(0, (pages.run(path)))
    b:visit(path .. ".html")
    b:press "9"
  end

  it("shows routes that allocate 1:2:4 as such, and says that there is one state", function()
    local code, _, err = process.run{code = SERVER, path}
    assert.same({0, ""}, {code, err})
    visit()
    local samples, wanted = {}, {}
    for _, set in ipairs(assert(reader.read(path)).labels) do
      local route = set.labels.route or "(none)"
      samples[route], wanted[route] = set.samples, units.bytes(set.bytes)
    end
    local seen, a, bb, c = {}, samples["/a"], samples["/b"], samples["/c"]
    for _, row in ipairs(rows "By label route") do seen[row[#row]] = row[1] end
    assert.same(wanted, seen)
    -- route /b must have twice the samples of /a, and /c twice those of /b. The tolerance is six standard
    -- errors of each difference.
    assert.is_true(a > 300, a)
    assert.is_true(math.abs(bb - 2 * a) <= 6 * math.sqrt(bb + 4 * a), ("%d %d"):format(a, bb))
    assert.is_true(math.abs(c - 2 * bb) <= 6 * math.sqrt(c + 4 * bb), ("%d %d"):format(bb, c))
    assert.is_true(says "has one Lua state")
  end)

  it("shows the Lua states of a process, and says that there are no labels", function()
    local p = assert(profilegen.open{path = path, states = true, period = 100})
    for id = 0, 2 do
      p:start(id)
      p:called("script" .. id % 2)
      p:name(8, "f", 1, "@a.lua")
      for _ = 0, id do p:sample{8, 1} end
      p:collection{fates = ("0"):rep(id + 1), time = 0}
    end
    p:close()
    visit()
    assert.same({{"300 bytes", "50.0%", "1", "1", "2 script0"}, {"200 bytes", "33.3%", "1", "1", "1 script1"},
                 {"100 bytes", "16.7%", "1", "1", "0 script0"}}, rows "By Lua state")
    assert.same({{"400 bytes", "66.7%", "2", "2", "script0"}, {"200 bytes", "33.3%", "1", "1", "script1"}},
                rows "Lua states by script")
    assert.is_true(says "has set no labels")
  end)
end)
