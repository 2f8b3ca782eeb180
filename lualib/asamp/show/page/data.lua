-- SPDX-License-Identifier: MIT
-- A profile (as profiler.reader returns it) in, what the page embeds out:
-- columns of numbers, names once. Pure. The size is bounded:
--   VD1  at most options.nodes nodes are kept, those with the largest totals;
--        what was cut hangs below its nearest kept caller as one node of the
--        function [smaller callees], so that every total stays what it was;
--   VD2  at most ROWS rows (bin, node, kind): time is divided more coarsely
--        until they fit;
--   VD3  at most POINTS collections: of neighbours the largest values stay;
--   VD4  what VD1 to VD3 and the limits of the reader (left) left out is told in
--        'notes'.
-- Node 0 is the root, bins and nodes count from 0 and 1, kinds, functions and
-- files from 0. Times are microseconds since the profile's start.

local lives = require "asamp.show.page.lives"
local totals = require "asamp.sums.totals"
local units = require "asamp.show.units"

local M = {}

local ROWS, POINTS, MARKS = 400000, 3000, 1000
local CUT = "[smaller callees]"

local HEAD = {
  "path", "command", "interpreter", "version", "own", "complete", "lines",
  "random", "fates", "period", "periods", "timeperiod", "timeperiods", "wall", "timed",
  "started", "duration", "samples", "bytes", "allocated", "survived", "survivedbytes",
  "followed", "unfollowed", "later", "undecided", "undetailed", "timesamples", "minors", "majors", "message",
}

-- ------------------------------------------------------------------ rows --

-- What rows add up. What is alive at the end is what survived without the
-- later deaths; 0 when the file tells none.
-- Of time, samples are periods of the length of timeperiod.
local COUNTS = {"samples", "bytes", "survived", "survivedbytes", "undecidedbytes",
                "alive", "alivebytes"}

-- The rows of the profile's bins, or of one bin that is the whole time.
local function rowsof(profile)
  local us = math.max(1, math.ceil(profile.duration * 1e6))
  local from, bins = profile.sites, {start = 0, width = us, n = 1}
  if profile.bins and profile.bins.n > 1 then
    from, bins = profile.bins, profile.bins
  end
  local rows = {bin = from.bin or {}, samples = {}, alive = {}, alivebytes = {}}
  for _, key in ipairs{"node", "kind", "bytes", "survived", "survivedbytes",
                       "undecidedbytes"} do
    rows[key] = from[key]
  end
  local deaths = totals.tellsdeaths(profile)
  for i = 1, #rows.node do
    rows.bin[i] = rows.bin[i] or 0
    rows.samples[i] = from.time and profile.kinds[from.kind[i]].time and from.time[i]
                      or from.samples[i]
    rows.alive[i] = deaths and from.survived[i] - from.later[i] or 0
    rows.alivebytes[i] = deaths and from.survivedbytes[i] - from.laterbytes[i] or 0
  end
  return rows, bins
end

-- Sums rows whose bin, node and kind are equal, in the order of their first.
-- 'bin' and 'node' map old numbers to new.
local function sum(rows, binof, nodeof, kinds, nodes)
  local out, at = {bin = {}, node = {}, kind = {}}, {}
  for _, key in ipairs(COUNTS) do
    out[key] = {}
  end
  local n = 0
  for i = 1, #rows.node do
    local bin, node, kind = binof(rows.bin[i]), nodeof(rows.node[i]), rows.kind[i] - 1
    local key = (bin * (nodes + 1) + node) * kinds + kind
    local to = at[key]
    if not to then
      n = n + 1
      to, at[key] = n, n
      out.bin[n], out.node[n], out.kind[n] = bin, node, kind
      for _, count in ipairs(COUNTS) do
        out[count][n] = 0
      end
    end
    for _, count in ipairs(COUNTS) do
      out[count][to] = out[count][to] + rows[count][i]
    end
  end
  return out, n
end

