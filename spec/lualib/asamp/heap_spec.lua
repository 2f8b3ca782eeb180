-- SPDX-License-Identifier: MIT
--
-- `asamp heap`, which shows heap snapshots: its output for one snapshot as text, JSON and page, and for two
-- snapshots, and its messages for wrong arguments and for files that are no snapshots.

local browser = require "spec.support.browser"
local commands = require "spec.support.commands"
local holders = require "asamp.sums.holders"
local json = require "cjson"
local process = require "spec.support.process"
local shell = require "spec.support.shell"
local show = require "asamp.show.heap"
local units = require "asamp.show.units"

local ASAMP = "build/bin/asamp"

describe("asamp heap", function()
  local old, new, path
  local function asamp(...)
    local words = {"heap"}
    for _, word in ipairs{...} do words[#words + 1] = word end
    return process.run{program = ASAMP, table.unpack(words)}
  end

  setup(function()
    path = os.tmpname()
    os.remove(path)
    local status, _, err = process.run{code = [[
      local profiler = require "profiler"
      local path = ...
      assert(profiler.alloc_start(512, {out = "/dev/null", seed = 7}))
      local Session = {__name = "Session"}
      local listeners = {}
      function on(name, f)
        listeners[name] = listeners[name] or {}
        table.insert(listeners[name], f)
      end
      local function handle(i)
        local s = setmetatable({data = ("x"):rep(1000) .. i}, Session)
        on("close", function() return s end)
      end
      for i = 1, 50 do handle(i) end
      collectgarbage()
      assert(profiler.snapshot(path .. ".1", {wait = true}))
      for i = 51, 150 do handle(i) end
      collectgarbage()
      assert(profiler.snapshot(path .. ".2", {wait = true}))
    ]], path}
    assert.same({0, ""}, {status, err})
    old, new = path .. ".1", path .. ".2"
  end)

  it("shows classes and holders", function()
    local status, out, err = asamp("--width", "200", new)
    assert.same({0, ""}, {status, err})
    assert.is_truthy(out:find("\n +[%d.]+K +[%d.]+%% +[%d.]+K +[%d.]+%% +150 +%d+B  Session\n"), out)
    assert.is_truthy(out:find('%["close"%]'), out)
    assert.is_truthy(out:find("%[1%.%.n%]  function\n"), out)
  end)

  it("shows the one path that holds all objects of a class", function()
    local status, out, err = asamp("--held-by", "Session", "--paths", "--top", "1",
                                   "--width", "200", new)
    assert.same({0, ""}, {status, err})
    assert.is_truthy(out:find(", 100.0% of 150 objects, held by:\n    _G → upvalue \"listeners\" of on (",
                              1, true), out)
    assert.is_truthy(out:find('%) → %["close"%] → %[1%.%.n%] → upvalue "s" of %S+:%d+\n'), out)
    assert.is_truthy(out:find('%) → %["close"%] → %[%d+%] → upvalue "s" of %S+:%d+\n'), out)
  end)

  -- A former bug: the elements of a list of tables were the last row, after hundreds of single tables,
  -- because the list retains their bytes.
  it("shows the path of most objects early, though another object retains them", function()
    local file = path .. ".list"
    local status, _, err = process.run{code = [[
      local list = {}
      for i = 1, 5000 do list[i] = {i} end
      assert(require "profiler".snapshot(..., {wait = true}))]], file}
    assert.same({0, ""}, {status, err})
    local out
    status, out, err = asamp("--held-by", "table", "--top", "2", "--width", "200", file)
    os.remove(file)
    assert.same({0, ""}, {status, err})
    assert.matches('  9%d%.%d%% of %d,%d+ objects, whose bytes other listed objects retain, held by:\n' ..
                   '    local "list" of [^\n]* → %[1%.%.n%]\n', out)
  end)

  it("shows objects new since another snapshot, and their holders", function()
    local status, out, err = asamp("--diff", old, "--width", "200", new)
    assert.same({0, ""}, {status, err})
    assert.is_truthy(out:find("\n +%+[%d.]+K +100 +[%d.]+K +0 +0B +%-  Session\n"), out)
    assert.is_truthy(out:find('New: %d+ objects of .-"listeners" of on %(.-%["close"%] → %[1%.%.n%]'), out)
  end)

  it("shows the allocating lines of sampled objects, their holders, and their ages", function()
    local status, out, err = asamp("--width", "200", new)
    assert.same({0, ""}, {status, err})
    local name = out:match "\nSampled objects by allocating line, one sample every 512B\n.-(%S+:11)  handle\n"
    assert.is_truthy(name, out)
    status, out, err = asamp("--held-by", name, "--width", "200", new)
    assert.same({0, ""}, {status, err})
    assert.is_truthy(out:find('upvalue "listeners" of on %(.-:6%) → %["close"%] → %[1%.%.n%] →'), out)
    status, out = asamp("--held-by", "string", "--paths", "--width", "200", new)
    assert.equal(0, status)
    assert.is_truthy(out:find("\nAllocated at\n.-:11  handle\n"), out)
    assert.is_truthy(
      out:find("\n    allocated at %S+:11  handle, [%d.]+m?s before the snapshot\n    _G → "), out)
    status, out, err = asamp("--held-by", "app.lua:7777", new)
    assert.equal("", out)
    assert.same({1, "asamp heap: no live sampled object was allocated at 'app.lua:7777'; " ..
      "asamp heap without --held-by lists the lines\n"}, {status, err})
    -- with --diff, the table by line contains only the objects that are new in the second snapshot
    status, out = asamp("--diff", old, "--width", "200", new)
    assert.equal(0, status)
    local change = out:match("\nSampled objects by allocating line\n.-" ..
                             "%+([%d.]+)K +[%d.]+K +0B  %S+:11  handle\n")
    assert.is_true(tonumber(change) > 70 and tonumber(change) < 130, out)
  end)

  -- A former bug: rows of 0 bytes were printed whatever the options were, below the heading "of less than
  -- 1.0%".
  it("leaves out rows of the paths to a class that are small", function()
    local function tree(least)
      local status, out, err = asamp("--json", "--held-by", "table", "--least", least, new)
      assert.same({0, ""}, {status, err})
      return json.decode(out).heldby
    end
    local all, some = tree "0", tree "10"
    assert.equal(0, all.totals.left)
    assert.equal(#all.rows, #some.rows + some.totals.left)
    assert.is_true(some.totals.left > 0 and #some.rows > 0)
    assert.same(all.leaves, some.leaves)
    for i, row in ipairs(some.rows) do
      assert.is_true(row.value >= 0.1 * some.totals.value)
      assert.equal(row.depth, row.above and some.rows[row.above].depth + 1 or 0)
      assert.is_true((row.above or 0) < i)
    end
    local _, out = asamp("--held-by", "table", "--least", "10", "--top", "100", new)
    assert.is_truthy(out:find(("\n +and %d rows of less than 10.0%%%%\n$"):format(some.totals.left)), out)
  end)

  it("refuses JSON and a page at once", function()
    local status, out, err = asamp("--json", "--page", "/tmp/nowhere.html", new)
    assert.same({2, "", "asamp heap: --page and --json cannot be combined: run asamp heap once " ..
                        "for each; see asamp heap --help\n"}, {status, out, err})
  end)

  it("writes JSON and a page", function()
    local status, out = asamp("--json", "--held-by", "Session", new)
    assert.equal(0, status)
    assert.is_truthy(out:find('"count": 150', 1, true))
    assert.is_truthy(out:find('"leaves": [', 1, true))
    local page = os.tmpname()
    os.remove(page)
    status, out = asamp("--page", page, new)
    assert.same({0, page .. "\n"}, {status, out})
    -- only the user may read the page
    assert.equal("600\n", shell.output("stat -c %a " .. page))
    local text = shell.read(page)
    assert.is_truthy(text:find("[&quot;close&quot;]", 1, true))
    assert.is_truthy(text:find(":11</code> handle", 1, true))
    assert.equal(1, select(2, text:gsub("<script", "")))
  end)

  -- Former bugs: the page had neither percentages nor an explanation of its numbers, its classes were
  -- unsorted, and on a telephone it was as wide as on a desktop.
  it("has a page that fits windows, with shares, the largest first, and a legend #plain", function()
    local b, pages = browser.new(), {}
    finally(function()
      b:close()
      for _, page in ipairs(pages) do os.remove(page) end
    end)
    b:open()
    local _, out = asamp("--json", new)
    local document = json.decode(out)
    for i, words in ipairs{{new}, {"--diff", old, new}, {"--held-by", "table", "--paths", new}} do
      pages[i] = ("%s.%d.html"):format(path, i)
      assert.equal(0, (asamp("--page", pages[i], table.unpack(words))))
      for _, columns in ipairs{360, 500, 1400} do
        for _, scheme in ipairs{"light", "dark"} do
          b:look(columns, 900, scheme)
          b:visit(pages[i])
          assert.equal(columns, b:eval "document.documentElement.scrollWidth")
          assert.is_true(b:eval [[[...document.querySelectorAll(".panel")].every(
            e => e.scrollWidth <= e.clientWidth)]], columns)
        end
      end
      assert.equal("width=device-width, initial-scale=1",
                   b:eval "document.querySelector('[name=viewport]').content")
    end
    b:visit(pages[1])
    local names, before = {}, math.huge
    for _, row in ipairs(document.classes) do
      names[#names + 1] = row.name
      assert.is_true(row.retained <= before)
      before = row.retained
    end
    assert.same(names, b:eval [[[...document.querySelector("table").querySelectorAll("td.text")].map(
      e => e.innerText)]])
    local first, bytes = document.classes[1], document.info.bytes
    assert.same({units.short(first.self), units.percent(first.self, bytes), units.short(first.retained),
                 units.percent(first.retained, bytes)},
                b:eval "[...document.querySelectorAll('td')].slice(0, 4).map(e => e.innerText)")
    local text = b:text "body"
    for _, words in ipairs{"retained: bytes that would be freed", "%: share of all " .. units.bytes(bytes),
                           "mean age: mean time since the allocation", "K, M, G: powers of 1024."} do
      assert.is_truthy(text:find(words, 1, true), words)
    end
    b:look(500, 900)
    assert.equal("none", b:eval "getComputedStyle(document.querySelector('td.spare')).display")
    -- checks that each heading is above its numbers
    assert.same({}, b:eval [=[(() => {
      const right = e => [...e.children].slice(0, 2).map(c => Math.round(c.getBoundingClientRect().right));
      const head = right(document.querySelector(".columns"));
      return [...document.querySelectorAll(".tree summary, .leaf")].map(right).filter(
        r => r[0] > 0 && (r[0] !== head[0] || r[1] !== head[1]));
    })()]=])
    assert.same({}, b.errors)
  end)

  -- A former bug: the string table of a program with many strings was counted in the header of the output,
  -- but in no row.
  it("has a row for memory without an object, so that rows add up to the total", function()
    local function document(...)
      local status, out, err = asamp("--json", ...)
      assert.same({0, ""}, {status, err})
      return json.decode(out)
    end
    local function sum(rows, key)
      local n = 0
      for _, row in ipairs(rows) do
        -- in a tree, only rows of objects to which the state refers directly are added
        n = n + (row.above and 0 or row[key])
      end
      return n
    end
    local many = os.tmpname()
    local status, _, err = process.run{code = [[
      local profiler, t = require "profiler", {}
      for i = 1, 50000 do t[i] = "s" .. i end
      assert(profiler.snapshot(..., {wait = true, overwrite = true}))
    ]], many}
    assert.same({0, ""}, {status, err})
    local d = document("--least", "0", many)
    assert.equal(d.info.bytes, sum(d.classes, "self"))
    assert.equal(d.info.objects, sum(d.classes, "count"))
    assert.equal(d.info.bytes, sum(d.tree, "value"))
    local change = document("--diff", new, many)
    local before = document(new)
    assert.equal(d.info.bytes - before.info.bytes, sum(change.diff.classes, "change"))
    local row = "%(state and string table%)"
    for _, words in ipairs{{many}, {"--diff", new, many}} do
      local _, out = asamp(table.unpack(words))
      assert.is_truthy(out:find(row), out)
    end
    local page = os.tmpname()
    assert.equal(0, (asamp("--page", page, many)))
    assert.is_truthy(shell.read(page):find(
      '<td>%-</td><td class="spare">%-</td><td class="text">' .. row))
    status, _, err = asamp("--held-by", "(state and string table)", many)
    assert.same({1, "asamp heap: no object has the class '(state and string table)'; " ..
      "asamp heap without --held-by lists the classes\n"}, {status, err})
  end)

  -- A former bug: for two snapshots of different processes, the output described one as a later state of
  -- the other.
  it("says that snapshots are of different processes, or in the wrong order", function()
    local function flat(...)
      local _, out, err = asamp("--diff", ...)
      assert.equal("", err)
      return out:gsub("%s+", " ")
    end
    assert.is_truthy(flat(new, old):find(("This snapshot was taken before '%s': exchange the two files. " ..
      "Here, objects listed as new were freed later, and"):format(new), 1, true))
    local later = flat(old, new)
    assert.is_falsy(later:find "taken before" or later:find "different processes")
    local other = os.tmpname()
    local status, _, err = process.run{code = [[
      assert(require "profiler".snapshot(..., {wait = true, overwrite = true}))
    ]], other}
    assert.same({0, ""}, {status, err})
    assert.is_truthy(flat(other, new):find "These are snapshots of different processes, %d+ and %d+%. ")
    local page = os.tmpname()
    assert.equal(0, (asamp("--diff", other, "--page", page, new)))
    assert.is_truthy(shell.read(page):find("<p>These are snapshots of different processes", 1, true))
  end)

  -- A former bug: titles, notes and the numbers of classes were wider than the terminal.
  it("fits narrow terminals", function()
    assert.is_truthy(select(2, asamp("--width", "40", new)):find(
      "\nSampled objects by allocating line, one\nsample every 512B\n", 1, true))
    for _, words in ipairs{{new}, {"--diff", old, new}, {"--held-by", "Session", new}} do
      local _, out = asamp("--width", "40", table.unpack(words))
      commands.fits(out, 40)
    end
    local wide = os.tmpname()
    local status, _, err = process.run{code = [[
      local kept = {}
      for i, name in ipairs{"日本語のとても長いクラスの名前", ("😀"):rep(30), ("Long"):rep(20)} do
        kept[("鍵"):rep(40) .. i] = setmetatable({("x"):rep(100)}, {__name = name})
      end
      assert(require "profiler".snapshot(..., {wait = true, overwrite = true}))
    ]], wide}
    assert.same({0, ""}, {status, err})
    for _, words in ipairs{{wide}, {"--diff", new, wide}, {"--held-by", "table", "--paths", wide}} do
      for _, columns in ipairs{40, 41, 60} do
        local _, out = asamp("--width", tostring(columns), table.unpack(words))
        commands.fits(out, columns)
      end
    end
  end)

  it("reports errors in arguments and files", function()
    local status, _, err = asamp("--held-by", "Sesion", new)
    assert.same({1, "asamp heap: no object has the class 'Sesion', did you mean Session?\n"},
                {status, err})
    status, _, err = asamp("/nowhere.heap")
    assert.same({1, "asamp heap: cannot read the snapshot '/nowhere.heap': No such file or directory\n"},
                {status, err})
    local text = process.file "print(1)"
    status, _, err = asamp(text)
    assert.equal(1, status)
    assert.is_truthy(err:find("the file is not a heap snapshot", 1, true), err)
    status, _, err = asamp("--page", new, new)
    assert.equal(2, status)
    assert.is_truthy(err:find(new, 1, true))
  end)

  -- A former bug: a time that os.date rejects led to a stack trace. Other numbers in the header could be so
  -- large that byte counts were printed as negative.
  it("takes no number of the head that is none", function()
    local whole = shell.output("gzip -dc '%s'", new)
    for _, value in ipairs{"9223372036854775807", "18446744073709551615", "-1"} do
      for _, key in ipairs{"time", "state", "inuse"} do
        local pattern = ("%c%s(.)"):format(#key, key)
        local at, after, n = whole:find(pattern)
        local bad = whole:sub(1, at + #key) .. string.char(#value) .. value .. whole:sub(after + n:byte() + 1)
        local file = process.file(bad)
        local status, out, err = asamp(file)
        os.remove(file)
        assert.same({1, ""}, {status, out})
        assert.is_truthy(err:find("^asamp heap: cannot read the snapshot '" .. file:gsub("%p", "%%%0") ..
          "': the snapshot is damaged at byte %d+, uncompressed: a number in the head of the file is " ..
          "negative or too large; take another snapshot\n$"), err)
      end
    end
  end)

  -- A former bug: a key in a row of the tree could contain characters that change the direction of text, so
  -- that the row was shown reversed. All other output replaces these characters.
  it("shows no character that turns the direction of a row", function()
    local status, _, err = process.run{code = [[
      local t = {}
      for _, code in ipairs{0x202a, 0x202e, 0x2066, 0x2069, 0x2028} do
        t[utf8.char(code) .. "gnp"] = {("x"):rep(100000)}
      end
      keep = setmetatable(t, {__name = "\u{202e}class"})
      assert(require "profiler".snapshot(..., {wait = true, overwrite = true}))
    ]], path .. ".turned"}
    assert.same({0, ""}, {status, err})
    local out, page = select(2, asamp(path .. ".turned")), path .. ".html"
    assert.same(0, (asamp("--page", page, path .. ".turned")))
    for _, text in ipairs{out, shell.read(page)} do
      for _, code in ipairs{0x202a, 0x202e, 0x2066, 0x2069} do
        assert.is_nil(text:find(utf8.char(code), 1, true))
      end
      assert.is_truthy(text:find([[\226\128\174gnp]], 1, true), text)
      assert.is_truthy(text:find([[\226\128\174class]], 1, true), text)
    end
    os.remove(page)
    os.remove(path .. ".turned")
  end)

  -- A former bug: metatables with the same name formed one class only if the name was among the first 256
  -- names. Otherwise each metatable had its own row, and --held-by described only the first one.
  it("has one class for all metatables of a name, however many names there are", function()
    local file = path .. ".names"
    local status, _, err = process.run{code = [[
      first, later = {}, {{}}
      for i = 1, 300 do first[i] = setmetatable({}, {__name = "C" .. i}) end
      for i = 1, 100 do later[1][i] = setmetatable({}, {__name = "Late"}) end
      assert(require "profiler".snapshot(..., {wait = true, overwrite = true}))
    ]], file}
    assert.same({0, ""}, {status, err})
    local out = select(2, asamp("--json", file))
    local found, all = {}, 0
    for _, row in ipairs(json.decode(out).classes) do
      all = all + 1
      if row.name == "Late" then found[#found + 1] = row.count end
    end
    assert.same({100}, found)
    assert.is_true(all > 300)
    out = json.decode((select(2, asamp("--json", "--held-by", "Late", file))))
    assert.equal(100, out.heldby.totals.count)
    os.remove(file)
  end)

  -- A former bug: for each path of the tree, the command visited all rows of the tree. If one field of a
  -- table with many fields held most bytes, it visited all fields for each of them. --held-by took half a
  -- minute for a heap of 22,000 objects. In this test, paths are computed for all 5,000 rows.
  it("visits rows once, however many paths or fields there are", function()
    local rows = {{text = "registry", count = 5000, value = 10000}}
    for i = 1, 5000 do
      rows[i + 1] = {text = ("[%d]"):format(i), count = 1, value = 2, above = 1}
    end
    local steps, leaves = 0
    debug.sethook(function() steps = steps + 1 end, "", 1000)
    leaves = holders.leaves(rows)
    debug.sethook()
    assert.equal(5000, #leaves)
    assert.is_true(steps < 5000, steps)
    local file = path .. ".fields"
    local status, _, err = process.run{code = [[
      many = {}
      for i = 1, 300000 do many["k" .. i] = {} end
      local last
      for k in pairs(many) do last = k end
      for i = 1, 1 << 20 do many[last][i] = i end
      for i = 1, 3 * 300000 do many[last][(1 << 20) + i] = i end
      assert(require "profiler".snapshot(..., {wait = true, overwrite = true}))
    ]], file}
    assert.same({0, ""}, {status, err})
    status = process.run{program = ASAMP, limit = 300, "heap", file}
    os.remove(file)
    assert.equal(0, status)
  end)

  -- A former bug: the path to all objects later[1][i] was shown as 'later → [1]', and the objects
  -- later[i][k] as held by one of these. If all objects of a path have the same index in a list, the path
  -- must contain this index, otherwise [1..n].
  it("knows elements of elements for many", function()
    local file = path .. ".elements"
    local status, _, err = process.run{code = [[
      local function new(name) return setmetatable({1}, {__name = name}) end
      later, list = {{}}, {}
      for i = 1, 100 do later[1][i], list = new "Item", setmetatable({i, list}, {__name = "Pair"}) end
      assert(require "profiler".snapshot(..., {wait = true, overwrite = true}))
    ]], file}
    assert.same({0, ""}, {status, err})
    local out = select(2, asamp("--held-by", "Item", file))
    assert.is_truthy(out:find('_G → ["later"] → [1..n]\n', 1, true), out)
    assert.is_truthy(out:find('[1..n] (repeated)', 1, true), out)
    out = select(2, asamp("--held-by", "Pair", file))
    assert.is_truthy(out:find('_G → ["list"] → [2]\n', 1, true), out)
    os.remove(file)
  end)

  -- A former bug: the command listed 256 objects, whatever --top was, without a message.
  it("says how many objects --paths lists at most", function()
    local status, out, err = asamp("--paths", "--top", "300", "--json", new)
    assert.same({0, "asamp heap: --paths lists at most 256 objects, those that retain most memory, " ..
                    "not the 300 of --top\n"}, {status, err})
    assert.equal(256, #json.decode(out).paths)
    status, out, err = asamp("--paths", "--top", "256", "--json", new)
    assert.same({0, "", 256}, {status, err, #json.decode(out).paths})
    -- the class has fewer objects than --top, so that the command prints no message
    err = select(3, asamp("--paths", "--held-by", "Session", "--top", "300", new))
    assert.equal("", err)
  end)

  -- A snapshot contains the first 128 bytes of a string. A former bug: these bytes were shown as if they
  -- were the whole string, and half of a character at their end was shown as numbers.
  it("says where a text goes on", function()
    local file = path .. ".long"
    local status, _, err = process.run{code = [[
      keep = {[("k"):rep(1 << 20)] = {("x"):rep(100000)}, [("e"):rep(126) .. "€uro"] = {("x"):rep(100000)},
              [("w"):rep(128)] = {("x"):rep(100000)}}
      assert(require "profiler".snapshot(..., {wait = true, overwrite = true}))
    ]], file}
    assert.same({0, ""}, {status, err})
    local out = select(2, asamp("--width", "400", file))
    assert.is_truthy(out:find('["' .. ("k"):rep(128) .. '…"]', 1, true), out)
    assert.is_truthy(out:find('["' .. ("e"):rep(126) .. '…"]', 1, true), out)
    assert.is_truthy(out:find('["' .. ("w"):rep(128) .. '"]', 1, true), out)
    os.remove(file)
  end)

  -- A former bug: for paths to objects whose bytes other listed objects retain, the output was "0B held by,
  -- 96.2% of 104:".
  it("says of a path whose objects others retain that it is so", function()
    local totals = {count = 104, self = 10, value = 10}
    assert.equal("1.0K, 3.8% of 104 objects, held by:", show.leafhead({count = 4, value = 1024}, totals))
    assert.equal("96.2% of 104 objects, whose bytes other listed objects retain, held by:",
                 show.leafhead({count = 100, value = 0}, totals))
  end)

  -- A former bug: if a method of the heap (sites, heldby, tree, classes) had no memory for its result, it did
  -- not free its arrays.
  it("frees the arrays of a method that runs out of memory", function()
    local file = path .. ".many"
    local status, out, err = process.run{code = [[
      local profiler, heap = require "profiler", require "profiler.heap"
      keep = {}
      assert(profiler.alloc_start(4096, {out = "/dev/null"}))
      for i = 1, 100000 do keep[i] = {} end
      assert(profiler.snapshot(..., {wait = true, overwrite = true}))
      profiler.alloc_stop()
      local h = assert(heap.open((...)))
      local all, held = {}, {class = "table"}
      local function resident()
        for line in io.lines "/proc/self/status" do
          if line:find "^VmRSS" then return tonumber(line:match "%d+") end
        end
      end
      local before
      for i = 1, 70 do
        if i == 11 then
          collectgarbage()
          before = resident()
        end
        for bytes = 0, 2048, 2048 do
          pcall(profiler.limit, bytes, h.sites, h, all)
          pcall(profiler.limit, bytes, h.heldby, h, held)
          pcall(profiler.limit, bytes, h.tree, h, all)
          pcall(profiler.limit, bytes, h.classes, h)
        end
      end
      collectgarbage()
      print(resident() - before)
    ]], file}
    os.remove(file)
    assert.same({0, ""}, {status, err})
    assert.is_true(tonumber(out) < 15000, out .. " KiB more")
  end)

  -- A former bug: if the path of a function's file was long, the text of its variable was cut inside a
  -- character of the path, before the line of the function.
  it("describes a variable of a function with a long path in valid UTF-8, with the line", function()
    local status, out, err = process.run{code = [[
      local profiler, heap = require "profiler", require "profiler.heap"
      local code = [=[
        local function NAME() local kept = {("x"):rep(100000)} coroutine.yield() return kept end
        keep = coroutine.wrap(NAME)
        keep()
      ]=]
      for k = 0, 3 do
        assert(load(code:gsub("NAME", ("n"):rep(36)), "@" .. ("a"):rep(k) .. ("é"):rep(100) .. ".lua"))()
        local file = ... .. k
        assert(profiler.snapshot(file, {wait = true}))
        for _, row in ipairs((assert(heap.open(file)):heldby{class = "string"})) do
          if row.text:find "kept" then
            print(utf8.len(row.text), row.text:match ":%d+%)")
          end
        end
        os.remove(file)
      end
    ]], path .. ".utf8"}
    assert.same({0, "132\t:1)\n133\t:1)\n133\t:1)\n134\t:1)\n", ""}, {status, out, err})
  end)

  -- Former bugs: for rows that were too deep in the tree, the text was "of less than 0.0%". If no row was
  -- left out, it was "0 rows of less than 1.0%".
  it("says why a tree does not have a row", function()
    local file = path .. ".deep"
    local status, _, err = process.run{code = [[
      local t = {}
      deep = t
      for i = 1, 60 do t["a" .. i] = {} t = t["a" .. i] end
      assert(require "profiler".snapshot(..., {wait = true}))
    ]], file}
    assert.same({0, ""}, {status, err})
    local _, out = asamp("--least", "0", "--top", "1000", "--width", "200", file)
    assert.is_truthy(out:find "\n +and %d+ rows beyond the tree's limits\n$", out)
    _, out = asamp("--least", "0", "--top", "1", "--width", "200", file)
    assert.is_truthy(out:find("\n +and %d+ rows beyond the tree's limits, " ..
                              "and [%d,]+ rows %(%-%-top%)\n$"), out)
    _, out = asamp("--least", "0", "--held-by", "Session", "--top", "1", "--width", "200", new)
    assert.is_truthy(out:find "\n +and %d+ rows %(%-%-top%)\n$", out)
    local page = show.leftout({left = 3, cut = 0}, 0.01, 0)
    assert.equal("and 3 rows of less than 1.0%", page)
    os.remove(file)
  end)

  -- A former bug: characters that change the direction of text were copied from the names of classes and
  -- lines to the page.
  it("writes a page without characters that reorder text", function()
    local file = path .. ".marks"
    local status, _, err = process.run{code = [[
      local profiler = require "profiler"
      assert(profiler.alloc_start(512, {out = "/dev/null", seed = 7}))
      keep = load("return ('x'):rep(100000)", "@a\u{202E}b.lua")()
      collectgarbage()
      assert(profiler.snapshot(..., {wait = true}))
    ]], file}
    assert.same({0, ""}, {status, err})
    local page = file .. ".@INFO.html"
    assert.equal(0, (asamp("--page", page, file)))
    local text = shell.read(page)
    assert.is_truthy(text:find("<code>a?b.lua:1</code>", 1, true))
    assert.is_nil(text:find("\u{202E}", 1, true))
    os.remove(file)
    os.remove(page)
  end)
end)
