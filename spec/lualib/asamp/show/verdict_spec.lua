-- SPDX-License-Identifier: MIT
-- The sentences of a verdict, the summary that `asamp run` prints about a profile.

local leaksums = require "asamp.sums.leaks"
local process = require "spec.support.process"
local reader = require "profiler.reader"
local totals = require "asamp.sums.totals"
local verdict = require "asamp.show.verdict"
local verdicts = require "asamp.sums.verdict"

local PROFILE = {path = "p", minors = 200, majors = 13, allocated = 2600 << 20}

-- Returns the text of a verdict's sentences about leaks, lines and time. 'facts' has fields of a result of
-- asamp.sums.verdict.
local function text(facts)
  local v = {growth = "grows", before = 1 << 20, after = 8 << 20, leaks = {}, lines = {}, maybe = {}}
  for key, value in pairs(facts) do
    v[key] = value
  end
  local list = {}
  for i, sentence in ipairs(verdict.sentences(v, PROFILE)) do
    list[i] = sentence.text .. (sentence.command and " [" .. sentence.command .. "]" or "")
  end
  return table.concat(list, "\n")
end

local function line(number, fields)
  local row = {file = "a.lua", line = number, name = "f", bytes = 2048, share = 1 / 2, type = "table",
               survived = 0.98}
  for key, value in pairs(fields) do
    row[key] = value
  end
  return row
end

