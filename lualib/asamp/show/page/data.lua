-- SPDX-License-Identifier: MIT
-- Converts a profile, as profiler.reader returns it, to the data that the page of `asamp view` embeds:
-- columns of numbers, and each name once. Call tree nodes are numbered from 1; 0 is the root. Time slices
-- ("bins"), kinds of samples, functions and files are numbered from 0. Times are in us since the start of the
-- profile. The size of the data is limited:
--
--   VD1  The page has at most options.nodes call tree nodes, those with the largest totals. Other nodes are
--        merged into one node of the function [smaller callees] below their nearest kept caller. So all
--        totals stay the same.
--   VD2  The page has at most ROWS rows of sums, each of a time slice, node and kind of sample. The time
--        slices are made longer until the rows fit.
--   VD3  The page has at most POINTS collections. If there are more, neighbouring ones are merged into one
--        with the largest of their values.
--   VD4  Data that are left out are listed in 'notes', or in the views of heldby.lua, lives.lua and
--        memory.lua.

local apart = require "asamp.show.page.apart"
local heldby = require "asamp.show.page.heldby"
local lives = require "asamp.show.page.lives"
local memory = require "asamp.show.page.memory"
local measures = require "asamp.sums.measures"
local notes = require "asamp.show.page.notes"
local peak = require "asamp.show.page.peak"
local pruned = require "asamp.sums.pruned"
local slices = require "asamp.sums.slices"
local verdict = require "asamp.show.page.verdict"

local M = {}

local ROWS, POINTS, MARKS = 400000, 3000, 1000

local HEAD = {
  "path", "command", "interpreter", "version", "own", "complete", "lines",
  "random", "fates", "period", "periods", "malloc", "timeperiod", "timeperiods", "wall", "timed",
  "started", "duration", "samples", "bytes", "allocated", "survived", "survivedbytes",
  "followed", "unfollowed", "later", "undecided", "undetailed", "timesamples", "minors", "majors", "message",
}

