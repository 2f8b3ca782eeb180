-- SPDX-License-Identifier: MIT
-- The page of `asamp view` in narrow windows, with unusual files and problematic names. No text may be
-- reversed, cut without need or drawn over other text, and the numbers must be those of the report.

local gen = require "profilegen"
local measures = require "asamp.sums.measures"
local pages = require "spec.support.pages"
local process = require "spec.support.process"
local reader = require "profiler.reader"
local shell = require "spec.support.shell"
local totals = require "asamp.sums.totals"
local units = require "asamp.show.units"

local MS = 1000000

describe("the page of asamp view #plain", function()
  local b, path = pages.browse()

  -- Writes a profile by the call fill(profile, start time) and opens its page.
  local function visit(options, fill, width)
    options.path, options.period = path, 1 << 20
    local p = assert(gen.open(options))
    fill(p, gen.now())
    assert(p:close())
    assert.equal(0, (pages.run(path)))
    b:look(width or 1280, 1000)
    b:visit(path .. ".html")
  end

  -- Returns true if the first character of every visible element is to the left of its last one.
  local function straight(selector)
    return b:eval(([[[...document.querySelectorAll("[role=tabpanel]:not([hidden]) %s")].map(e => {
      const walk = document.createTreeWalker(e, NodeFilter.SHOW_TEXT), texts = [];
      while (walk.nextNode()) if (walk.currentNode.length > 0) texts.push(walk.currentNode);
      if (texts.length === 0) return true;
      const at = (text, i) => {
        const range = document.createRange();
        range.setStart(text, i);
        range.setEnd(text, i + 1);
        return range.getBoundingClientRect().left;
      };
      const last = texts[texts.length - 1];
      return at(texts[0], 0) < at(last, last.length - 1) || `turned: ${e.textContent}`;
    })]]):format(selector))
  end

  it("turns no name round that starts or ends with a sign", function()
    -- The page shortens paths at their start, by a style with right-to-left direction. A former bug: the
    -- class _UBOX* was shown as *UBOX_.
    visit({}, function(p, t)
      p:name(8, "_f*", 3, "@_app*/שלום.(lua)")
      p:class(1, "_UBOX*")
      for i = 1, 20 do p:sample{8, 4, kind = 0, size = 64, time = t + i} end
      p:collection{time = t + 30, fates = ("1"):rep(20),
                   classes = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}}
    end)
    for tab, selectors in pairs{["2"] = {".label i"}, ["3"] = {".label b", ".label i"},
                                ["4"] = {".path"}, ["5"] = {".label i"}} do
      b:press(tab)
      for _, selector in ipairs(selectors) do
        local list = straight(selector)
        assert.is_true(#list > 0, tab .. selector)
        for _, is in ipairs(list) do assert.is_true(is) end
      end
    end
    assert.equal("_UBOX*", b:text "#panel-types .label i")
  end)

  -- A former bug: the page contained characters that change the direction of text, so that the name of a
  -- file and the line number after it were shown from right to left. Terminal output replaces such
  -- characters.
  it("shows no character that turns the direction of a row", function()
    visit({}, function(p, t)
      p:name(8, "f\u{2066}", 3, "@a\u{202e}12.lua")
      p:class(1, "C\u{202b}")
      p:sample{8, 4, kind = 0, size = 64, time = t}
      p:mark("m\u{2069}", "\u{202a}")
      p:collection{time = t + 30, fates = "1", classes = {1}}
    end)
    local text = shell.read(path .. ".html")
    for _, code in ipairs{0x202a, 0x202b, 0x202e, 0x2066, 0x2069} do
      assert.is_nil(text:find(utf8.char(code), 1, true), code)
    end
    b:press "4"
    assert.equal("a?12.lua:4", b:text "#panel-lines .path")
  end)

  it("writes types out in a narrow window, as the report calls them", function()
    visit({followed = 100}, function(p, t)
      for i, kind in ipairs{1, 2, 2} do p:sample{8, 4, kind = kind, size = 64, time = t + i} end
      p:collection{time = t + 9, fates = "011"}
    end, 500)
    b:press "5"
    local seen = b:eval [[[...document.querySelectorAll("#panel-types .label b")].map(
      e => e.scrollWidth > e.clientWidth ? "cut: " + e.innerText : e.innerText)]]
    local t = totals.of(reader.read(path))
    assert.same({t.types[1].name, t.types[2].name}, seen)
    assert.same({"table hash part", "table array part"}, seen)
  end)

  it("keeps the names of marks within the timeline", function()
    visit({}, function(p, t)
      for i = 1, 20 do p:sample{8, 4, kind = 0, size = 64, time = t + i * 50 * MS} end
      for i = 1, 9 do p:mark(("WÜ"):rep(40), "", t + (500 + i * 50) * MS) end
      p:collection{time = t + 1001 * MS, fates = ("1"):rep(20), inuse = 1 << 20, held = 2 << 20}
    end)
    for _, width in ipairs{1400, 700, 500} do
      b:look(width, 1000)
      local beyond = b:eval [[(() => {
        const right = document.querySelector(".timeline svg").getBoundingClientRect().right;
        return [...document.querySelectorAll(".flag text")].map(
          e => e.getBoundingClientRect().right - right);
      })()]]
      assert.is_true(#beyond > 0)
      for _, by in ipairs(beyond) do assert.is_true(by <= 1, ("%g beyond at %d"):format(by, width)) end
    end
  end)

  it("draws its timeline in the narrowest window without an error", function()
    visit({}, function(p, t)
      for i = 1, 20 do p:sample{8, 4, kind = 0, size = 64, time = t + i * 50 * MS} end
      p:collection{time = t + 1001 * MS, fates = ("1"):rep(20), inuse = 1 << 20, held = 2 << 20}
    -- a former bug: at a width of 60 px, rectangles had a width of -28
    end, 60)
    assert.is_true(b:eval "document.querySelector('.brush .overlay').width.baseVal.value > 0")
  end)

  it("writes the times of a range so that slices have different ones", function()
    -- A former bug: for a session of 3 ms, the labels of the axis were "0" to "0.00 s", and the times of its
    -- slices "0.0000".
    visit({}, function(p, t)
      for i = 1, 20 do p:sample{8, 4, kind = 0, size = 64, time = t + i * MS // 10} end
      p:collection{time = t + 3 * MS, fates = ("1"):rep(20), inuse = 1 << 20, held = 2 << 20}
    end)
    assert.is_true(tonumber(b:eval "document.querySelectorAll('.range input')[1].placeholder") > 0.0029)
    b:eval [[(() => {
      const to = document.querySelectorAll(".range input")[1];
      to.value = "0.00001";
      to.dispatchEvent(new Event("change"));
    })()]]
    local value = tonumber(b:eval "document.querySelectorAll('.range input')[1].value")
    assert.is_true(value > 0 and value < 0.0002, tostring(value))
  end)

  it("puts no figure of the head into a row alone", function()
    visit({timeperiod = 10 * MS, followed = 100}, function(p, t)
      for i = 1, 20 do
        p:sample{8, 4, kind = 0, size = 64, time = t + i * 50 * MS}
        p:time{8, 4, time = t + i * 50 * MS}
      end
      p:collection{time = t + 1001 * MS, fates = ("1"):rep(20), inuse = 1 << 20, held = 2 << 20,
                   duration = 2 * MS}
    end)
    for _, width in ipairs{1400, 1280, 1100, 900, 700, 500} do
      b:look(width, 1000)
      local rows = b:eval [[Object.values(Object.groupBy(document.querySelectorAll("#facts > div"),
                                                         e => e.offsetTop)).map(row => row.length)]]
      local n = 0
      for _, row in ipairs(rows) do
        n = n + row
        assert.is_true(row > 1, ("alone at %d"):format(width))
      end
      assert.equal(9, n)
    end
  end)

  -- A former bug: at widths from 641 to 1024 px, the numbers left no space for the names.
  it("leaves space for names next to their numbers, at any width", function()
    visit({timeperiod = 10 * MS, followed = 100}, function(p, t)
      for i = 1, 40 do
        p:sample{8, 4, kind = 0, size = 64, time = t + i * 50 * MS}
        p:time{8, 4, time = t + i * 50 * MS}
      end
      p:collection{time = t + 2001 * MS, fates = ("1"):rep(40), inuse = 1 << 20, held = 2 << 20}
    end)
    for _, width in ipairs{500, 641, 700, 768, 900, 1024, 1400, 1920} do
      b:look(width, 1000)
      for _, mode in ipairs{"bytes", "time"} do
        b:click(("[name=mode][value=%s]"):format(mode))
        for key, name in pairs{["3"] = "function", ["4"] = "line"} do
          b:press(key)
          local px = b:eval(([[Math.max(0, ...[...document.querySelectorAll("[role=columnheader]")]
            .filter(e => e.textContent.startsWith("%s")).map(e => e.offsetWidth))]]):format(name))
          assert.is_true(px >= 140, ("%s at %d, %s: %d px"):format(name, width, mode, px))
        end
      end
    end
  end)

  it("names a line without a file as the report does", function()
    -- load(text, "=") creates code with an empty source name. A former bug: the row of such code in the
    -- table of lines had no name.
    visit({}, function(p, t)
      p:name(8, "f", 1, "")
      p:sample{8, 4, kind = 0, size = 64, time = t}
    end)
    b:press "4"
    assert.equal("?", b:text "#panel-lines .spacer .path")
  end)

  -- A former bug: at widths up to 640 px, the columns of a row were one below the other, over the following
  -- rows.
  it("has the cells of a row side by side, at any width", function()
    visit({followed = 100}, function(p, t)
      for i = 1, 40 do p:sample{8, 4, kind = 0, size = 64, time = t + i * 50 * MS} end
      p:collection{time = t + 2001 * MS, fates = ("1"):rep(40), inuse = 1 << 20, held = 2 << 20}
    end)
    for _, width in ipairs{320, 500, 640, 641, 1400} do
      b:look(width, 1000)
      for _, key in ipairs{"2", "3", "4", "5"} do
        b:press(key)
        local beyond = b:eval [[[...document.querySelectorAll(
          "[role=tabpanel]:not([hidden]) .grid .row")].map(row => row.scrollHeight - row.clientHeight)]]
        assert.is_true(#beyond > 1)
        for _, by in ipairs(beyond) do
          assert.is_true(by <= 1, ("%d px below its row in view %s at %d"):format(by, key, width))
        end
      end
    end
  end)

  it("writes nothing in a colour that WCAG's AA finds too close to its background", function()
    -- A former bug: the file and line in a frame had a contrast of 3.6 to 1; small text needs 4.5 to 1.
    visit({}, function(p, t) p:sample{8, 4, kind = 0, size = 64, time = t} end)
    local frames = {"lua1", "lua2", "lua3", "lua4", "lua5", "native", "collector", "rest"}
    for _, scheme in ipairs{"light", "dark"} do
      b:look(1280, 1000, scheme)
      for front, backs in pairs{
        text = {"bg", "panel", "soft", "accent-soft", "warn", "mark"},
        muted = {"bg", "panel", "soft", "accent-soft"},
        accent = {"panel", "accent-soft"}, flag = {"panel"}, ["match-text"] = {"match"},
        ["frame-text"] = frames, ["frame-dim"] = frames,
      } do
        for _, back in ipairs(backs) do
          local ratio = b:eval(([[(() => {
            const light = name => {
              const probe = document.body.appendChild(document.createElement("span"));
              probe.style.color = `var(--${name})`;
              const [r, g, b] = getComputedStyle(probe).color.match(/\d+/g).map(n => n / 255)
                .map(n => n <= 0.03928 ? n / 12.92 : ((n + 0.055) / 1.055) ** 2.4);
              probe.remove();
              return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
            };
            const two = [light("%s"), light("%s")];
            return Math.max(...two) / Math.min(...two);
          })()]]):format(front, back))
          assert.is_true(ratio >= 4.5, ("%s on %s, %s: %.2f"):format(front, back, scheme, ratio))
        end
      end
    end
  end)

  -- Opens the page of a profile that was cut, so that it lacks the details of its last samples. The writer
  -- stores details in batches of 16,384 samples.
  local function cut()
    visit({}, function(p, t)
      p:name(8, "f", 3, "@app.lua")
      for i = 1, 20 do p:sample{8, 4, kind = 0, size = 64, time = t + i * MS} end
      p:collection{time = t + 30 * MS, inuse = 1 << 20, held = 2 << 20, fates = ("01"):rep(10)}
      for i = 1, 17500 do
        p:sample{8, i * 7919 % 65536, kind = 0, size = 64, time = t + 40 * MS + i * 4 * MS // 20}
      end
    end)
    local whole = process.read(path)
    for n = #whole - 1, 1, -#whole // 40 do
      local name = process.file(whole:sub(1, n))
      local profile = reader.read(name)
      if profile and profile.undetailed > 500 and profile.survived > 0 then
        return name, profile
      end
      os.remove(name)
    end
    error "no such cut"
  end

  it("agrees with itself and the report on the shares of a cut file", function()
    local name, profile = cut()
    assert.equal(0, (pages.run(name, "-o", path .. ".html")))
    b:visit(path .. ".html")
    local share = units.percent(measures.fate(totals.of(profile).whole, "survived"))
    assert.truthy((b:text "#facts"):gsub("\n+", " "):find(share .. " survived", 1, true), share)
    assert.truthy((b:text "#frame"):find(share .. " survived", 1, true), b:text "#frame")
  end)

  it("does not let samples without times flatten the timeline of a cut file", function()
    local name, profile = cut()
    assert.equal(0, (pages.run(name, "-o", path .. ".html")))
    b:visit(path .. ".html")
    assert.truthy(b:text "#notes":find("size and survival of " ..
      units.plural(profile.undetailed, "sample") .. " are unknown. The times are unknown, too", 1, true))
    local heights = b:eval [[["path.amount:not(.untimed)", "path.untimed"].map(
      s => document.querySelector(s).getBBox().height)]]
    assert.is_true(heights[1] > 40 and heights[2] > 40, table.concat(heights, " "))
  end)

  it("counts time as the report does where its period was set again", function()
    -- A former bug: rows and bars counted samples, so that 40 samples of 1 ms looked four times as large as
    -- 10 samples of 10 ms.
    visit({timeperiod = 10 * MS}, function(p, t)
      p:name(8, "slow", 1, "@app.lua")
      p:name(16, "quick", 5, "@app.lua")
      for i = 1, 10 do p:time{8, 2, time = t + i * 10 * MS} end
      p:timeperiod(MS)
      for i = 1, 40 do p:time{16, 6, time = t + (500 + i) * MS} end
    end)
    b:press "3"
    local rows = b:eval [[[...document.querySelectorAll("#panel-functions .spacer .row")].map(
      row => [row.children[0].innerText, row.querySelector("b").innerText])]]
    assert.same({{"100 ms", "slow"}, {"40 ms", "quick"}}, rows)
    assert.equal("140 ms", b:text "#whole")
    assert.truthy(b:text "#facts":find("140 ms", 1, true))
    local whole = totals.of(reader.read(path)).whole
    assert.truthy((b:text "#facts"):find(("in %.0f samples"):format(measures.observations(whole)), 1, true))
    assert.is_true(b:eval "document.getElementById('notes').innerText.indexOf('period') < 0")
    b:eval [[(() => {
      const from = document.querySelector(".range input");
      from.value = "0.3";
      from.dispatchEvent(new Event("change"));
    })()]]
    assert.equal("40 ms", b:text "#whole")
  end)

  -- A former bug: the buttons that select a measure could not use a second row, so that in a window of 320
  -- px the page was 370 px wide.
  it("is no wider than the window, down to 320 px", function()
    visit({followed = 100}, function(p, t)
      for i = 1, 40 do p:sample{8, 4, kind = 0, size = 64, time = t + i * 50 * MS} end
      p:collection{time = t + 2001 * MS, fates = ("1"):rep(40), inuse = 1 << 20, held = 2 << 20}
    end, 320)
    for key = 1, 8 do
      b:press(tostring(key))
      assert.equal(320, b:eval "document.documentElement.scrollWidth", "in view " .. key)
    end
  end)

  -- A former bug: the time axis of a session of a day had the label 86,400 s.
  it("has hours or days where a session has many", function()
    for hours, unit in pairs{[30] = " h", [200] = " d"} do
      visit({}, function(p, t)
        p:name(8, "f", 1, "@app.lua")
        p:sample{8, 2, kind = 0, size = 64, time = t}
        p:collection{time = t + hours * 3600000 * MS, fates = "1"}
      end)
      local labels = b:eval [=[[...document.querySelectorAll("#timeline .axis .tick text")].map(
        e => e.textContent)]=]
      local n = 0
      for _, label in ipairs(labels) do
        assert.is_nil(label:find "%d s$", label)
        n = n + (label:find(unit .. "$") and 1 or 0)
      end
      assert.is_true(n >= 3, hours .. " hours: " .. table.concat(labels, ", "))
      local length = units.seconds(reader.read(path).duration)
      assert.truthy(length:find(unit, 1, true))
      assert.truthy(b:eval "document.body.innerText":find(length .. "\n", 1, true), length)
    end
  end)
end)
