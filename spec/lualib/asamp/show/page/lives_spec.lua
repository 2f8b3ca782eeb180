-- SPDX-License-Identifier: MIT
-- The page of `asamp view`: likely leaks, holders of live objects, lifetimes, and the time of a line,
-- compared with the report of the same profile.

local data = require "asamp.show.page.data"
local heldby = require "asamp.show.page.heldby"
local copies = require "asamp.sums.copies"
local shell = require "spec.support.shell"
local trends = require "asamp.sums.trends"
local holders = require "asamp.sums.holders"
local leaks = require "asamp.sums.leaks"
local lifetimes = require "asamp.sums.lifetimes"
local shown = require "asamp.show.leaks"
local lives = require "asamp.show.page.lives"
local page = require "asamp.show.page.page"
local pages = require "spec.support.pages"
local process = require "spec.support.process"
local reader = require "profiler.reader"
local totals = require "asamp.sums.totals"
local units = require "asamp.show.units"

-- A server that keeps an object of every fifth request.
local SERVER = [[
log = {}
local function handle(i)
  local words = {}
  for word in ("request %d of many"):format(i):rep(8):gmatch "%w+" do
    words[#words + 1] = word
  end
  if i % 5 == 0 then log[#log + 1] = table.concat(words, ",") end
  table.sort(words)
end
for i = 1, 5000 do pcall(function() last = {i, {}, {}, {}} end) end
for i = 1, 8000 do handle(i) end
]]

describe("the page of asamp view #plain", function()
  local b, path = pages.browse(function(path)
    -- repeats the run, because time slices have a fixed length: if the machine pauses, the report may find no
    -- leak
    for _ = 1, 8 do
      assert.equal(0, (process.run{load = "profiler", code = SERVER,
        env = {LUA_PROFILER = "copies,alloc=2048,time=1000,seed=7,overwrite,snapshot,out=" .. path}}))
      local found = leaks.of(assert(reader.read(path, {bins = leaks.BINS})))
      if found and #found.rows > 0 then break end
    end
  end)

  local function rows(label) return b:rows(label) end

  it("lists the lines that are likely to leak, as the report does", function()
    b:press "7"
    local found = leaks.of(assert(reader.read(path, {bins = leaks.BINS})))
    assert.is_true(#found.rows > 0)
    local wanted = {}
    for i, row in ipairs(found.rows) do
      wanted[i] = {units.bytes(row.keptbytes), ("%.0f%%"):format(100 * row.kept / row.samples),
                   ("%d of %d"):format(row.parts, row.of), row.type,
                   ("%s:%d  %s"):format(row.file, row.line, row.name),
                   ("%.0f%% %s"):format(100 * row.holders[1].share, row.holders[1].text)}
    end
    assert.same(wanted, rows "Likely leaks")
    assert.truthy(b:text "#panel-leaks":find(shown.summary(found), 1, true))
    assert.truthy(b:text "#panel-leaks":find('removing ["log"] of _G frees ', 1, true), b:text "#panel-leaks")
    -- selects the line in the table of lines
    b:press "Enter"
    assert.equal(("%s:%d"):format(found.rows[1].file, found.rows[1].line), rows "Lines"[1][7])
  end)

  -- Returns "level step bytes share" of each visible row of the tree of holders.
  local function tree()
    return b:eval [[[...document.querySelectorAll("[aria-label='Held by'] .spacer .row")].map(row =>
      [row.getAttribute("aria-level"), ...[...row.children].slice(0, 3).map(cell =>
        cell.innerText.replace(/^[▾▸\s]+/, ""))].join(" "))]]
  end

  it("shows the holders of live objects, with bytes, as the report's leaks name them", function()
    b:press "8"
    local wanted, total = holders.tree(assert(reader.read(path)).holders, 0)
    local seen, byrow = tree(), {}
    assert.equal(("1 all live objects %s 100.0%%"):format(units.bytes(total)), seen[1])
    for _, row in ipairs(wanted) do
      byrow[("%d %s %s %s"):format(row.depth + 2, row.text, units.bytes(row.bytes),
                                   units.percent(row.bytes, total))] = true
    end
    for i = 2, #seen do assert.is_true(byrow[seen[i]], seen[i]) end
    local text = table.concat(seen, "\n")
    assert.truthy(text:find('\n2 _G [^\n]*\n3 %["log"%] [^\n]*\n4 %[1..n%] '), text)
    assert.truthy(b:text "#panel-holders":find("The shortest paths from the program's roots", 1, true))
  end)

  it("shows the allocating lines of a row's objects, from the keyboard", function()
    b:press "8"
    assert.equal("Held by", b:eval "document.activeElement.getAttribute('aria-label')")
    b:press("Home", "ArrowDown", "ArrowDown", "ArrowDown")
    assert.truthy(b:text "#panel-holders":find('Allocated at · held by _G → ["log"] → [1..n]', 1, true))
    local profile = assert(reader.read(path))
    local _, _, nearest = totals.linerows(profile)
    local h, bytes = profile.holders, 0
    for i, at in ipairs(h.path) do
      if holders.pathtext(h, at):find('_G → ["log"] → [1..n]', 1, true) and nearest[h.node[i]].line == 7 then
        bytes = bytes + h.bytes[i]
      end
    end
    local first = rows "Allocated at"[1]
    assert.equal(units.bytes(bytes), first[1])
    assert.truthy(first[3]:find ":7  handle$", first[3])
    -- moves to the row ["log"]; line 7 allocated the array part of log, too
    b:press "ArrowLeft"
    assert.truthy(b:text "#panel-holders":find('held by _G → ["log"]\n', 1, true))
    b:press "/"
    b:type "LOG"
    assert.equal(1, b:eval "document.querySelectorAll(\"[aria-label='Held by'] .marked\").length")
  end)

  -- The values must be those of the report. They must also be there as words, for users who cannot see the
  -- bars.
  it("shows the live bytes of a line over time, and its copied bytes", function()
    local profile = assert(reader.read(path, {bins = 16}))
    local copied = copies.of(profile).lines[1]
    b:press "4"
    local seen = b:eval([[[...document.querySelectorAll("[aria-label='Lines'] .bars")].map(
      e => e.innerText + " " + e.getAttribute("aria-label")).join("\n")]])
    assert.matches("█+ [%d.]+ [KM]iB alive at the end; growth: ", seen)
    local text = b:text "[aria-label='Lines']"
    assert.truthy(text:find("over time", 1, true))
    assert.truthy(text:find(units.bytes(copied.bytes), 1, true), units.bytes(copied.bytes))
    assert.truthy(b:text ".source":find("of it more than once", 1, true), b:text ".source")
    -- the view of functions must show the change over time, as the report does
    local trend = trends.of(profile).functions[1]
    b:press "3"
    seen = b:eval([[[...document.querySelectorAll("[aria-label='Functions'] .row")].map(
      e => e.innerText + (e.querySelector(".bars")?.getAttribute("aria-label") || "")).join("\n")]])
    assert.truthy(seen:find(trend.name .. "[^%d]", 1), seen)
    local alive = units.bytes(trend.alive[#trend.alive]):gsub("%p", "%%%0")
    assert.matches("[▁█]\n[^█]*" .. alive .. " alive at the end", seen)
    -- A narrow window has no space for all columns. The values of the selected row that have no column are
    -- below the table.
    b:press "4"
    b:look(500, 900)
    assert.equal("1", b:eval "'' + document.querySelectorAll('#panel-lines .bars').length")
    local rest = b:text "#panel-lines .rest"
    for _, title in ipairs{"lived", "alive", "source", "over time", "copied"} do
      assert.truthy(rest:find(title, 1, true), rest)
    end
    assert.matches("self, %%\n[%d.]+%%", rest)
  end)

  it("has the selected holder in its address", function()
    b:press "8"
    b:press("Home", "ArrowDown", "ArrowDown", "ArrowDown")
    b:eval "new Promise(done => setTimeout(done, 250))"
    local hash, seen = b:eval "location.hash", b:text "#panel-holders"
    assert.truthy(hash:find("view=holders", 1, true) and hash:find("holder=", 1, true), hash)
    b:visit "/dev/null"
    b:visit(path .. ".html" .. hash)
    assert.equal(seen, b:text "#panel-holders")
    for _, other in ipairs{"999999", "-1", "x"} do
      b:visit "/dev/null"
      b:visit(path .. ".html#view=holders&holder=" .. other)
      assert.is_nil(b:text "#panel-holders":find("· held by", 1, true))
    end
  end)

  -- Opens the page of 'profile' at an address with this fragment. When the spec ends, the page of the
  -- recorded profile is written again.
  local function visit(profile, fragment)
    local columns = data.of(profile, {nodes = 1000})
    columns.sources, columns.nosources, columns.reasons = {}, {}, {}
    shell.write(path .. ".html", page.fill(require "asamp.commands.view".template(), columns))
    finally(function() pages.run(path) end)
    b:visit "/dev/null"
    b:visit(path .. ".html" .. fragment)
  end

  it("unfolds the path to the holder of its address", function()
    local profile = assert(reader.read(path))
    profile.holders = {parent = {0, 0, 2, 3}, step = {"heavy", "light", "x", "y"}, path = {1, 4},
                       node = {1, 1}, samples = {9, 1}, bytes = {9000, 1000}}
    visit(profile, "#view=holders&holder=4")
    assert.truthy(table.concat(tree(), "\n"):find("\n4 y ", 1, true), table.concat(tree(), "\n"))
  end)

  it("keeps the largest holders of many, counts the others above them, and says so", function()
    local profile = assert(reader.read(path))
    local h = {parent = {0}, step = {"_G"}, path = {0}, node = {1}, samples = {1}, bytes = {5}}
    for i = 1, 6000 do
      h.parent[i + 1], h.step[i + 1] = 1, '["' .. i .. '"]'
      h.path[i + 1], h.node[i + 1], h.samples[i + 1], h.bytes[i + 1] = i + 1, 1 + i % 3, 1, 100 + i
    end
    h.step[6001] = pages.HOSTILE
    profile.holders = h
    local held = heldby.of(profile, {paths = 4, rows = 3})
    assert.same({0, 1, 1, 1}, held.paths.parent)
    assert.same({"_G", '["5998"]', '["5999"]', pages.HOSTILE}, held.paths.step)
    assert.equal(5997, held.left)
    local bytes = 0
    for _, n in ipairs(held.rows.bytes) do bytes = bytes + n end
    assert.equal(5 + 6000 * 100 + 6000 * 6001 // 2, bytes)
    assert.same({paths = 0, samples = 0, bytes = 0}, held.omitted)
    visit(profile, "")
    b:press "8"
    assert.truthy(b:text "#panel-holders":find("1,001 smaller paths are included in the shorter", 1, true))
    assert.truthy(tree()[3]:find(pages.HOSTILE, 1, true))
    assert.equal("undefined", b:eval "typeof window.hacked")
    assert.is_true(b:eval "document.querySelectorAll('*').length" < 1500)
  end)

  it("leaves out small holders without a common start, and says so", function()
    local profile = assert(reader.read(path))
    local h = {parent = {}, step = {}, path = {}, node = {}, samples = {}, bytes = {}}
    for i = 1, 5003 do
      h.parent[i], h.step[i], h.path[i], h.node[i], h.samples[i], h.bytes[i] = 0, "g" .. i, i, 1, 1, 2048
    end
    profile.holders = h
    local held = heldby.of(profile)
    assert.same({0, {paths = 3, samples = 3, bytes = 3 * 2048}}, {held.left, held.omitted})
    for _, at in ipairs(held.rows.path) do assert.is_true(at > 0) end
    visit(profile, "")
    b:press "8"
    local text = b:text "#panel-holders"
    assert.truthy(text:find("3 smaller paths are left out, with 6 KiB.", 1, true), text)
    assert.is_nil(text:find("no known holder", 1, true))
  end)

  it("shows lifetimes, as the report does", function()
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
    -- the rows of this table have a limit 'below', which must not become the CSS class of indented rows
    assert.equal(0, b:eval "document.querySelectorAll(\"[aria-label='By lifetime'] .below\").length")
  end)

  it("splits the time of lines: Lua, C functions, collections", function()
    b:click "[name=mode][value=time]"
    b:press "4"
    local t = totals.of(assert(reader.read(path)))
    local list, whole = totals.sorted(t.lines, "timesamples"), t.whole.timesamples
    local seen = rows "Lines"
    assert.is_true(#seen > 1)
    -- Each line is searched by its name, because the order of lines with equally many samples is not
    -- defined.
    local bylabel, before = {}, math.huge
    for _, row in ipairs(list) do bylabel[("%s:%d"):format(row.file, row.line)] = row.self end
    for _, row in ipairs(seen) do
      local own = assert(bylabel[row[8]], row[8])
      assert.same({units.percent(own.timesamples - own.nativesamples - own.gcsamples, whole),
                   units.percent(own.nativesamples, whole), units.percent(own.gcsamples, whole)},
                  {row[5], row[6], row[7]})
      assert.is_true(own.timesamples <= before)
      before = own.timesamples
    end
  end)

  -- A former bug: a line with samples of several functions was named after the first one, in this profile
  -- the main chunk.
  it("names a line after the function that has most of it", function()
    b:click "[name=mode][value=bytes]"
    b:press "4"
    local at
    for i, row in ipairs(rows "Lines") do at = at or row[7]:find ":10$" and i end
    assert.is_truthy(at)
    local keys = {"4", "Home"}
    for _ = 2, at do keys[#keys + 1] = "ArrowDown" end
    b:press(table.unpack(keys))
    assert.truthy(b:text ".source":find ":10%s+in anonymous")
  end)

  it("reports a profile without data on leaks, and the number of omitted lines", function()
    local profile = assert(reader.read(path, {bins = leaks.BINS}))
    profile.course = nil
    assert.truthy(lives.leaks(profile).summary:find("cannot show likely leaks: the run had no " ..
                                                    "collection; profile a longer run"))
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
    local seen = lives.leaks(profile)
    assert.equal(12, seen.left)
    assert.equal(500, #seen.rows)
  end)
end)
