-- SPDX-License-Identifier: MIT
-- Merges several profiles into one, of many processes or many runs.
--
-- Counts are added. Functions with equal names in files with equal names are merged, and so are calls at the
-- same line below the same callers. Data with a time in one run (collections, marks, time slices, states,
-- holders) are left out.

local M = {}

-- Columns of profile.sites:
--
--   - COLUMNS: list of the columns that every profile has
--   - SQUARES: map from columns with variances, which only some profiles have, to the columns whose variances
--     they are
local COLUMNS = {"samples", "bytes", "survived", "survivedbytes", "later", "laterbytes",
                 "undecided", "undecidedbytes"}
local SQUARES = {bytesquares = "bytes", survivedsquares = "survivedbytes",
                 latersquares = "laterbytes"}

-- Creates a table of sums in columns. A row has two keys, and sums of amounts. Returns two values:
--
--   1. the columns, by name
--   2. a function(a, b, amounts) that adds 'amounts', a map from columns to numbers, to the row with the keys
--      a and b
--
-- names: names of the columns of sums
-- first, second: names of the columns of keys
local function rows(names, first, second)
  local all, find = {[first] = {}, [second] = {}}, {}
  for _, name in ipairs(names) do
    all[name] = {}
  end
  return all, function(a, b, amounts)
    local key = a .. " " .. b
    local i = find[key]
    if not i then
      i = #all[first] + 1
      find[key] = i
      all[first][i], all[second][i] = a, b
      for _, name in ipairs(names) do
        all[name][i] = 0
      end
    end
    for name, n in pairs(amounts) do
      all[name][i] = all[name][i] + n
    end
  end
end