describe("a sentence of the verdict", function()
  it("says of a line that it is part of the leak above, or how much survived", function()
    local kept = line(7, {reason = "kept"})
    local leak = {holder = "_G", kind = "list", bytes = 4096, rows = {line(7, {type = "table"})}}
    assert.matches("a.lua:7 %(f%) allocates 2 KiB, 50%% of all, .* This line is part of the likely leak%.",
                   text{leaks = {leak}, lines = {kept}})
    for _, growth in ipairs{"grows", "level"} do
      local out = text{growth = growth, leaks = growth == "level" and {leak} or nil, lines = {kept}}
      assert.matches("98%% of these bytes survived their first garbage collection%.", out)
    end
  end)

  -- A former bug: a line allocated tables of which a leaking list kept a third, but the verdict only
  -- advised to reuse the tables.
  it("says of a line that drops most of its objects which share a leak keeps", function()
    local dropped = line(7, {reason = "tables", survived = 0.4})
    local function out(bytes)
      local row = line(7, {keptbytes = bytes})
      return text{leaks = {{holder = "_G", kind = "list", bytes = 4096, rows = {row, row}}},
                  lines = {dropped}}
    end
    assert.matches("out of the loop%. 30%% of these bytes are part of the likely leak%.", out(307))
    assert.not_matches("part of the likely leak", out(50))
  end)

  -- A former bug: for strings that table.concat creates, the advice was to collect the parts in a table,
  -- which the program did already.
  it("has advice for long strings that depends on the function that makes them", function()
    local function out(calls)
      return text{lines = {line(7, {reason = "strings", calls = calls, long = 4096})}}
    end
    local long = "mean size is 4 KiB: if each contains most of the previous one, the work is quadratic%. "
    assert.matches(long .. "Collect the parts in a table, and call table.concat once%.", out())
    assert.matches(long .. "Call table.concat once, after the last part%.", out "tconcat")
    assert.matches(long .. "Keep a position in the text instead", out "str_sub")
    assert.matches("dropped %(allocated by io.read%)%. Keep them, or create fewer%.", out "g_read")
  end)

  -- A former bug: the verdict named one line three times: "most of it strings from a.lua:6 (f), a.lua:6
  -- (f), a.lua:6 (f)".
  it("names a line of a leak once if its objects are in several containers", function()
    local rows = {line(6, {}), line(6, {}), line(7, {}), line(6, {}), line(8, {}), line(9, {})}
    assert.matches("most of it tables from a.lua:6 %(f%), a.lua:7 %(f%), a.lua:8 %(f%)%.",
                   text{leaks = {{holder = "_G", kind = "list", bytes = 4096, rows = rows}}})
  end)

  -- string.find and string.match both call str_find_aux, which is the symbol in the stack.
  it("names both functions that share the code of a symbol", function()
    local at = {file = "a.lua", line = 9, name = "f", calls = "str_find_aux", share = 0.5}
    local out = text{time = {samples = 20, lua = 0.4, c = 0.6, gc = 0, sort = "c", at = at}}
    assert.matches("50%% in string.find or string.match, called at a.lua:9 %(f%)", out)
  end)

  -- A former bug: when open files leaked, the verdict was "The heap grew from 84.1 KiB … to 83.4 KiB".
  it("does not say that the heap grew if only memory outside of it did", function()
    assert.matches("^The heap does not grow %(from 2 KiB to 1 KiB%), but a part of the live memory does%.",
                   text{before = 2 << 10, after = 1 << 10})
  end)

  -- A former bug: for a heap that grew to six times its size, the verdict stated that it "hardly grew".
  it("says that the heap grew too little for the period, and which one is sufficient", function()
    local facts = {growth = "small", before = 2 << 20, after = 6 << 20, period = 512 << 10, alloc = 64 << 10}
    assert.equal("The heap grew from 2 MiB to 6 MiB, too little to find the cause with one sample " ..
                 "every 512 KiB; use --alloc 64K.", text(facts))
    facts.alloc = nil
    assert.matches("one sample every 512 KiB%.$", text(facts))
  end)

  -- A former bug: for a run with 1,188 samples and 213 collections, the verdict was only "too few samples".
  it("names the missing data: live samples of a line, collections, or samples", function()
    local few = {growth = "few", samples = 1188, alloc = 8192, few = {lines = 2, least = 12}}
    assert.matches("2 lines have live objects from early and late in the run, but fewer than 12 live " ..
                   "samples%. .*, or %-%-alloc 8K,", text(few))
    few.few, few.collections = nil, true
    assert.matches("^Too few collections .* 213 collections %(1,188 samples%)", text(few))
    few.collections = nil
    assert.matches("^Too few samples .*: 1,188 samples, 213 collections%.", text(few))
  end)

  -- A former bug: the verdict was "Too few samples … 8,805 samples, 1 collection. A longer run would decide."
  it("names too few collections if the program has stopped the collector", function()
    local path = os.tmpname()
    local status = process.run{load = "profiler",
      code = [[collectgarbage "stop" local t = {} for i = 1, 200000 do t[i % 1000] = {i} end]],
      env = {LUA_PROFILER = ("out=%s,overwrite=1,quiet,alloc=4K"):format(path)}}
    assert.equal(0, status)
    local profile = assert(reader.read(path, {bins = leaksums.BINS}))
    local t = totals.of(profile)
    local found = verdicts.of(profile, t, leaksums.of(profile))
    assert.matches("^Too few collections to say whether the heap grows: the run had 1 collection .* " ..
                   "Profile a longer run, in which the program does not stop the collector%.",
                   verdict.sentences(found, profile)[1].text)
  end)

  -- A former bug: of three lists that grew, the verdict named two, and of lists that may be leaks only one.
  it("names up to five containers that leak, or four that may, and counts the others", function()
    local leaks, maybe = {}, {}
    for i = 1, 7 do
      leaks[i] = {holder = "l" .. i, kind = "list", bytes = 4096, rows = {line(i, {type = "table"})}}
      maybe[i] = line(i, {holder = "l" .. i})
    end
    local out = text{leaks = leaks}
    assert.matches("Likely leak: l2: .*\nMore likely leaks: l3 %(4 KiB from a.lua:3 %(f%)%); l4 .*; l5 " ..
                   "%(4 KiB from a.lua:5 %(f%)%); and 2 more%. %[asamp report %-%-show leaks p%]$", out)
    assert.equal(1, select(2, out:gsub("show leaks", "")))
    leaks[4], leaks[5], leaks[6], leaks[7] = nil, nil, nil, nil
    leaks[3].holder = nil
    assert.matches("\nMore likely leaks: unknown holder %(4 KiB from a.lua:3 %(f%)%)%. %[",
                   text{leaks = leaks})
    assert.matches("until the end%. Also seen growing: l2, from a.lua:2 %(f%); l3, .*; l4, from a.lua:4 " ..
                   "%(f%); and 3 more%. %[", text{growth = "maybe", maybe = maybe})
  end)

  -- A former bug: for a run with one sample, the verdict stated that a line allocated 100% of all bytes.
  it("does not name a line or a holder of three samples", function()
    local held = {{text = "_G", samples = 9, share = 1}, bytes = 640 << 10}
    local facts = {lines = {line(7, {})}, held = held, samples = 3}
    assert.is_nil(text(facts):find("a.lua:7", 1, true))
    assert.is_nil(text(facts):find("_G", 1, true))
    facts.samples = 4
    assert.matches("a.lua:7 .*held by _G", text(facts))
  end)

  it("names the compilation of the script, and the C function that takes most time", function()
    local compiling = line(0, {native = true, name = "pmain", type = "proto"})
    assert.matches("Allocation: the compilation of the script allocates 2 KiB, 50%% of all, most of it " ..
                   "compiled code%.", text{lines = {compiling}})
    local at = {file = "a.lua", line = 9, name = "f", calls = "str_rep", share = 0.2}
    local time = {samples = 20, lua = 0.2, c = 0.8, gc = 0, sort = "c", at = at}
    assert.matches("Time: 80%% is spent in C functions, 20%% in string.rep, called at", text{time = time})
    at.own = true
    assert.matches("20%% in the profiler itself, called at", text{time = time})
    time.at = nil
    assert.matches("Time: 80%% is spent in C functions%.", text{time = time})
    time.sort = "lua"
    assert.matches("Time: 20%% is spent in Lua%.", text{time = time})
    time.at = {file = "a.lua", line = 9, name = "f", share = 0.15}
    assert.matches("Time: 20%% is spent in Lua, 15%% at a.lua:9 %(f%)%.", text{time = time})
  end)

  -- A former bug: the verdict stated that a line with one of four time samples in collections had "most of"
  -- the time in collections.
  it("states the share of the line with most time in collections", function()
    local at = {file = "a.lua", line = 9, name = "f", share = 0.22}
    local time = {samples = 14, lua = 0.71, c = 0, gc = 0.29, sort = "gc", at = at}
    assert.matches("Time: 29%% is spent in garbage collection, 22%% at a.lua:9 %(f%)%. Allocate less there%.",
                   text{time = time})
    at.calls = "luaB_collectgarbage"
    assert.matches("29%% is spent in garbage collection, 22%% requested by collectgarbage at a.lua:9",
                   text{time = time})
    time.at = nil
    assert.matches("29%% is spent in garbage collection%. Allocate less%.", text{time = time})
  end)

  -- A former bug: the verdict named a holder of 3% of the live bytes.
  it("names the holder of the live bytes if it holds a tenth of them", function()
    local held = {{text = "_G", samples = 9, share = 0.1}, bytes = 640 << 10}
    assert.matches("10%% of it held by _G", text{held = held})
    held[1].share = 0.09
    assert.is_nil(text{held = held}:find("Alive at", 1, true))
    held[1] = {text = "_G", samples = 2, share = 1}
    assert.matches("100%% of it held by _G", text{held = held})
    held[1].samples = 1
    assert.is_nil(text{held = held}:find("Alive at", 1, true))
  end)

  -- A former bug: if objects were allocated after the last search for holders, the verdict stated that they
  -- were dead at that search.
  it("says why no holder of a leak is known", function()
    local leak = {kind = "chain", bytes = 4096, rows = {line(7, {type = "table"})}}
    local facts = {leaks = {leak}, searched = "end"}
    assert.matches("the profiler found no reference to these objects, so they may be garbage that no " ..
                   "collection has found%. %[", text(facts))
    facts.searched = 2500000
    assert.matches("after these objects were allocated, the profiler did not search for holders " ..
                   "%(the last search was at 2%.50 s%), because the process was still running",
                   text(facts))
    facts.searched = nil
    assert.matches("search for holders, because the process was still running, or a signal or C code " ..
                   "ended it%. " ..
                   "While it runs, use asamp heap PID%. %[", text(facts))
  end)

  it("says how much a holder keeps if C code allocated most of it", function()
    local leak = {holder = "_G", kind = "list", bytes = 4096, held = 65536,
                  rows = {line(7, {type = "table"})}}
    assert.matches("It keeps 64 KiB%. Most of that was allocated by C code that no Lua code called; " ..
                   "4 KiB of it are tables from a.lua:7", text{leaks = {leak}})
  end)

  -- A former bug: the verdict stated that "an object" grew, and gave a command that showed an empty
  -- section.
  it("names the line of a growing object whose holder is unknown, and a command that shows it", function()
    local maybe = line(9, {})
    assert.matches("the live objects of a.lua:9 %(f%), whose holder is unknown%..*" ..
                   "%[asamp report %-%-line a.lua:9 p%]", text{growth = "maybe", maybe = {maybe}})
    maybe.native = true
    assert.matches("objects of C function f %(a.lua%), whose.*%[asamp report %-%-function f p%]",
                   text{growth = "maybe", maybe = {maybe}})
    maybe.native = nil
    maybe.holder = "_G"
    assert.matches("^Seen growing: _G, from a.lua:9 .*%[asamp report %-%-show holders p%]",
                   text{growth = "maybe", maybe = {maybe}})
    assert.matches("no line explains the growth.*%-%-show collections p", text{growth = "lines"})
    assert.matches("no line explains the growth.*%-%-show trends p", text{growth = "lines", trends = true})
  end)

  it("says until when an object grew that a program then used", function()
    local maybe = line(9, {holder = "_G", stopped = 0.91})
    assert.matches("^Seen growing in the first 91%% of the CPU time %(collections not counted%): _G, from " ..
                   "a.lua:9 %(f%). After that, .* data that the program loads once, or a leak.*" ..
                   "%[asamp report %-%-show holders p%]", text{growth = "maybe", maybe = {maybe}})
    -- a former bug: data that a program had loaded in 0.3% of its time might be a leak
    maybe.stopped = 0.003
    assert.matches("^Seen growing only in the first 1%% of the CPU time %(collections not counted%): _G, " ..
                   "from a.lua:9 %(f%)%. It is probably data that the program loads once%. %[",
                   text{growth = "maybe", maybe = {maybe}})
  end)

  -- A former bug: a slow loop over a list was reported as time in "ipairsaux".
  it("names the functions of Lua's libraries as programs do", function()
    for symbol, name in pairs{ipairsaux = "ipairs", io_readline = "io.lines or file:lines",
                              ll_require = "require", iter_auxlax = "utf8.codes"} do
      local at = line(7, {calls = symbol, share = 1 / 2})
      local time = {samples = 100, lua = 0.5, c = 0.5, gc = 0, sort = "c", at = at}
      assert.matches("50%% in " .. name .. ", called at a.lua:7 %(f%)", text{time = time})
    end
  end)

  it("has a remedy for a C function that moves elements or compiles, if it takes much time", function()
    local function out(calls, share)
      local at = line(7, {calls = calls, share = share})
      return text{time = {samples = 100, lua = 0.5, c = 0.5, gc = 0, sort = "c", at = at}}
    end
    assert.matches("in table.remove, called at a.lua:7 %(f%)%. table.remove moves all elements after",
                   out("tremove", 0.5))
    assert.matches("in table.insert, .* table.insert moves all elements after the new", out("tinsert", 0.25))
    assert.matches("in load, called at a.lua:7 %(f%)%. Compile each text once", out("luaB_load", 0.5))
    assert.not_matches("moves all elements", out("tinsert", 0.24))
    assert.matches("called at a.lua:7 %(f%)%. %[", out("sort", 0.5))
  end)

  it("says how much was in use at the end if holders were searched before", function()
    local held = {{text = "_G", samples = 9, share = 1}, bytes = 640 << 10, at = 2720}
    PROFILE.course = {last = {inuse = 97 << 20}}
    assert.matches("Alive at 2%.72 ms, the last search for holders: 640 KiB %(at the end 97 " ..
                   "MiB were in use%), 100%% of it held by _G", text{held = held})
    held.at = nil
    assert.matches("Alive at the end: 640 KiB, 100%% of it", text{held = held})
    held[1].gone = true
    assert.matches("Not freed at the end: 640 KiB, 100%% of it garbage that _G held before%.",
                   text{held = held})
    PROFILE.course = nil
  end)

  it("warns that samples were lost", function()
    assert.matches("^Samples were lost: the samples in the file represent only 573 MiB of 2.5 GiB allocated",
                   text{lost = 573 << 20})
  end)
end)
