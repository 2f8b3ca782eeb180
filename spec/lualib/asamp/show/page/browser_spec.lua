-- SPDX-License-Identifier: MIT
-- The page of `asamp view` in a real browser: its content compared with the profile and with the report,
-- the effect of keys and mouse, and that names in a profile are never more than text. Without a browser
-- these specs fail.

local pages = require "spec.support.pages"
local process = require "spec.support.process"
local reader = require "profiler.reader"
local shell = require "spec.support.shell"
local totals = require "asamp.sums.totals"
local units = require "asamp.show.units"

describe("the page of asamp view #plain", function()
  local b, _, folder = pages.browse(function(path, folder)
    shell.write(folder .. "/app.lua", pages.SOURCE)
    pages.profile(path, folder .. "/app.lua")
    return "--source", folder
  end)

  -- Returns the rows of the visible table, each as a list of the texts of its cells.
  local function rows()
    return b:eval [[[...document.querySelectorAll("[role=tabpanel]:not([hidden]) .spacer .row")].map(
      row => [...row.children].map(cell => cell.innerText.replace(/\s*\n\s*/g, "  ")))]]
  end

  -- Opens the view whose key is 'tab', and selects the mode, such as "bytes" (default) or "time".
  local function show(tab, mode)
    b:press(tab)
    b:click(("[name=mode][value=%s]"):format(mode or "bytes"))
  end

  -- Returns the table of functions in this mode: {name = {self, total}}.
  local function functions(mode)
    show("3", mode)
    local out = {}
    for _, row in ipairs(rows()) do
      out[row[#row]:match "^(.-)  " or row[#row]] = {row[1], row[3]}
    end
    return out
  end

  -- Sets the range of time as if the user typed its two limits in seconds.
  local function range(from, to)
    for i, value in ipairs{from, to} do
      b:eval(("(() => { const i = document.querySelectorAll('.range input')[%d]; i.value = '%s'; " ..
              "i.dispatchEvent(new Event('change')); })()"):format(i - 1, value))
    end
  end

  local function chips()
    return b:eval "[...document.querySelectorAll('.chip')].map(c => c.innerText)"
  end

  local function focused()
    return b:eval "document.activeElement.getAttribute('aria-label') || document.activeElement.innerText"
  end

  it("loads without a request to anywhere and without an error", function()
    b:eval "1"
    assert.same({"file://" .. folder .. "/app.vmprof.html"}, b.requests)
    -- the page must make no network request, not even from a script
    local answer = b:eval "fetch('http://127.0.0.1:9/').then(() => 'loaded', () => 'refused')"
    assert.equal("refused", answer)
    assert.truthy(b.errors[1]:find("Content Security Policy", 1, true))
    b.errors = {}
  end)

  it("has the command, the totals and the meaning of numbers in its head", function()
    assert.equal("app.lua " .. pages.HOSTILE, b:text "h1")
    assert.equal("app.lua – Asamp", b:eval "document.title")
    assert.truthy(b:text "#subtitle":find(folder .. "/app.vmprof", 1, true))
    assert.truthy(b:text "#verdict":find("Allocation: ", 1, true), b:text "#verdict")
    assert.truthy(b:text ".swatches":find("collections", 1, true))
    local facts = b:text "#facts":gsub("\n+", " ")
    for _, text in ipairs{"70 MiB allocated, estimated from samples", "70 allocation samples",
                          "1.00 s of CPU time, in 100 samples",
                          "14.3% survived its first collection", "5.7% alive at the end",
                          "2 collections (1 minor, 1 major)",
                          "7 ms longest pause", "20 MiB most in use"} do
      assert.truthy(facts:find(text, 1, true), text .. " in: " .. facts)
    end
    assert.truthy(b:text "#meaning":find("A sample is taken every 1 MiB of allocation", 1, true))
    assert.truthy(b:text "#meaning":find("One time sample represents 10 ms", 1, true))
    local notes = b:text "#notes"
    assert.truthy(notes:find("^No source lines of [^\n]*, which was not found: [^\n]*$"), notes)
  end)

  it("warns of a cut file", function()
    local whole = process.read(folder .. "/app.vmprof")
    local cut = process.file(whole:sub(1, #whole - 60))
    assert.equal(0, (pages.run(cut, "-o", folder .. "/cut.html")))
    b:visit(folder .. "/cut.html")
    assert.truthy(b:text "#notes":find("The page shows the readable part of the file: ", 1, true))
  end)

  -- A former bug: for every program without a sample, or without live objects, the page stated that "its
  -- program was killed, or ran with holders=0".
  it("explains missing holders, and shows one sample as one and collections without a place", function()
    local gen = require "profilegen"
    local function page(name, make)
      local file = ("%s/%s.vmprof"):format(folder, name)
      local p = assert(gen.open{path = file, period = 1 << 20, timeperiod = 1000000, followed = 100})
      p:name(8, "main chunk", 0, "@app.lua")
      make(p)
      assert(p:close())
      assert.equal(0, (pages.run(file)))
      b:visit(file .. ".html")
      b:press "8"
      return b:text "#panel-holders", (b:text "#facts":gsub("\n+", " "))
    end
    local held = page("timed", function(p)
      for _ = 1, 10 do p:time{59, 0, 8, 1} end
    end)
    assert.truthy(held:find("There are no allocation samples, so no references", 1, true), held)
    b:press "7"
    assert.truthy(b:text "#panel-leaks":find("There are no allocation samples.", 1, true))
    b:press "3"
    local table_ = b:text "[aria-label='Functions']"
    assert.truthy(table_:find("[major collection]", 1, true), table_)
    assert.is_nil(table_:find("[C]", 1, true), table_)
    local facts
    held, facts = page("dead", function(p)
      p:sample{8, 1, kind = 0}
      p:collection{fates = "0"}
    end)
    assert.truthy(held:find("No sample was alive at the end.", 1, true), held)
    assert.truthy(facts:find("1 allocation sample", 1, true), facts)
    assert.truthy(facts:find("1 collection (1 minor, 0 major)", 1, true), facts)
    held = page("killed", function(p)
      p:sample{8, 1, kind = 0}
      p:collection{fates = "1"}
    end)
    assert.truthy(held:find("its program was killed, or ran with holders=0.", 1, true), held)
  end)

  it("shows a profile without samples as empty", function()
    local path = folder .. "/empty.vmprof"
    assert(require "profilegen".open{path = path, command = "lua empty.lua"}:close())
    assert.equal(0, (pages.run(path)))
    b:visit(path .. ".html")
    for tab = 1, 8 do
      b:press(tostring(tab))
      b:eval "1"
    end
    assert.equal("empty.lua", b:text "h1")
    assert.truthy(b:text "#panel-types":find("Nothing to show", 1, true))
  end)

  it("counts functions by bytes, samples, survived and alive bytes and time", function()
    local none = "–"
    assert.same({
      load = {"30 MiB", "30 MiB"}, work = {"20 MiB", "35 MiB"}, helper = {"10 MiB", "10 MiB"},
      ["main chunk"] = {none, "70 MiB"}, [pages.HOSTILE] = {"5 MiB", "5 MiB"},
      ["[unknown 0x1001]"] = {"5 MiB", "5 MiB"},
    }, functions "bytes")
    assert.same({
      load = {"30", "30"}, work = {"20", "35"}, helper = {"10", "10"}, ["main chunk"] = {none, "70"},
      [pages.HOSTILE] = {"5", "5"}, ["[unknown 0x1001]"] = {"5", "5"},
    }, functions "samples")
    assert.same({work = {"10 MiB", "10 MiB"}, ["main chunk"] = {none, "10 MiB"}}, functions "survived")
    assert.same({work = {"4 MiB", "4 MiB"}, ["main chunk"] = {none, "4 MiB"}}, functions "alive")
    assert.same({load = {"400 ms", "400 ms"}, work = {"300 ms", "600 ms"}, helper = {"300 ms", "300 ms"},
                 ["main chunk"] = {none, "1.00 s"}}, functions "time")
  end)

  it("agrees with the report on a real program, by function, line and type", function()
    local path = folder .. "/json.vmprof"
    local status = process.run{"-l", "profiler", "bench/load.lua", "json", "tiny",
                               env = {LUA_PROFILER = "alloc=512,seed=7,out=" .. path}}
    assert.equal(0, status)
    assert.equal(0, (pages.run(path)))
    b:visit(path .. ".html")
    local t = totals.of(reader.read(path))
    local function ungrouped(text) return (text:gsub(",", "")) end  -- 1,023 KiB
    show "3"
    -- clicks a button that shows the C frames at the start of each stack, because the report's totals
    -- include them
    b:click "#start"
    for tab, list in pairs{["3"] = t.functions, ["4"] = t.lines} do
      show(tab)
      local seen = rows()
      assert.is_true(#seen > 9)
      for i, row in ipairs(seen) do
        local own, total = list[i].self, list[i].total
        assert.equal(own.bytes > 0 and units.bytes(own.bytes) or "–", ungrouped(row[1]))
        assert.equal(own.bytes > 0 and units.percent(own.bytes, t.whole.bytes) or "–", row[2])
        assert.equal(units.bytes(total.bytes), ungrouped(row[3]))
      end
    end
    show "5"
    for i, row in ipairs(rows()) do
      assert.same({units.bytes(t.types[i].self.bytes), t.types[i].name}, {row[1], row[6]:match "^[^\n]+"})
    end
    assert.equal(units.bytes(t.whole.bytes), b:text "#whole")
  end)

  describe("of a program that C has started", function()
    local path
    local gen = require "profilegen"
    setup(function()
      path = folder .. "/started.vmprof"
      local p = assert(gen.open{path = path, period = 1 << 20})
      p:name(8, "main chunk", 0, "@app.lua")
      local t = gen.now()
      for i = 1, 40 do
        p:sample{8, i % 2, 0x3001, 0, 0x2001, 0, 0x1001, 0, kind = 0, size = 64, time = t + i}
      end
      p:sample{0x4001, 0, 0x2001, 0, 0x1001, 0, kind = 0, size = 64, time = t + 41}
      assert(p:close())
      assert.equal(0, (pages.run(path)))
    end)
    before_each(function() b:visit(path .. ".html") end)

    it("leaves out the C frames at the root of all stacks, and shows them on demand", function()
      local function read()
        local total = {}
        for name, row in pairs(functions()) do total[name] = row[2] end
        return total
      end
      assert.same({["main chunk"] = "40 MiB", ["[unknown 0x4001]"] = "1 MiB"}, read())
      assert.equal("41 MiB", b:text "#whole")
      show "1"
      assert.truthy(b:text "#frame":find(
        "through [unknown 0x1001], [unknown 0x2001], [unknown 0x3001]", 1, true))
      b:click "#start"
      assert.equal("all", b:text "#frame b")
      assert.is_nil(b:text "#frame":find("through", 1, true))
      assert.same({["main chunk"] = "40 MiB", ["[unknown 0x4001]"] = "1 MiB",
                   ["[unknown 0x1001]"] = "41 MiB", ["[unknown 0x2001]"] = "41 MiB",
                   ["[unknown 0x3001]"] = "40 MiB"}, read())
    end)

    it("keeps the C frames in which samples end, or of which there are several", function()
      for _, stacks in ipairs{
        -- the second stack contains only the C function
        {{8, 1, 0x1001, 0}, {0x1001, 0}},
        -- half of the stacks start with another C function
        {{8, 1, 0x1001, 0}, {8, 1, 0x2001, 0}},
        -- a Lua function is outermost in these stacks
        {{0x1001, 0, 8, 1}, {0x2001, 0, 8, 1}},
      } do
        local p = assert(gen.open{path = path, period = 1 << 20})
        p:name(8, "main chunk", 0, "@app.lua")
        for i = 1, 20 do
          local s = stacks[1 + i % 2]
          s.kind, s.size, s.time = 0, 64, gen.now()
          p:sample(s)
        end
        assert(p:close())
        assert.equal(0, (pages.run(path)))
        b:visit(path .. ".html")
        assert.is_true(b:eval "document.querySelector('#start-label').hidden")
        assert.truthy(functions()["[unknown 0x1001]"])
      end
    end)
  end)

  it("shows lines with their source", function()
    show "4"
    local first = rows()[1]
    assert.equal("30 MiB", first[1])
    assert.equal(folder .. "/app.lua:3", first[7])
    assert.equal(pages.SOURCE:match "\n  (return [^\n]*)", first[8])
    local source = b:text ".source"
    assert.truthy(source:find("function app.load(n)", 1, true))
    assert.truthy(source:find(" in load", 1, true))
    b:press("4", "ArrowDown", "ArrowDown", "ArrowDown")
    assert.truthy(b:text ".source":find("No source lines: the file was not found", 1, true))
  end)

  it("shows types and classes, and counts one alone on demand", function()
    show "5"
    assert.same({{"40 MiB", "57.1%", "25%", "10%", "748,982", "table"},
                 {"20 MiB", "28.6%", "0%", "0%", "374,491", pages.HOSTILE},
                 {"20 MiB", "28.6%", "50%", "20%", "374,491", "Point"},
                 {"30 MiB", "42.9%", "0%", "0%", "491,520", "string"}}, rows())
    -- selects a type with all its classes
    b:press("5", "Enter")
    assert.same({"only table ✕"}, chips())
    assert.equal("40 MiB", b:text "#whole")
    b:press("Escape", "5", "ArrowDown", "ArrowDown", "Enter")
    assert.same({"only table Point ✕"}, chips())
    assert.same({work = {"20 MiB", "20 MiB"}, ["main chunk"] = {"–", "20 MiB"}}, functions())
    assert.same({}, functions "time")
    b:click "[name=mode][value=bytes]"
    b:press "Escape"
    assert.same({}, chips())
    assert.equal("70 MiB", b:text "#whole")
  end)

  it("walks the flame graph with the arrow keys, zooms with Enter and comes back with Esc", function()
    b:press "1"
    local function at()
      return (b:text ".frame":gsub("\n+", " "))
    end
    assert.truthy(at():find "^all total 70 MiB")
    b:press("ArrowDown", "ArrowDown")
    assert.truthy(at():find("^work .*app.lua:4 total 35 MiB · 50.0%% · self 20 MiB · 28.6%% survived"))
    b:press "ArrowRight"
    assert.truthy(at():find "^load .*app.lua:2 total 30 MiB")
    b:press("ArrowLeft", "ArrowDown")
    assert.truthy(at():find "^helper ")
    b:press("ArrowUp", "Enter")
    assert.same({"zoomed: work ✕"}, chips())
    b:press "Escape"
    assert.same({"zoomed: main chunk ✕"}, chips())
    b:press "Escape"
    assert.same({}, chips())
  end)

  it("zooms into the frame that is clicked, and describes the one under the pointer", function()
    b:press "1"
    b:eval "document.querySelector('.flame').scrollIntoView({block: 'end'})"
    local box = b:box ".flame canvas"
    -- clicks on the function load in the third row, in which work has 35 MiB of 70, and load 30
    b:drag(box.x + box.width * 0.7, box.y + 52, box.x + box.width * 0.7, box.y + 52)
    assert.same({"zoomed: load ✕"}, chips())
    assert.truthy(b:text ".frame":find "^load")
    -- load now has the full width, and its caller is still above it
    b:drag(box.x + box.width * 0.1, box.y + 52, box.x + box.width * 0.1, box.y + 52)
    assert.same({"zoomed: load ✕"}, chips())
    b:drag(box.x + 5, box.y + 10, box.x + 5, box.y + 10)
    assert.same({}, chips())
  end)

  it("draws frames as wide as their shares", function()
    b:press "1"
    local width = b:eval "document.querySelector('.flame canvas').width"
    local shares, run, last = {}, 0, nil
    local pixels = b:pixels(".flame canvas", 0, 21 * 2 + 2, width)  -- the third row of the flame graph
    for x = 1, width + 1 do
      if pixels[x] ~= last then
        if run > 20 then shares[#shares + 1] = math.floor(70 * run / width + 0.5) end
        run, last = 0, pixels[x]
      end
      run = run + 1
    end
    assert.same({35, 30, 5}, shares)
  end)

  it("opens and closes the call tree from the keyboard", function()
    b:press "2"
    local function names()
      local out = {}
      for i, row in ipairs(rows()) do
        out[i] = row[1]:gsub("^[^%w%[<]+", ""):gsub("  .*", "")
      end
      return table.concat(out, "|")
    end
    assert.truthy(names():find("main chunk|work|", 1, true))
    assert.equal("Call tree", focused())
    b:press("Home", "ArrowDown")
    local function active()
      return b:eval [[(() => {
        const grid = document.querySelector("#panel-tree .grid");
        const row = document.getElementById(grid.getAttribute("aria-activedescendant"));
        return [row.querySelector("b").textContent, row.getAttribute("aria-level"),
                row.getAttribute("aria-expanded")].join(" ");
      })()]]
    end
    assert.equal("main chunk 2 true", active())
    b:press "ArrowLeft"
    assert.equal("main chunk 2 false", active())
    assert.is_nil(names():find("work", 1, true))
    b:press("ArrowRight", "ArrowRight")
    assert.equal("work 3 false", (active():gsub("true", "false")))
    b:press("ArrowLeft", "ArrowLeft")
    b:press("End")
    assert.is_nil(active():find "^all")
    b:press "Home"
    for _ = 1, 20 do b:press "ArrowRight" end
    for _ = 1, 40 do b:press "ArrowLeft" end
    assert.equal(1, #rows())
    b:press "ArrowRight"
    assert.is_true(#rows() > 1)
    assert.is_nil(names():find("work", 1, true))
  end)

  it("searches from the keyboard, in every view", function()
    b:press "/"
    assert.equal("Search functions and files", focused())
    b:type "HELP"
    assert.equal("1 function: 10 MiB, 14.3%", b:text "#found")
    b:press "Enter"
    assert.is_true(b:eval "document.activeElement.classList.contains('flame')")
    local match = b:eval [[(() => {
      const probe = document.createElement("span");
      probe.style.color = "var(--match)";
      document.body.append(probe);
      const color = getComputedStyle(probe).color.match(/\d+/g).join();
      probe.remove();
      return color;
    })()]]
    local width, hits = b:eval "document.querySelector('.flame canvas').width", 0
    for _, color in ipairs(b:pixels(".flame canvas", 0, 21 * 3 + 2, width)) do
      hits = hits + (color == match .. ",255" and 1 / width or 0)
    end
    assert.is_true(math.abs(hits - 1 / 7) < 0.01, hits)
    b:press("3", "/")
    b:type "elp"
    assert.same({"10 MiB", "14.3%", "10 MiB", "14.3%", "0%", "0%", "",
                 "helper  " .. folder .. "/app.lua:6"}, rows()[1])
    assert.equal(1, #rows())
    assert.equal("elp", b:text "#panel-functions mark")
    b:press("Escape", "/")
    -- the text matches callers and callees in the same stack, but each stack must count only once
    b:type "app.lua:"
    assert.equal("4 functions: 70 MiB, 100.0%", b:text "#found")
    b:press("Escape", "/")
    b:type "helper"
    b:press("Enter", "4")
    -- the search finds the function's own line, and the line whose text contains its name
    assert.equal(2, #rows())
    b:press("2", "/", "Enter")
    assert.equal(1, b:eval "document.querySelectorAll('#panel-tree .marked').length")
    assert.truthy(b:eval [[document.querySelector("#panel-tree .active").innerText.includes("helper")]])
    b:press "Escape"
    assert.equal("", b:text "#found")
    assert.equal("", b:eval "document.getElementById('search').value")
  end)

  it("follows a range that is dragged on the timeline, and forgets it", function()
    b:eval "window.scrollTo(0, 0)"
    local box = b:box ".brush .overlay"
    b:drag(box.x + box.width * 0.52, box.y + 20, box.x + box.width * 0.99, box.y + 20)
    assert.equal("40 MiB", b:text "#whole")
    assert.is_nil(functions().load)
    assert.same({work = {"300 ms", "600 ms"}, helper = {"300 ms", "300 ms"},
                 ["main chunk"] = {"–", "600 ms"}}, functions "time")
    assert.equal(1, #chips())
    b:click ".chip"
    b:press "1"
    b:click "[name=mode][value=bytes]"
    assert.equal("70 MiB", b:text "#whole")
  end)

  it("follows a range that is typed, or moved with the arrow keys", function()
    range("0", "1")
    assert.same({load = {"30 MiB", "30 MiB"}, ["main chunk"] = {"–", "30 MiB"}}, functions())
    show "5"
    assert.same({"30 MiB", "100.0%", "0%", "0%", "491,520", "string"}, rows()[1])
    assert.equal(1, #rows())
    b:press "Escape"
    assert.equal("70 MiB", b:text "#whole")
    b:eval "document.querySelector('.timeline svg').focus()"
    b:press "ArrowRight"
    local first = chips()[1]
    assert.truthy(first:find "^0 s to ")
    b:press "ArrowRight"
    assert.is_nil(chips()[1]:find "^0 s to ")
    b:press "Shift+ArrowRight"
    b:press "ArrowLeft"
    assert.truthy(chips()[1]:find "^0 s to ")
    assert.are_not.equal(first, chips()[1])
  end)

  it("separates frames of one function at several lines on demand", function()
    b:press "2"
    local before = #rows()
    b:click "#byline"
    b:press "*"
    local all = {}
    for _, row in ipairs(rows()) do all[#all + 1] = row[1] end
    local text = table.concat(all, "\n")
    assert.truthy(text:find("app.lua:10", 1, true))
    assert.truthy(text:find("app.lua:11", 1, true))
    assert.is_true(before > 2)
  end)

  it("shows HTML in names, paths, classes, marks and sources as text", function()
    for tab = 1, 8 do b:press(tostring(tab)) b:eval "1" end
    assert.equal("undefined", b:eval "typeof window.hacked")
    assert.equal(0, b:eval "document.querySelectorAll('img').length")
    assert.equal(2, b:eval "document.scripts.length")
    show "3"
    local found
    for _, row in ipairs(rows()) do
      found = found or row[#row]:find(pages.HOSTILE .. "  /nowhere/" .. pages.HOSTILE .. ".lua:8", 1, true)
    end
    assert.is_truthy(found)
    assert.truthy(b:eval "document.querySelectorAll('.flag title')[1].textContent"
                  :find(pages.HOSTILE, 1, true))
    b:press "/"
    b:type "<img"
    assert.equal("1 function: 5 MiB, 7.1%", b:text "#found")
    assert.equal("<img", b:text "#panel-functions mark")
  end)

  it("is light or dark as the system is, until the user changes it", function()
    local function background()
      return b:eval "getComputedStyle(document.body).backgroundColor"
    end
    local light = background()
    b:look(1280, 1000, "dark")
    local dark = background()
    assert.are_not.equal(light, dark)
    local function pixel()
      return b:pixels(".flame canvas", 300, 2, 1)[1]
    end
    local before = pixel()
    b:click "#theme"
    assert.equal(light, background())
    assert.are_not.equal(before, pixel())
    b:look(1280, 1000, "light")
    b:click "#theme"
    assert.equal(dark, background())
  end)

  it("fits windows from 400 to 2000 pixels", function()
    for _, width in ipairs{400, 700, 1280, 2000} do
      b:look(width, 800)
      for tab = 1, 8 do
        b:press(tostring(tab))
        local wide = b:eval "document.documentElement.scrollWidth"
        assert.is_true(wide <= width, ("view %d is %d wide in %d"):format(tab, wide, width))
        assert.is_true(b:eval "document.querySelector('[role=tabpanel]:not([hidden])').offsetHeight > 100")
      end
    end
  end)

  it("gives every control a name, and shows where the focus is at every stop of Tab", function()
    local kinds = {button = true, searchbox = true, radio = true, tab = true, checkbox = true, grid = true,
                   treegrid = true, spinbutton = true, tablist = true, tabpanel = true, region = true}
    for tab = 1, 8 do
      b:press(tostring(tab))
      b:eval "1"
      for _, node in ipairs(b:call("Accessibility.getFullAXTree").nodes) do
        if not node.ignored and kinds[node.role.value] then
          assert.is_true(node.name and node.name.value ~= "", node.role.value .. " without a name")
        end
      end
    end
    b:visit(folder .. "/app.vmprof.html")
    local stops, n = {}, 0
    for _ = 1, 40 do
      b:press "Tab"
      local stop = b:eval [[(() => {
        const e = document.activeElement;
        if (e === document.body) return {name: ""};
        const probe = document.body.appendChild(document.createElement("span"));
        probe.style.color = "var(--focus)";
        const focus = getComputedStyle(probe).color;
        probe.remove();
        const shown = [e, e.nextElementSibling].filter(x => x).some(x => {
          const s = getComputedStyle(x);
          if (s.opacity === "0") return false;
          return s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 1 || s.borderTopColor === focus;
        });
        return {name: e.getAttribute("aria-label") || e.innerText ||
                      (e.type === "checkbox" ? e.id : e.value), shown};
      })()]]
      if stop.name == "" or stops[stop.name] then break end
      stops[stop.name], n = true, n + 1
      assert.is_true(stop.shown, "no focus to be seen at " .. stop.name)
    end
    for _, name in ipairs{"Change to dark colours", "Range from, seconds", "Range to, seconds", "bytes",
                          "Search functions and files", "Flame graph", "inverted", "byline"} do
      assert.is_true(stops[name], "no stop at " .. name)
    end
    -- eight of the ten elements with a focus are in the list above; the others are the timeline and the graph
    assert.equal(10, n)
  end)

  it("shows a tree of 100,000 nodes with few elements, and reports the cut", function()
    local page = require "asamp.show.page.page"
    local data = require "asamp.show.page.data"
    local profile = assert(reader.read(folder .. "/app.vmprof", {bins = 256}))
    local nodes, at = profile.nodes, #profile.nodes.parent
    -- creates a hundred levels with over a thousand callees each
    for i = at + 1, 110000 do
      nodes.parent[i] = i - at <= 1100 and 1 or i - 1100
      nodes.fn[i], nodes.line[i] = i % #profile.functions + 1, i % 50
    end
    for _, t in ipairs{profile.sites, profile.bins} do
      for i = 1, #t.node do t.node[i] = 110000 - i * 37 % 5000 end
    end
    local columns = data.of(profile, {nodes = 100000})
    columns.sources, columns.nosources, columns.reasons = {}, {}, {}
    shell.write(folder .. "/big.html", page.fill(require "asamp.commands.view".template(), columns))
    b:visit(folder .. "/big.html")
    assert.truthy(b:text "#notes":find("The call tree contains its 100,000 largest nodes", 1, true))
    assert.equal("70 MiB", b:text "#whole")
    for tab = 1, 8 do
      b:press(tostring(tab))
      assert.is_true(b:eval "document.querySelectorAll('*').length" < 1500)
    end
  end)
end)