local function functions(profile)
  local out, files, at = {name = {}, file = {}, line = {}, native = {}}, {}, {}
  local function add(fn)
    local n = #out.name + 1
    if not at[fn.file] then
      files[#files + 1] = fn.file
      at[fn.file] = #files - 1
    end
    out.name[n], out.file[n], out.line[n] = fn.name, at[fn.file], fn.line
    out.native[n] = fn.native and 1 or 0
  end
  for _, fn in ipairs(profile.functions) do
    add(fn)
  end
  return out, files, add
end

-- Merges successive collections to at most POINTS groups of equal size. Returns two values: columns with an
-- element for each group; and the number of collections in a group. Columns:
--
--   - time: time of the group's last collection
--   - inuse, held, rss: largest value in the group
--   - minor, major: longest pause of a minor, or of a major, collection of the group; -1: it has none
local function collections(list)
  local out = {time = {}, inuse = {}, held = {}, rss = {}, minor = {},
               major = {}}
  local step = math.max(1, (#list + POINTS - 1) // POINTS)
  for first = 1, #list, step do
    local n = #out.time + 1
    for key in pairs(out) do
      out[key][n] = (key == "minor" or key == "major") and -1 or 0
    end
    for i = first, math.min(first + step - 1, #list) do
      local c = list[i]
      out.time[n] = c.time
      for _, key in ipairs{"inuse", "held", "rss"} do
        out[key][n] = math.max(out[key][n], c[key])
      end
      out.minor[n] = math.max(out.minor[n], c.minorpause or -1)
      out.major[n] = math.max(out.major[n], c.majorpause or -1)
    end
  end
  return out, step
end

local function marks(list)
  local out, step = {}, math.max(1, (#list + MARKS - 1) // MARKS)
  for i = 1, #list, step do
    out[#out + 1] = list[i]
  end
  return out
end

-- Appends to 'out' a mark of the timeline for each search for holders: a heap walk that finds the references
-- to live samples, and pauses the program.
local function walks(list, out)
  for _, walk in ipairs(list or {}) do
    out[#out + 1] = {time = walk.time, name = "search for holders",
                     value = ("the program paused %.1f ms"):format(walk.duration / 1000)}
  end
  return out
end

-- Returns the number of the time slice in which the page shows samples without a known time: the last of the
-- slices 'bins'. Returns -1 if there are no such samples. Truncated files have them if their format version
-- is below 7.
local function untimedof(profile, bins)
  return profile.undetailed > 0 and (profile.version or 0) < 7 and bins.n > 1 and bins.n - 1
         or -1
end

-- Removes columns of bytes that the page can compute itself: those whose values are always the number of
-- samples times the period.
--
--   - rows: columns (asamp.sums.slices); loses the columns that are removed
--   - period: bytes that a sample represents
--   - kinds: profile.kinds
local function drop(rows, period, kinds)
  for _, pair in ipairs{{"samples", "bytes"}, {"survived", "survivedbytes"},
                        {"alive", "alivebytes"}} do
    local n, of, same = rows[pair[1]], rows[pair[2]], true
    for i = 1, #n do
      same = same and (of[i] == n[i] * period or kinds[rows.kind[i] + 1].time)
    end
    if same then
      rows[pair[2]] = nil
    end
  end
  local undecided = 0
  for _, bytes in ipairs(rows.undecidedbytes) do
    undecided = undecided + bytes
  end
  rows.undecidedbytes = undecided > 0 and rows.undecidedbytes or nil
end

-- Converts floats without a fraction to integers, whose text is shorter.
local function shorten(list)
  for i, n in ipairs(list) do
    list[i] = math.tointeger(n) or n
  end
end

-- Returns two numbers about the time samples of a profile:
--
--   1. the sampled time, in units of profile.timeperiod
--   2. the accuracy of this time: the number of samples of equal weight that would have the same relative
--      error (measures.observations)
local function timeof(profile)
  local sites, time = profile.sites, {timesamples = 0, timesquares = 0}
  for i, kind in ipairs(sites.kind) do
    if profile.kinds[kind].time then
      time.timesamples = time.timesamples + (sites.time or sites.samples)[i]
      time.timesquares = time.timesquares +
        (sites.timesquares and sites.timesquares[i] or sites.samples[i])
    end
  end
  return math.tointeger(time.timesamples) or time.timesamples,
         math.floor(measures.observations(time) + 0.5)
end

-- Returns the sampled bytes of a type of block: "native" (memory from malloc) or "outside" (memory that
-- userdata own outside of the heap). Returns nil or false if native memory was not sampled.
local function bytesof(profile, name)
  local sites, bytes = profile.sites, 0
  for i, kind in ipairs(profile.malloc and sites.kind or {}) do
    if profile.kinds[kind].name == name then
      bytes = bytes + sites.bytes[i]
    end
  end
  return profile.malloc and bytes
end

--- Returns the data that the page of `asamp view` embeds. Options:
--
--   - nodes: largest number of call tree nodes (VD1 above)
--   - rows: largest number of rows, each of a time slice, node and kind (VD2 above); nil: ROWS
--   - peak: the profile read again, as of the time at which most bytes were in use (peak.lua); nil: unknown
function M.of(profile, options)
  local tree = pruned.of(profile, options.nodes)
  local fns, files, addfn = functions(profile)
  if tree.cut > 0 then
    addfn{name = notes.CUT, file = "-", line = 0, native = false}
  end
  local rows, bins = slices.of(profile, tree, options.rows or ROWS)
  drop(rows, profile.period, profile.kinds)
  shorten(rows.samples)
  local kinds = {}
  for i, kind in ipairs(profile.kinds) do
    kinds[i] = {name = kind.name, class = kind.class or "", time = kind.time,
                blocks = kind.blocks, objects = math.floor(kind.objects + 0.5)}
  end
  local head = {}
  head.time, head.observations = timeof(profile)
  for _, key in ipairs(HEAD) do
    head[key] = profile[key]
  end
  head.native, head.outside = bytesof(profile, "native"), bytesof(profile, "outside")
  local points, step = collections(profile.collections)
  local left = {}
  local trended, functiontrends = lives.trends(profile, left)
  local data = {
    head = head, functions = fns, files = files, kinds = kinds, nodes = tree.nodes,
    rows = rows, bins = bins, untimed = untimedof(profile, bins), collections = points,
    step = step, leaks = lives.leaks(profile), lifetimes = lives.lifetimes(profile),
    trends = trended, functiontrends = functiontrends, copies = lives.copies(profile, left),
    holders = heldby.of(profile), apart = apart.of(profile, left), native = lives.native(profile, left),
    memory = memory.of(profile),
    peak = options.peak and peak.of(profile, options.peak, tree, bins), verdict = verdict.of(profile),
    marks = walks(profile.walktimes, marks(profile.marks)), cut = tree.cut > 0 and #fns.name - 1 or -1,
  }
  data.notes = notes.of(profile, tree, options.nodes, data, left)
  return data
end

return M
