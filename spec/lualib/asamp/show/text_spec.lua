-- SPDX-License-Identifier: MIT
-- The report as text: its sentences, and its width in a terminal.

local commands = require "spec.support.commands"
local leaks = require "asamp.show.leaks"
local profiles = require "spec.support.profiles"
local text = require "asamp.show.text"
local totals = require "asamp.sums.totals"

local ALLOCATIONS = {
  {"main@3 decode@130", profiles.TABLE, 500, 40},
  {"main@3 decode@130", profiles.POINT, 100, 20},
  {"main@3 decode@130 [C]gsub", profiles.STRING, 200, 30, 100},
  {"main@4 [C]gsub", profiles.STRING, 200},
}

local TIMES = {
  {"main@3 decode@130", profiles.TIME, 600},
  {"main@3 decode@130 [C]gsub", profiles.TIME, 250},
  {"main@3 decode@130 [C]gsub <minor>", profiles.TIME, 150},
}

local function example(stacks)
  local p = profiles.of(stacks or ALLOCATIONS, {
    path = "app.vmprof", command = "lua app.lua in.json", duration = 4.5,
    size = 524288, random = true, minors = 40, majors = 2,
    collections = {{time = 1000000, inuse = 3 << 20, held = 4 << 20,
                    rss = 5 << 20, duration = 1500, tenured = 1 << 20}}})
  return p
end

