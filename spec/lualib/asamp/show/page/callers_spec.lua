-- SPDX-License-Identifier: MIT
-- The page of `asamp view`: the callers and callees of a function, the flame graph that starts with the
-- innermost functions, and links that restore a view.

local gen = require "profilegen"
local pages = require "spec.support.pages"
local reader = require "profiler.reader"
local focus = require "asamp.sums.focus"
local totals = require "asamp.sums.totals"
local units = require "asamp.show.units"

describe("the page of asamp view #plain", function()
  local b, path, folder = pages.browse(function(path)
    local p = assert(gen.open{path = path, period = 1 << 20, timeperiod = 1000000})
    for i, name in ipairs{"main", "a", "b", "leaf", "other"} do p:name(8 * i, name, 10 * i, "@app.lua") end
    local t = gen.now()
    local function sample(n, ...)
      for i = 1, n do p:sample{kind = n % 2 * 3, size = 64, time = t + (n * 10 + i) * 1000000, ...} end
    end
    -- the stack of leaf, called by a, called by main
    sample(12, 32, 41, 16, 21, 8, 1)
    -- the stack of leaf, called by b, called by main
    sample(7, 32, 41, 24, 31, 8, 1)
    -- the stack of leaf, called by a, called by b, called by main
    sample(4, 32, 42, 16, 22, 24, 31, 8, 1)
    -- the stack of a, called by a, called by main
    sample(3, 16, 23, 16, 21, 8, 1)
    -- the stack of other, called by leaf, called by a, called by main
    sample(2, 40, 51, 32, 43, 16, 21, 8, 1)
    for i = 1, 5 do p:time{40, 51, 8, 1, time = t + i * 1000000} end
    assert(p:close())
  end)

  -- Opens all rows of the tree with this label. Returns "depth name total" of each row.
  local function tree(label)
    return b:eval(([[(() => {
      const grid = document.querySelector("[role=tabpanel]:not([hidden]) [aria-label='%s']");
      for (let i = 0; i < 20; i++) {
        const closed = grid.querySelector("[aria-expanded=false]");
        if (closed) closed.click();
      }
      return [...grid.querySelectorAll(".spacer .row")].map(row => [row.getAttribute("aria-level"),
        row.querySelector("b").innerText, row.children[1].innerText].join(" "));
    })()]]):format(label))
  end

  it("shows the callers and callees of a function, as the report does", function()
    -- selects leaf, which has the largest self value
    b:press "3"
    b:press "Enter"
    assert.truthy(b:text "#panel-callers h3":find("leaf app.lua:40 total 25 MiB · 89.3%", 1, true))
    assert.same({"1 leaf 25 MiB", "2 a 18 MiB", "3 main 14 MiB", "3 b 4 MiB", "4 main 4 MiB",
                 "2 b 7 MiB", "3 main 7 MiB"}, tree "Callers")
    assert.same({"1 leaf 25 MiB", "2 other 2 MiB"}, tree "Callees")
    local profile = assert(reader.read(path))
    local _, entries = focus.cover(profile, focus.byfunction "leaf")
    local bycaller = {}
    for _, row in ipairs(focus.callers(profile, entries, totals.of(profile).sums, "bytes")) do
      bycaller[row.name] = (bycaller[row.name] or 0) + row.total.bytes
    end
    assert.same({"18 MiB", "7 MiB"}, {units.bytes(bycaller.a), units.bytes(bycaller.b)})
  end)

  it("counts a function that calls itself once among its callers", function()
    b:press "1"
    -- selects a, the callee of main with the most bytes
    b:press("ArrowDown", "ArrowDown", "c")
    assert.same({"1 a 21 MiB", "2 main 17 MiB", "2 b 4 MiB", "3 main 4 MiB"}, tree "Callers")
    assert.same({"1 a 21 MiB", "2 leaf 18 MiB", "3 other 2 MiB", "2 a 3 MiB"}, tree "Callees")
    b:click "[name=mode][value=time]"
    assert.truthy(b:text "#panel-callers":find("Nothing to show", 1, true))
  end)

  it("turns graph and tree round: the innermost functions first, below them their callers", function()
    b:press "2"
    b:click "#inverted"
    assert.same({"1 all 28 MiB",
                 "2 leaf 23 MiB", "3 a 16 MiB", "4 main 12 MiB", "4 b 4 MiB", "5 main 4 MiB", "3 b 7 MiB",
                 "4 main 7 MiB", "2 a 3 MiB", "3 a 3 MiB", "4 main 3 MiB",
                 "2 other 2 MiB", "3 leaf 2 MiB", "4 a 2 MiB", "5 main 2 MiB"}, tree "Call tree")
    b:press "1"
    b:press("Home", "ArrowDown")
    assert.truthy(b:text "#frame":gsub("\n+", " "):find "^leaf .*total 23 MiB · 82.1%% · self 23 MiB")
    b:press("ArrowDown", "Enter")
    assert.truthy(b:text ".chip":find("zoomed: a", 1, true))
    b:click "#inverted"
    assert.truthy(b:text "#frame":find "^all")
    assert.equal(0, b:eval "document.querySelectorAll('.chip').length")
  end)

  it("says of how many frames it did not look for callers, as they are too small", function()
    local p = assert(gen.open{path = folder .. "/small.vmprof", period = 1 << 20})
    p:sample{8, 1, kind = 0, size = 64, count = 50000}
    p:sample{16, 2, 8, 1, kind = 0, size = 64}
    assert(p:close())
    assert.equal(0, (pages.run(folder .. "/small.vmprof")))
    b:visit(folder .. "/small.vmprof.html")
    b:click "#inverted"
    assert.truthy(b:text "#selection":find("callers of 1 small frame are not shown", 1, true))
    b:click "#inverted"
    assert.is_nil(b:text "#selection":find("small frame", 1, true))
  end)

  -- Returns the fragment of the page's address. The page writes it after a short delay.
  local function fragment()
    b:eval "new Promise(done => setTimeout(done, 250))"
    return b:eval "location.hash"
  end

  it("keeps its state in its address, and restores it", function()
    assert.equal("", fragment())
    b:press "2"
    b:click "#inverted"
    b:press "/"
    b:type "leaf & <b>"
    b:press "Escape"
    b:press "/"
    b:type "leaf"
    b:press "Enter"
    b:click "[name=mode][value=samples]"
    b:press "5"
    b:press "Enter"
    b:press "1"
    b:press("Home", "ArrowDown", "Enter")
    local function seen()
      return {b:text "#selection", b:text "#found", b:eval "document.getElementById('inverted').checked",
              b:eval "document.querySelector('[role=tab][aria-selected=true]').innerText",
              b:eval "document.getElementById('search').value"}
    end
    local before, hash = seen(), fragment()
    assert.truthy(hash:find("search=leaf", 1, true) and hash:find("by=samples", 1, true)
                  and hash:find("zoom=", 1, true) and hash:find("type=", 1, true), hash)
    b:visit "/dev/null"
    b:visit(path .. ".html" .. hash)
    assert.same(before, seen())
    assert.equal(hash, fragment())
    b:eval "location.hash = '#view=callers&function=3'"
    assert.truthy(b:text "#panel-callers h3":find "^%S+ app.lua")
    assert.equal("", b:eval "document.getElementById('search').value")
    b:visit "/dev/null"
    b:visit(path .. ".html#range=0-1")
    assert.equal(1, b:eval "document.querySelectorAll('.chip').length")
  end)

  it("takes only valid states of this page from a fragment, whatever else is in it", function()
    for _, hash in ipairs{"#%", "#view=nothing&by=constructor&range=9-3&type=999999999&zoom=12345678",
                          "#range=0-99999&type=1e3&zoom=NaN&inverted=yes&function=-1",
                          "#__proto__=1&view=__proto__&by=&search=",
                          "#" .. ("&view=x"):rep(5000), "#type=1&function=99999999999999999999", "#zoom=1.5",
                          "#%ff%fe=%00&range=%00-%ff"} do
      b:visit "/dev/null"
      b:visit(path .. ".html" .. hash)
      assert.equal("28 MiB", b:text "#whole", hash)
      assert.equal(0, b:eval "document.querySelectorAll('.chip').length", hash)
      assert.truthy(b:text "#frame":find "^all")
    end
    b:visit "/dev/null"
    b:visit(path .. ".html#search=<img src=x onerror=hacked=1>&view=functions&by=samples&zoom=99")
    assert.equal("28", b:text "#whole")
    assert.equal("undefined", b:eval "typeof hacked")
    assert.equal("Functions", b:eval "document.querySelector('[role=tab][aria-selected=true]').innerText")
  end)
end)