-- Returns a function that finds an item in a list: it returns the index of the item that is equal to its
-- argument. If there is none, it first appends a copy of the argument.
--
-- key: function that maps an item to a key; two items are equal if their keys are
-- copy: function that copies an item
local function interned(list, key, copy)
  local places = {}
  return function(item)
    local k = key(item)
    if not places[k] then
      list[#list + 1] = copy(item)
      places[k] = #list
    end
    return places[k]
  end
end

-- Adds the call tree of profile p to the merged tree. Returns a map from nodes in p to merged nodes.
--
-- functionof: function (interned) that maps a function to its index in the merged profile
-- nodeof: function (interned) that maps {merged parent, index of the function, line} to a merged node
local function addtree(p, functionof, nodeof)
  local at = {[0] = 0}
  for i, up in ipairs(p.nodes.parent) do
    at[i] = nodeof{at[up], functionof(p.functions[p.nodes.fn[i]]), p.nodes.line[i]}
  end
  return at
end

-- Returns the amounts that the samples of one site add to the columns of a merged profile.
--
-- p: one of the merged profiles
-- i: number of the site in p.sites
-- time: true: they are time samples
-- varied: true: the merged profile has columns with variances (SQUARES)
-- timeperiod: seconds of one period of time samples in the merged profile
local function amounts(p, i, time, varied, timeperiod)
  local sites, sum = p.sites, {}
  for _, name in ipairs(COLUMNS) do
    sum[name] = sites[name] and sites[name][i] or 0
  end
  if time then
    local length = timeperiod > 0 and (p.timeperiod or 0) / timeperiod or 1
    local n = sites.time and sites.time[i] or sum.samples
    sum.time = n * length
    sum.timesquares = (sites.timesquares and sites.timesquares[i] or n) * length * length
    return sum
  end
  sum.objects = sites.objects and sites.objects[i] or 0
  for name, of in pairs(varied and SQUARES or {}) do
    sum[name] = sites[name] and sites[name][i] or sum[of] * (p.period or 0)
  end
  return sum
end

-- The ways in which fields of a merged profile are computed:
--
--   - SUMS: the sum of the field over all profiles.
--   - EACH: true if the field is true in all profiles.
--   - ANY: true if the field is true in at least one profile.
local SUMS = {"samples", "timesamples", "survived", "survivedbytes", "later", "laterbytes",
              "bytes", "undecided", "undecidedbytes", "undetailed", "unfollowed", "lost", "minors",
              "majors", "duration", "walks", "walked"}
local EACH = {"own", "complete", "random"}
local ANY = {"fates", "wall", "cpu", "uneven"}

-- Kinds of data that a merged profile lacks: {name, function that returns true if a profile has such data}
-- each.
local ALONE = {
  {"marks", function(p) return #(p.marknames or {}) > 0 end},
  {"data of each collection", function(p) return #(p.collections or {}) > 0 end},
  {"likely leaks and trends", function(p) return (p.followed or 0) > 0 end},
  {"holders of live objects", function(p) return p.holders ~= nil end},
  {"resident memory", function(p) return p.pictures ~= nil end},
  {"Lua states and OS threads", function(p) return p.states ~= nil end},
}

local function alone(profiles)
  local list = {}
  for _, what in ipairs(ALONE) do
    for _, p in ipairs(profiles) do
      if what[2](p) then
        list[#list + 1] = what[1]
        break
      end
    end
  end
  return list
end

-- Adds the field 'ring' of a profile, the numbers of a flight recorder, to 'all', the result for earlier
-- profiles (nil: there is none). Returns the new result: 'samples' and 'bytes' are sums, 'seconds' is the
-- shortest time, 'wanted' the longest.
local function addring(all, ring)
  if not ring then
    return all
  end
  all = all or {samples = 0, bytes = 0, seconds = math.huge}
  return {samples = all.samples + ring.samples, bytes = all.bytes + ring.bytes,
          seconds = math.min(all.seconds, ring.seconds),
          wanted = ring.wanted and math.max(all.wanted or 0, ring.wanted) or all.wanted}
end

-- Returns the totals of a profile without labels, in the form of a label set of profiler.reader.
local function unlabelled(p)
  local set = {labels = {}, samples = p.samples, bytes = p.bytes, survivedbytes = p.survivedbytes,
               laterbytes = p.laterbytes, undecidedbytes = p.undecidedbytes,
               exact = p.allocated or p.samples == 0 and 0 or nil,
               timesamples = p.timesamples, minors = p.minors, majors = p.majors,
               pause = p.course and p.course.pauses.total or 0}
  local periods, sites = 0, p.sites
  for i, kind in ipairs(sites.kind) do
    periods = periods + (p.kinds[kind].time and (sites.time or sites.samples)[i] or 0)
  end
  set.ns = math.floor(periods * (p.timeperiod or 0) * 1e9 + 0.5)
  return set
end

-- Returns a copy of the totals of a label set without the field 'exact'.
local function estimated(set)
  local copy = {}
  for key, value in pairs(set) do
    copy[key] = key ~= "exact" and value or nil
  end
  return copy
end

-- Returns the label sets of all profiles in one list, or nil if none has labels. The field 'exact' is only
-- kept if all sets have it.
local function labels(profiles)
  local all, found, exact = {}, false, true
  for _, p in ipairs(profiles) do
    found = found or p.labels ~= nil
    for _, set in ipairs(p.labels or {unlabelled(p)}) do
      all[#all + 1], exact = set, exact and set.exact
    end
  end
  for i = 1, not exact and #all or 0 do
    all[i] = estimated(all[i])
  end
  return found and all or nil
end

-- Returns the profile whose sampling period the merged profile has: the first profile with allocation samples
-- or, if there is none, the first profile.
local function sampled(profiles)
  for _, p in ipairs(profiles) do
    if p.samples > 0 then
      return p
    end
  end
  return profiles[1]
end

local function addsampled(all, p, period)
  all.allocated = all.allocated and p.allocated and all.allocated + p.allocated
  all.periods = all.periods + (p.periods or 0) + (p.period ~= period and 1 or 0)
end

-- Returns the period between samples of native memory, in bytes, if it is the same in all profiles that have
-- such samples; else nil.
local function malloc(profiles)
  local bytes
  for _, p in ipairs(profiles) do
    if bytes and p.malloc and p.malloc ~= bytes then
      return nil
    end
    bytes = bytes or p.malloc
  end
  return bytes
end

local function head(profiles)
  local all = {path = ("%d profile%s"):format(#profiles, #profiles == 1 and "" or "s"),
               profiles = #profiles, left = {},
               collections = {}, marks = {}, marknames = {}, allocated = 0, lines = true,
               followed = math.huge, periods = 0, timeperiods = 0, labels = labels(profiles),
               malloc = malloc(profiles)}
  local one, period = profiles[1], sampled(profiles).period
  for _, key in ipairs{"command", "version", "interpreter", "timeperiod", "started"} do
    all[key] = one[key]
  end
  all.period = period
  for _, key in ipairs(EACH) do
    all[key] = true
  end
  for _, key in ipairs(ANY) do
    all[key] = false
  end
  for _, p in ipairs(profiles) do
    for _, key in ipairs(SUMS) do
      all[key] = (all[key] or 0) + (p[key] or 0)
    end
    for _, key in ipairs(EACH) do
      all[key] = all[key] and p[key]
    end
    for _, key in ipairs(ANY) do
      all[key] = all[key] or p[key]
    end
    if p.samples > 0 then
      addsampled(all, p, period)
    else
      all.allocated = all.allocated and all.allocated + (p.allocated or 0)
    end
    if p.samples > 0 or (p.followed or 0) > 0 then
      all.followed = math.min(all.followed, p.followed or 0)
    end
    all.lines = all.lines and (p.lines or p.samples + p.timesamples == 0)
    all.command = all.command == p.command and p.command or nil
    all.timeperiod = all.timeperiod or p.timeperiod
    all.longestwalk = math.max(all.longestwalk or 0, p.longestwalk or 0)
    all.ring = addring(all.ring, p.ring)
    all.timeperiods = math.max(all.timeperiods, p.timeperiods or 0)
    all.started = math.min(all.started or math.huge, p.started or math.huge)
    for _, left in ipairs(p.left or {}) do
      all.left[#all.left + 1] = {what = left.what, limit = left.limit, count = left.count,
                                 text = ("'%s': %s"):format(p.path, left.text)}
    end
  end
  all.started = all.started < math.huge and all.started or nil
  all.followed = all.followed < math.huge and all.followed or one.followed
  all.allocated = all.allocated ~= 0 and all.allocated or nil
  all.alone = alone(profiles)
  return all
end

--- Merges profiles of profiler.reader into one profile for asamp.sums.totals, calltree, focus and lifetimes.
-- The result has two additional fields: 'profiles' is the number of the merged profiles, and 'alone' is a
-- list of texts about kinds of data that were left out.
function M.of(profiles)
  local all = head(profiles)
  local nodes, functions, kinds = {parent = {}, fn = {}, line = {}}, {}, {}
  local functionof = interned(functions, function(f)
    return ("%s\0%s\0%s\0%s"):format(f.name, f.file, f.line, f.native)
  end, function(f) return f end)
  local kindof = interned(kinds, function(k)
    return ("%s\0%s\0%s"):format(k.name, k.class or "", k.time)
  end, function(k)
    return {name = k.name, class = k.class, time = k.time, blocks = 0, objects = 0, outside = 0}
  end)
  local function words(list)
    return table.concat(list, " ")
  end
  local nodeof = interned(nodes.parent, words, function(node)
    nodes.fn[#nodes.fn + 1], nodes.line[#nodes.line + 1] = node[2], node[3]
    return node[1]
  end)
  local varied = all.periods > 0 or all.uneven
  local names = table.move(COLUMNS, 1, #COLUMNS, 1, {})
  table.move({"objects", "time", "timesquares"}, 1, 3, #names + 1, names)
  for name in pairs(varied and SQUARES or {}) do
    names[#names + 1] = name
  end
  local sites, add = rows(names, "node", "kind")
  local lives, addlife = rows({"samples", "bytes"}, "node", "digits")
  local copies, addcopy = rows({"samples", "bytes"}, "node", "sort")
  for _, p in ipairs(profiles) do
    local at, kind = addtree(p, functionof, nodeof), {}
    for k, of in ipairs(p.kinds) do
      kind[k] = kindof(of)
      for _, key in ipairs{"blocks", "objects", "outside"} do
        kinds[kind[k]][key] = kinds[kind[k]][key] + of[key]
      end
    end
    for i, node in ipairs(p.sites.node) do
      local k = kind[p.sites.kind[i]]
      add(at[node], k, amounts(p, i, kinds[k].time, varied, all.timeperiod or 0))
    end
    for i, node in ipairs(p.lifetimes and p.lifetimes.node or {}) do
      addlife(at[node], p.lifetimes.digits[i],
              {samples = p.lifetimes.samples[i], bytes = p.lifetimes.bytes[i]})
    end
    for i, node in ipairs(p.copies and p.copies.node or {}) do
      addcopy(at[node], p.copies.sort[i],
              {samples = p.copies.samples[i], bytes = p.copies.bytes[i]})
    end
  end
  for _, p in ipairs(profiles) do
    all.copies = all.copies or p.copies and copies
  end
  all.nodes, all.functions, all.kinds = nodes, functions, kinds
  all.sites, all.lifetimes = sites, lives
  return all
end

return M