local function mixed()
  local all = table.move(ALLOCATIONS, 1, #ALLOCATIONS, 1, {})
  return table.move(TIMES, 1, #TIMES, #all + 1, all)
end

local SHOW = {functions = true, lines = true, types = true,
              collections = true, marks = true}

-- Adds numbers of blocks to the rows of tables without a class and of strings. Rows of the class Point have
-- no blocks.
local function withblocks(p)
  p.sites.objects = {}
  for i, kind in ipairs(p.sites.kind) do
    p.sites.objects[i] = kind == profiles.TABLE and 1234567.4
                         or kind == profiles.STRING and 100 or 0
  end
end

-- Returns the report of the example profile as text. change(profile) may change the profile before.
local function render(change, options, stacks)
  local profile = example(stacks)
  if change then
    change(profile)
  end
  local o = {top = 10, show = SHOW, min = 1, depth = 60}
  for k, v in pairs(options or {}) do
    o[k] = v
  end
  return text.render(profile, totals.of(profile), o)
end

-- Returns the text with each run of white space replaced by one space.
local function flat(s)
  return (s:gsub("%s+", " "))
end

local has = commands.has

describe("the report's text", function()
  it("says how much, in how long, from how many samples", function()
    local s = flat(render())
    assert.truthy(s:find("^app.vmprof lua app.lua in.json 500 MiB allocated " ..
      "in 4.50 s %(111.1 MiB/s%), estimated from 1,000 samples%. "))
  end)

  it("prints rates that are no integers of Lua", function()
    -- A damaged file may state 4 EiB in 1 ms. A former bug: for such numbers the report ended with a stack
    -- trace.
    has(flat(render(function(p) p.allocated, p.duration = 1 << 62, 0.001 end)),
        "4 EiB allocated in 1 ms (4000 EiB/s).")
  end)

  it("prints the exact amount if the file has it, and the estimate of the samples", function()
    local function exact(p) p.allocated = 512 << 20 end
    has(flat(render(exact)), "512 MiB allocated in 4.50 s (113.8 MiB/s). All below is " ..
      "estimated from 1,000 samples, which represent 500 MiB. A sample")
    has(flat(render(exact, {focus = {title = "x", entries = {}}})),
        "500 MiB allocated in 4.50 s (111.1 MiB/s), estimated from 1,000 samples.")
  end)

  it("says which period would give samples enough", function()
    local function of(bytes, n)
      return flat(render(function(p)
        p.allocated, p.duration = bytes, 2
      end, nil, {{"main@1", profiles.TABLE, n}}))
    end
    has(of(30 << 20, 59), "With --alloc 16K there would be about 1,920 samples. A sample")
    has(of(100000, 1), "With --alloc 64 there would be about 1,562 samples.")
    assert.is_nil(of(100 << 20, 200):find("With --alloc", 1, true))
    -- there is no advice, because another period would not help
    assert.is_nil(of(100, 1):find("With --alloc", 1, true))
  end)

  it("explains missing samples, and names a remedy", function()
    local function of(change)
      return flat(render(function(p) p.complete = true change(p) end, nil, {}))
    end
    has(of(function(p) p.allocated, p.timeperiod = 33000, nil end),
        "32.2 KiB allocated in 4.50 s, but no sample was taken: the period is 512 KiB. " ..
        "With --alloc 64 there would be about 515 samples. 42 collections")
    has(of(function(p) p.allocated, p.timeperiod = 33000, 0.001 end),
        "No time sample either: the period is 1 ms of CPU time; without --exact")
    has(of(function(p) p.timeperiod, p.wall = 0.001, true end),
        "No time sample in 4.50 s: the period is 1 ms of wall time. ")
    has(of(function(p) p.timeperiod = nil end),
        "No samples in 4.50 s: nothing was allocated while sampling was on.")
    has(of(function(p) p.timeperiod, p.own = nil, false end), "No samples in 4.50 s. ")
  end)

  it("explains the bytes that a sample represents", function()
    has(flat(render()), "A sample is taken every 512 KiB of allocation on average, at random, and " ..
      "represents 512 KiB.")
    has(flat(render(function(p) p.random = false end)),
        "every 512 KiB of allocation, and represents 512 KiB. A row of 100")
    has(flat(render(function(p) p.periods = 2 end)),
        "was changed 2 times during the run")
  end)

  -- A former bug: every report explained the columns of the table of sites, even if it did not have this
  -- table.
  it("explains the columns that are shown, and no others", function()
    local shown = flat(render())
    has(shown, "lived: share of self")
    has(shown, "K, M, G")
    local marks = flat(render(nil, {show = {marks = true, collections = true}}))
    has(marks, "K, M, G")
    assert.is_nil(marks:find("lived:", 1, true))
    assert.is_nil(marks:find("blocks:", 1, true))
  end)

  it("reports one sample as one", function()
    local s = flat(render(function(p)
      p.allocated, p.followed, p.unfollowed, p.lost = 600000, 9, 1, 1
    end, nil, {{"main@3", profiles.TABLE, 1, 1}}))
    has(s, "from 1 sample, which represents 512 KiB.",
        "1 more sample (allocation or time) was lost and is not counted here.")
  end)

  -- A former bug: the report explained columns that it had left out in a narrow terminal.
  it("explains no column that a table of the sort could have had", function()
    local function dead(p) p.followed, p.unfollowed = 9, 0 end
    local options = {show = {functions = true, lines = true}, width = 80}
    has(flat(render(dead, options, mixed())), "Lua, C, GC: share of all time spent in the line's own Lua " ..
        "code, in C functions that it called, in collections while it ran.", "total: self",
        "alive: share that is still alive")
    options.width = 40
    local narrow = flat(render(function(p)
      dead(p)
      p.functions[2].name = "decode_all_that_comes"
    end, options, mixed()))
    has(narrow, " Lua, GC: share of all time spent in the line's own Lua code, in collections while it ran.")
    local types = flat(render(dead, {show = {types = true}}))
    assert.is_nil(types:find("self: bytes", 1, true))
    has(flat(render(nil, {show = {lines = true}})), "self: bytes or time of the line, with the C functions")
    assert.is_nil(flat(render(function(p) p.marks = {{name = "a", time = 1000, value = ""}} end,
                              {show = {marks = true}})):find("K, M, G", 1, true))
  end)

  -- A former bug: in a row of which 1% was alive, the columns about live bytes showed the number of blocks,
  -- the mean size and the age of all objects of the row, dead ones included.
  it("shows surviving and live bytes only as far as they are known", function()
    local function titles(by)
      local s = render(function(p)
        withblocks(p)
        p.followed, p.unfollowed = 9, 0
      end, {by = by, show = {lines = true, types = true}})
      return s:match("\nBy line[^\n]*\n *([^\n]*)"):gsub(" +", " ") .. "; " ..
             s:match("\nBy type[^\n]*\n *([^\n]*)"):gsub(" +", " "), s
    end
    assert.equal("self total blocks lived alive line; self blocks mean lived alive type", (titles "bytes"))
    local shown, s = titles "survivedbytes"
    assert.equal("self total alive line; self alive type", shown)
    has(s, "  100%  table\n", "alive: share of self that is still")
    assert.equal("self total line; self type", (titles "alivebytes"))
  end)

  -- A former bug: the report stated "12.6 MiB allocated by Lua", of which 7.8 MiB were external bytes of
  -- userdata.
  it("separates Lua's allocation from external bytes, next to native memory", function()
    local function report(outside)
      return flat(render(function(p)
        p.allocated, p.malloc = 500 << 20, 524288
        p.kinds[profiles.STRING].name = "native"
        if outside then p.kinds[profiles.POINT].name = "outside" end
      end))
    end
    has(report(true), "About 450 MiB allocated by Lua, 50 MiB owned by userdata outside of Lua's heap, " ..
      "and about 200 MiB of native memory in 4.50 s. All below is estimated",
      "Userdata own memory and resources outside of the heap; an open file counts as 32 KiB.")
    assert.is_nil(report(true):find("lie outside of Lua's heap", 1, true))
    has(report(false), "500 MiB allocated by Lua and about 200 MiB of native memory in 4.50 s.")
  end)

  it("is brief on request", function()
    local s = render(nil, {brief = true})
    has(s, "500 MiB allocated")
    assert.is_nil(s:find("A sample is taken", 1, true))
    assert.is_nil(s:find("self: bytes", 1, true))
  end)

  it("prints the surviving share of decided samples", function()
    has(flat(render()), "90.0% died young, 10.0% survived their first " ..
      "collection. The survival of 100 samples is unknown, because no collection followed.")
    assert.is_nil(flat(render(function(p) p.fates = false end))
                  :find("died young", 1, true))
  end)

  it("names the missing major collection only if something may be alive for lack of it", function()
    local function of(dead)
      return flat(render(function(p)
        p.followed, p.majors = 100, 0
        p.sites.later, p.sites.laterbytes = {}, {}
        for i, n in ipairs(p.sites.survived) do
          p.sites.later[i] = dead and n or 0
          p.sites.laterbytes[i] = dead and p.sites.survivedbytes[i] or 0
        end
      end))
    end
    has(of(false), "90.0% died young, 0.0% died later, 10.0% is still alive, as far as is known: no major " ..
                   "collection has run.")
    has(of(true), "90.0% died young, 10.0% died later, 0.0% is still alive. ")
  end)

  it("calls lines with too few samples more lines only below others", function()
    local found = {rows = {}, few = {lines = 1, least = 12, alloc = 8192}}
    local style = {width = 100, paint = function(_, s) return s end}
    has(table.concat(leaks.lines(style, found), "\n"), "\n  Not judged: 1 line with live objects from " ..
        "early and late in the run, but fewer than 12 live\n  samples; a run with " ..
        "--alloc 8K takes enough samples.")
  end)

  it("wraps the note about a label", function()
    local s = render(nil, {label = "route=/a/long/path/to/a/resource", width = 60})
    has(flat(s), "only code that ran with the label route=/a/long/path/to/a/resource; collections " ..
                 "and leaks are not shown, because they concern the whole run")
    commands.fits(s, 60)
  end)

  it("prints the number of collections, and the bytes that they left", function()
    local s = flat(render())
    has(s, "42 collections (40 minor, 2 major); after the last one, 3 MiB of Lua's heap were in " ..
      "use, and 4 MiB reserved.", "Collections 40 minor, 2 major; 1 MiB tenured. " ..
      "Pauses, in wall time: 1.5ms together, 0.0% of the session; half of the 1 pauses " ..
      "that were recorded one by one took at most 1.5ms, " ..
      "99% at most 1.5ms, the longest took 1.5ms (1.00s after the start).",
      "3.0M 3.0M 3.0M in use after a collection",
      "5.0M 5.0M 5.0M resident set of the process")
  end)

  -- A former bug: the report stated the pauses of 8 threads as "489.1%" of the session, without the number of
  -- threads.
  it("says of how many threads the pauses are, where a share of the session means nothing", function()
    local function threads(n)
      return flat(render(function(p)
        p.threads = {}
        for i = 1, n do p.threads[i] = {id = i, samples = 1, bytes = 1, timesamples = 0, ns = 0} end
      end))
    end
    has(threads(8), "Pauses, in wall time: 1.5ms together, in 8 OS threads; half of the 1 pauses")
    has(threads(1), "Pauses, in wall time: 1.5ms together, 0.0% of the session; half of the 1 pauses")
  end)

  it("reports the missing parts of a cut file", function()
    has(flat(render(function(p) p.undetailed = 1 end)),
        "The end of the file is missing: size and survival of 1 sample are unknown.")
  end)

  it("has rows with self, total, survival, name and place", function()
    has(render(),
      "  300.0M  60.0%  400.0M  80.0%    10%  decode  x.lua:1\n",
      "  200.0M  40.0%  200.0M  40.0%    10%  [C]gsub  [C] libx.so\n",
      "      0B   0.0%  500.0M 100.0%      -  main  x.lua:1\n",
      "  400.0M  80.0%  400.0M  80.0%    13%  x.lua:130  decode\n",
      "  100.0M  20.0%  100.0M  20.0%     0%  x.lua:4  main\n")
  end)

  it("has types with their classes", function()
    has(render(withblocks), "By type and class\n", " blocks  mean  lived  type\n",
      "  300.0M  60.0%  1,234,567  255B    10%  table\n" ..
      "   50.0M  10.0%          -     -    20%    Point\n" ..
      "  200.0M  40.0%        200  1.0M    10%  string\n")
    local s = render(function(p) p.kinds[4].class = nil end)
    has(s, "By type\n")
  end)

  it("has the blocks of functions and lines, and their mean size", function()
    local s = render(withblocks)
    has(s, "self          total            blocks  mean  lived  function\n",
        "  300.0M  60.0%  400.0M  80.0%  1,234,567  255B    10%  decode  x.lua:1\n",
        "  100.0M  20.0%        100  1.0M     0%  x.lua:4  main\n")
    has(flat(s), "blocks: estimated number")
    s = render(withblocks, {focus = {title = "x", entries = {}}})
    has(s, "  300.0M  60.0%  1,234,567  255B    10%  table\n")
    assert.is_nil(render():find("blocks", 1, true))
  end)

  it("shows the end of a path, whatever the width, and numbers as far as there is room", function()
    for _, columns in ipairs{60, 80, 120} do
      local s = render(function(p)
        withblocks(p)
        for _, fn in ipairs(p.functions) do
          fn.file = fn.native and fn.file or "/usr/share/lua/5.4/deep/below/linearizer.lua"
        end
      end, {width = columns}, mixed())
      local n = 0
      for line in s:gmatch "[^\n]*(linearizer%.lua:%d+)" do
        n = n + 1
        assert.truthy(line:find "^linearizer%.lua:%d+$")
      end
      -- 7 rows in all tables of functions and lines, which are sorted by bytes and by time
      assert.equal(7, n, s)
    end
  end)

  -- A former bug: for a profile with a single time sample, the report stated that 100.0% of the time was in
  -- collections.
  it("has no shares of fewer than eight time samples", function()
    local function of(n)
      local all = table.move(ALLOCATIONS, 1, #ALLOCATIONS, 1, {})
      all[#all + 1] = {"main@3 decode@130", profiles.TIME, n}
      return flat(render(nil, nil, all))
    end
    has(of(7), "7 ms of CPU time, from 7 samples of 1 ms each: too few for shares of Lua, C and collections.")
    has(of(8), "8 ms of CPU time, from 8 samples of 1 ms each: 100.0% in Lua, 0.0% in C")
  end)

  it("shows allocations and time of a line side by side", function()
    local s = render(nil, nil, mixed())
    has(flat(s), "1.00 s of CPU time, from 1,000 samples of 1 ms each: " ..
        "60.0% in Lua, 25.0% in C, 15.0% in collections.")
    has(s, "By function, by bytes\n", "By function, by time\n",
      "By line, by bytes\n", "By line, by time\n",
      "  600ms  60.0%  1.00s 100.0%  decode  x.lua:1\n",
      "  150ms  15.0%  150ms  15.0%  [minor collection]\n",
      "  400.0M  80.0%    13%  60.0%  25.0%  15.0%  x.lua:130  decode\n",
      "  1.00s 100.0%  60.0%  25.0%  15.0%  x.lua:130  decode\n")
    assert.is_nil(s:find("x.lua:3  main", 1, true))  -- called only
    has(render(nil, {cumulative = true}, mixed()),
        "By line, by bytes\n", "x.lua:3  main")
    local only = render(nil, {by = "timesamples"}, mixed())
    assert.is_nil(only:find("by bytes", 1, true))
    has(only, "By function, by time\n")
  end)

  it("counts periods of time that share a stack as one sample", function()
    local function half(p)
      p.sites.timesquares = {}
      for i, n in ipairs(p.sites.samples) do p.sites.timesquares[i] = 4 * n end
    end
    has(flat(render(half, nil, TIMES)),
        "1.00 s of CPU time, from 250 samples of 4 ms on average: 60.0% in Lua")
    has(flat(render(function(p) half(p) p.timeperiod = nil end, nil, TIMES)),
        "250 time samples: 60.0% in Lua")
  end)

  it("of time alone has self and total of time", function()
    local s = render(function(p) p.wall = true end, nil, TIMES)
    has(flat(s), "1.00 s of wall time")
    has(s, "  1.00s 100.0%  1.00s 100.0%  60.0%  25.0%  15.0%  x.lua:130")
    assert.is_nil(s:find("allocated", 1, true))
    assert.is_nil(s:find("By type", 1, true))
  end)

  it("shows the requested number of rows, and the number of further ones", function()
    local s = render(nil, {top = 1})
    has(s, "decode  x", "and 2 more\n", "and 1 more\n")
    assert.is_nil(s:find("gsub", 1, true))
  end)

  it("leaves out how the interpreter came to the script", function()
    local s = render(nil, nil, {
      {"[C]start [C]pmain main@1", profiles.TABLE, 9},
      {"[C]start [C]pmain main@1 [C]sort f@2", profiles.TABLE, 1}})
    has(s, "main  x.lua:1", "[C]sort  [C]")
    assert.is_nil(s:find("[C]start", 1, true))
    assert.is_nil(s:find("[C]pmain", 1, true))
    has(render(nil, nil, {{"[C]start [C]load", profiles.TABLE, 9}}),
        "[C]load  [C]")
  end)

  it("sorts by total on request", function()
    local s = render(nil, {cumulative = true})
    assert.truthy(s:find("main  x.lua:1.*decode  x.lua:1.*gsub"))
    assert.is_nil(render():find("main  x.lua:1.*decode  x.lua:1.*gsub"))
  end)

  it("draws the call tree down to significant nodes", function()
    local s = render(nil, {show = {tree = true}})
    has(s, "Call tree\n",
      "  500.0M 100.0%          main  x.lua:1\n",
      "  400.0M  80.0%  300.0M  ├ decode  x.lua:1\n",
      "  100.0M  20.0%  100.0M  │ └ [C]gsub  [C] libx.so\n",
      "  100.0M  20.0%  100.0M  └ [C]gsub  [C] libx.so\n")
    s = render(nil, {show = {tree = true}, min = 50})
    assert.is_nil(s:find("gsub", 1, true))
    s = render(nil, {show = {tree = true}, depth = 1})
    has(s, "main", "and 2 more")
    assert.is_nil(s:find("decode", 1, true))
  end)

  it("shows likely leaks, with reasons", function()
    local found = {parts = 16, before = 1 << 20, after = 3 << 20, grew = true,
                   late = 9 << 20, kept = true,
                   rows = {{file = "x.lua", line = 9, name = "put",
                            samples = 40, survived = 30,
                            survivedbytes = 30 << 20, kept = 30,
                            keptbytes = 30 << 20, parts = 15, of = 16,
                            type = "string", group = 1}}}
    local o = {leaks = found, show = {leaks = true}}
    local s = render(nil, o)
    has(flat(s), "The heap grew from 1 MiB to 3 MiB, and these lines kept allocating objects that survived:")
    has(s, "     30.0M      75%  15 of 16  string  x.lua:9  put\n")
    -- simulates a heap that shrinks although lines keep allocating survivors, such as open files
    found.before, found.after = 3 << 20, 1 << 20
    has(flat(render(nil, o)), "The heap does not grow (from 3 MiB to 1 MiB), and these lines kept")
    found.before, found.after = 1 << 20, 3 << 20
    assert.is_nil(s:find("set in", 1, true))
    found.proved = true
    s = render(nil, o)
    has(flat(s), "kept allocating objects that are still alive:")
    has(s, "  still alive  of line   seen in  mostly  line\n")
    for i, kind in ipairs{"Lua closure", "table array part"} do
      local row = {group = i, type = kind, of = 4, line = 20 * i, keptbytes = 1 << 20}
      found.rows[i + 1] = setmetatable(row, {__index = found.rows[1]})
    end
    s = render(nil, o)
    has(s, "\n        30.0M      75%  15 of 16            string  x.lua:9  put\n" ..
           "         1.0M      75%   15 of 4       Lua closure    x.lua:20  put\n" ..
           "         1.0M      75%   15 of 4  table array part  x.lua:40  put\n")
    has(flat(s), "indented: a line with the same holder, function or caller as the line above")
    for _, row in ipairs(found.rows) do
      row.group, row.container, row.held = 1, 'local "t"', 30
      row.holders = {{text = 'local "t" → [1..n]', samples = 30, share = 1}}
    end
    found.rows[3].holders[2] = {text = 'local "u"', samples = 9, share = 0.3}
    s = render(nil, o)
    -- the report names the common holder of the rows of this group only once
    assert.equal(1, select(2, s:gsub('local "t"', "")))
    has(flat(s), 'x.lua:40 put holder of 30% of 30 samples: local "u"')
    for _, row in ipairs(found.rows) do
      row.holders, row.container = nil, nil
    end
    found.proved = false
    found.rows = {}
    has(flat(render(nil, o)), "but no line kept allocating")
    found.kept = false
    has(flat(render(nil, o)), "None: the heap grew from 1 MiB to 3 MiB; of the bytes from the " ..
      "second half of the run, 9 MiB survived their first collection, but most of these died later.")
    found.grew = false
    has(flat(render(nil, o)), "None: the heap does not grow (from 1 MiB to 3 MiB).")
  end)

  it("shows markers and their values", function()
    local s = render(function(p)
      p.marks = {{time = 1000, name = "request", value = "3"},
                 {time = 2000, name = "request", value = "5"},
                 {time = 3000, name = "phase", value = "a\27b"},
                 {time = 4000, name = "phase", value = "end"},
                 {time = 5000, name = "once", value = "7"}}
      profiles.summed(p)
    end)
    assert.truthy(s:find("once  7\n", 1, true), s)
    has(s, "Markers\n", "      2  1.0ms  2.0ms  request  3 to 5, mean 4\n",
        "      2  3.0ms  4.0ms  phase  last: end\n")
  end)

  it("says whom it is restricted to, and who called it", function()
    local p = example()
    local entries = {}
    for i, f in ipairs(p.nodes.fn) do
      if p.functions[f].name == "[C]gsub" then
        entries[#entries + 1] = {node = i, caller = p.nodes.parent[i]}
      end
    end
    local s = text.render(p, totals.of(p), {top = 9, show = {callers = true},
      min = 1, depth = 9, focus = {title = "gsub", entries = entries}})
    has(s, "only samples with gsub on their stack\n", "Called from\n",
      "  100.0M  20.0%  decode  x.lua:130\n", "  100.0M  20.0%  main  x.lua:4\n")
  end)

  it("fits its columns whatever the names", function()
    local long = ("é"):rep(300)
    local show = {functions = true, lines = true, types = true, tree = true,
                  collections = true, marks = true, leaks = true}
    for _, columns in ipairs{40, 60, 80, 140} do
      for _, case in ipairs{{long, "f.lua"}, {"f", "/" .. long .. "/x.lua"},
                            {long, long}, {"", ""}, {"\255\254", "\200"},
                            {("a\u{301}"):rep(99), "x"}} do
        local s = render(function(p)
          p.path, p.command, p.followed, p.unfollowed = long, long, columns, 9
          for _, fn in ipairs(p.functions) do
            fn.name, fn.file = case[1], case[2]
          end
          p.kinds[1].name, p.kinds[4].class = case[1], case[1]
          p.marks = {{time = 1, name = case[1], value = case[2]}}
          p.collections[2] = p.collections[1]
          profiles.summed(p)
        end, {show = show, width = columns}, mixed())
        commands.fits(s, columns)
      end
    end
  end)

  it("leaves out numbers if names do not fit, the least important first", function()
    local function titles(columns, options)
      options.width = columns
      local s = render(function(p)
        p.followed, p.unfollowed, p.functions[2].name = 9, 0, "decode_all_that_comes"
      end, options, mixed())
      local list = {}
      for _, what in ipairs{"function", "line"} do
        list[#list + 1] = s:match("\nBy " .. what .. ", by bytes\n *([^\n]*)  " .. what .. "\n")
          :gsub(" +", " ")
      end
      return table.concat(list, "; ")
    end
    local options = {show = {functions = true, lines = true}}
    assert.equal("self total lived alive; self lived alive Lua C GC", titles(80, options))
    assert.equal("self total lived alive; self lived alive Lua GC", titles(60, options))
    assert.equal("self lived alive; self lived GC", titles(40, options))
    options.cumulative = true
    assert.equal("total lived alive", titles(40, options):match "^[^;]*")
  end)

  it("uses the columns that there are", function()
    local s = render(function(p)
      p.functions[2].file = ("d/"):rep(40) .. "end.lua"
    end, {width = 140})
    has(s, "decode  " .. ("d/"):rep(40) .. "end.lua:1\n")
  end)

  it("keeps both ends of a name and the end of a file", function()
    local s = render(function(p)
      p.functions[2].name = "start" .. ("n"):rep(100)
      p.functions[2].file = ("d/"):rep(100) .. "end.lua"
    end)
    assert.truthy(s:find("  startn+…n+  …/[d/]+/end%.lua:1\n"), s)
  end)

  it("calls native code without a library plainly C", function()
    has(render(function(p) p.functions[3].file = "-" end), "gsub  [C]\n")
  end)

  it("lets no control sequence of a file reach the terminal", function()
    local s = render(function(p)
      p.path, p.command = "a\27[2Jb", "c\7d\ne"
      p.functions[1].name, p.functions[1].file = "x\27]0;hi\7", "y\27\n"
      p.functions[2].name = "\u{9b}2J\u{202e}\u{2066}"
      p.kinds[1].name, p.kinds[4].class = "\27c", "\27c"
      p.marks = {{time = 1, name = "\27c", value = "\27c"}}
      profiles.summed(p)
    end, {focus = {title = "\27c", entries = {}}})
    assert.is_nil(s:find "[%z\1-\9\11-\31\127]")
    for _, c in ipairs{"\u{9b}", "\u{202e}", "\u{2066}"} do assert.is_nil(s:find(c, 1, true)) end
  end)

  it("has colours on request only", function()
    has(render(nil, {color = true}), "\27[1m")
    assert.is_nil(render():find("\27", 1, true))
  end)

  it("counts samples if the file has no bytes", function()
    local s = flat(render(function(p)
      p.fates = false
      for i in ipairs(p.sites.bytes) do
        p.sites.bytes[i] = 0
      end
    end))
    has(s, "1,000 samples in 4.50 s.", "The file does not record how many bytes",
        " 600 60.0% 800 80.0% - decode x")
  end)

  it("of no sample is a head without tables", function()
    local s = render(nil, nil, {})
    has(s, "No time sample in 4.50 s")
    assert.is_nil(s:find("By function", 1, true))
  end)
end)