-- VD2: neighbouring bins become one until the rows fit.
local function fit(rows, bins, nodeof, kinds, nodes, limit)
  local step = 1
  while true do
    local out, n = sum(rows, function(b) return b // step end, nodeof, kinds, nodes)
    if n <= limit or step >= bins.n then
      return out, {start = bins.start, width = bins.width * step,
                   n = (bins.n + step - 1) // step}
    end
    step = step * 2
  end
end

-- Bytes of allocations are samples times the period as a rule: then the
-- columns need not be written.
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

-- Numbers without a fraction as integers, which are shorter.
local function shorten(list)
  for i, n in ipairs(list) do
    list[i] = math.tointeger(n) or n
  end
end

-- ------------------------------------------------------------------ tree --

-- For each node: its share of the allocation samples and of the time samples
-- together, with all that was called from it.
local function weights(profile)
  local parent, sites, kinds = profile.nodes.parent, profile.sites, profile.kinds
  local weight = {}
  for i = 1, #parent do
    weight[i] = 0.0
  end
  local allocs = 1 / math.max(1, profile.samples)
  local times = 1 / math.max(1, profile.timesamples)
  for i, node in ipairs(sites.node) do
    if node > 0 then
      weight[node] = weight[node] + sites.samples[i] *
                     (kinds[sites.kind[i]].time and times or allocs)
    end
  end
  local own = table.move(weight, 1, #weight, 1, {})
  for i = #parent, 1, -1 do
    if parent[i] > 0 then
      weight[parent[i]] = weight[parent[i]] + weight[i]
    end
  end
  return weight, own
end

-- VD1: the set of nodes that stay, or nil when all do. A caller's total is
-- not smaller than a callee's and its number is lower, so that callers stay
-- where callees do.
local function largest(weight, limit)
  local n = #weight
  if n <= limit then
    return nil
  end
  local order, keep = {}, {}
  for i = 1, n do
    order[i] = i
  end
  table.sort(order, function(a, b)
    if weight[a] ~= weight[b] then
      return weight[a] > weight[b]
    end
    return a < b
  end)
  for i = 1, limit do
    keep[order[i]] = true
  end
  return keep
end

-- Columns of the nodes that stay, the map from old numbers to new, and how
-- many were cut.
local function tree(profile, keep, cutfn)
  local from, to = profile.nodes, {parent = {}, fn = {}, line = {}}
  local map, cutof, n, cut = {[0] = 0}, {}, 0, 0
  local function add(parent, fn, line)
    n = n + 1
    to.parent[n], to.fn[n], to.line[n] = parent, fn, line
    return n
  end
  for i = 1, #from.parent do
    local parent = map[from.parent[i]]
    if not keep or keep[i] then
      map[i] = add(parent, from.fn[i] - 1, from.line[i])
    else
      cut = cut + 1
      local below = keep[from.parent[i]] or from.parent[i] == 0
      if below and not cutof[parent] then
        cutof[parent] = add(parent, cutfn, 0)
      end
      map[i] = below and cutof[parent] or parent
    end
  end
  return to, map, cut
end

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

-- -------------------------------------------------------------- timeline --

-- VD3: collections as columns; of a group of neighbours the largest of each
-- value stays, and the time of the last. Pauses are -1 where there is none.
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

-- Of more than MARKS some, evenly.
local function marks(list)
  local out, step = {}, math.max(1, (#list + MARKS - 1) // MARKS)
  for i = 1, #list, step do
    out[#out + 1] = list[i]
  end
  return out
end

-- ----------------------------------------------------------------- notes --

local function share(part)
  return part < 0.0005 and "less than 0.1%" or units.percent(part, 1)
end

local function notes(profile, bins, untimed, cut, cutweight, limit, step, shown)
  local out = {}
  local function note(text, ...)
    out[#out + 1] = text:format(...)
  end
  if profile.message then
    note("The file is not whole: %s. The page shows what could be read.", profile.message)
  end
  if profile.undetailed > 0 then
    note("%s came without size and fate: the file is cut.%s",
         units.plural(profile.undetailed, "sample"), untimed and
         " They tell no time either and stand in the last slice of the timeline, " ..
         "whose bar is cut off." or "")
  end
  if (profile.lost or 0) > 0 then
    note("%s more were lost, of allocation or of time, and are not in the page.",
         units.plural(profile.lost, "sample"))
  end
  if profile.undecided > 0 and profile.fates then
    note("%s had no collection before the end; they count as not survived, and in no share of what " ..
         "survived.",
         units.plural(profile.undecided, "sample"))
  end
  if totals.tellsdeaths(profile) and profile.unfollowed > 0 then
    note("Of %s that survived it is not known when they died; they count as alive.",
         units.plural(profile.unfollowed, "sample"))
  end
  if profile.samples > 0 and profile.bytes == 0 then
    note("The file does not tell how many bytes a sample stands for.")
  end
  if profile.timed == false and profile.samples + profile.timesamples > 0 then
    note("The file tells no times: on the timeline samples are one period apart.")
  end
  if profile.bins and profile.bins.n > 1 and bins.n < profile.bins.n then
    note("The timeline has %d slices, so that the page stays small.", bins.n)
  end
  if cut > 0 then
    note("The call tree has its %s largest nodes; %s smaller ones, %s of all samples, " ..
         "are shown as %s.", units.count(limit), units.count(cut), share(cutweight), CUT)
  end
  if step > 1 then
    note("The timeline shows the largest values of every %s collections.",
         units.count(step * (profile.collections[1].n or 1)))
  end
  if #profile.marks > MARKS then
    note("The timeline shows %s marks, evenly among all.", units.count(#shown))
  end
  for _, left in ipairs(profile.left) do
    note("Limits: %s.", left.text)
  end
  return out
end

--- Did the slices of time keep every stack? The reader counts what is beyond
-- its limits at node 0.
function M.whole(profile)
  local n = 0
  for i, node in ipairs(profile.sites.node) do
    n = n + (node == 0 and profile.sites.samples[i] or 0)
  end
  for i, node in ipairs(profile.bins.node) do
    n = n - (node == 0 and profile.bins.samples[i] or 0)
  end
  return n >= 0
end

-- The samples of time in periods of the length of timeperiod, and how many
-- independent observations they are.
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
         math.floor(totals.observations(time) + 0.5)
end

-- The slice that samples of a cut file are in which tell no time, nil: none is.
-- Stacks of version 7 have times of their own.
local function untimedof(profile, bins)
  return profile.undetailed > 0 and (profile.version or 0) < 7 and bins.n > 1 and bins.n - 1
         or nil
end

--- What the page embeds. 'options': nodes (VD1), rows (VD2, optional).
function M.of(profile, options)
  local weight, own = weights(profile)
  local keep = largest(weight, options.nodes)
  local fns, files, addfn = functions(profile)
  if keep then
    addfn{name = CUT, file = "-", line = 0, native = false}
  end
  local nodes, map, cut = tree(profile, keep, #fns.name - 1)
  local cutweight = 0
  for i = 1, keep and #own or 0 do
    cutweight = cutweight + (keep[i] and 0 or own[i])
  end
  local both = (profile.samples > 0 and 1 or 0) + (profile.timesamples > 0 and 1 or 0)
  local rows, bins = rowsof(profile)
  rows, bins = fit(rows, bins, function(node) return map[node] end, #profile.kinds,
                   #nodes.parent, options.rows or ROWS)
  drop(rows, profile.period, profile.kinds)
  shorten(rows.samples)
  local untimed = untimedof(profile, bins)
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
  local points, step = collections(profile.collections)
  local shown = marks(profile.marks)
  return {
    head = head, functions = fns, files = files, kinds = kinds, nodes = nodes,
    rows = rows, bins = bins, untimed = untimed or -1, collections = points, step = step,
    leaks = lives.leaks(profile), lifetimes = lives.lifetimes(profile),
    marks = shown, cut = keep and #fns.name - 1 or -1,
    notes = notes(profile, bins, untimed, cut, cutweight / math.max(1, both), options.nodes, step, shown),
  }
end

return M
