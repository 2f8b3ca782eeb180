-- SPDX-License-Identifier: MIT
-- Renders the results of asamp.sums.advice as text.

local labels = require "asamp.show.labels"
local layout = require "asamp.show.layout"
local order = require "asamp.sums.order"
local tables = require "asamp.show.tables"
local sums = require "asamp.sums.advice"
local units = require "asamp.show.units"

local M = {}

local function size(n)
  return units.short(math.floor(n + 0.5))
end

-- Width in columns below which tables omit the standard errors of their numbers.
local ERRORS = 50

local function within(style, unit, n, deviation)
  return style.width < ERRORS and unit(n) or ("%s ±%s"):format(unit(n), unit(deviation))
end

local function put(lines, more)
  table.move(more, 1, #more, #lines + 1, lines)
end

local BEYOND = "extrapolated"

-- Returns the table of predictions for other nursery sizes, as lines of text. A size that the profiled run
-- never had is marked with BEYOND, or in a narrow table with a star and a note below the table.
local function sizes(style, advice)
  local rows, starred = advice.sizes, false
  local list = tables.whole(style, "Other nurseries", rows, {
    {"nursery", function(r) return size(r.nursery) end},
    {"minor", spare = 2, function(r) return units.count(math.floor(r.minors + 0.5)) end},
    {"tenured", function(r) return within(style, size, r.tenured, r.tenurederror) end},
    {"collecting", function(r) return within(style, units.shorttime, r.time, r.timeerror) end},
    {"reserved", spare = 1, function(r) return size(r.held) end},
  }, "", function(i, n)
    local star = rows[i].beyond and n < #BEYOND
    starred = starred or star
    return star and "*" or rows[i].beyond and BEYOND or ""
  end, 8)
  list[#list + 1] = starred and tables.remark(style, 2, "* " .. BEYOND) or nil
  return list
end

local function lines(style, title, rows, bytes)
  if #rows == 0 then
    return {}
  end
  return tables.titled(style, title, rows, {
    {"bytes", function(r) return size(r[bytes]) end},
    {"survive", function(r) return ("%.1f%% ±%.1f"):format(100 * r.share, 100 * r.error) end},
    {"alive", spare = 1, function(r) return size(r.alivebytes) end},
  }, "line", function(i, m) return labels.ofline(rows[i], m, style.paint) end)
end

local function classes(style, rows)
  if #rows == 0 then
    return {}
  end
  return tables.titled(style, "Lifetimes by class", rows, {
    {"bytes", function(r) return size(r.bytes) end},
    {"mean", function(r) return units.shorttime(r.mean / 1e6) end},
    {"median", spare = 2, function(r)
      return r.median and units.shorttime(r.median / 1e6) or "alive"
    end},
    {"of the run", spare = 1, function(r) return ("%.1f%%"):format(100 * r.share) end},
    {"", gap = 1, function(r) return r.sort end},
  }, "class", function(i, m) return layout.cutmiddle(layout.clean(rows[i].name), m) end)
end

local function lifelines(style, rows)
  if #rows == 0 then
    return {}
  end
  local function share(of)
    return function(r) return units.percent(r[of], r.samples) end
  end
  return tables.titled(style, "Lifetimes by line", rows, {
    {"bytes", function(r) return size(r.bytes) end},
    {"mean", function(r) return units.shorttime(r.mean / 1e6) end},
    {"of the run", spare = 1, function(r) return ("%.1f%%"):format(100 * r.share) end},
    {"", gap = 1, function(r) return r.sort end},
    {"young", spare = 2, share "young"},
    {"alive", spare = 3, share "alive"},
  }, "line", function(i, m) return labels.ofline(rows[i], m, style.paint) end)
end

-- The kinds of objects that a collection scans during a pause. Elements of VISITED: {name of the field of a
-- pause with the number of objects (asamp.sums.advice), text for the kind}. The text about a pause omits a
-- kind if its number of objects is below SEEN times the largest number.
local SEEN = 0.01
local VISITED = {{"remembered", "written to"}, {"stacks", "of stacks"},
                {"weak", "weak"}, {"listed", "listed"}}

-- Returns text about the number of objects of each kind that a pause scanned, the largest number first.
local function visited(row)
  local list, words = {}, {}
  for i, l in ipairs(VISITED) do
    if row[l[1]] > 0 then list[#list + 1] = {n = row[l[1]], i = i, word = l[2]} end
  end
  table.sort(list, order.by("-n", "i"))
  for i, l in ipairs(list) do
    if l.n >= SEEN * list[1].n then words[i] = units.count(l.n) .. " " .. l.word end
  end
  return #words > 0 and ": " .. table.concat(words, ", ") or ""
end

local function sortof(row)
  return row.major and "major" or row.slice and "slice of a major collection" or "minor"
end

local function pauses(style, rows)
  if #rows == 0 then
    return {}
  end
  return tables.whole(style, "Longest pauses", rows, {
    {"pause", function(r) return units.shorttime(r.us / 1e6) end},
    {"tenured", function(r) return size(r.tenured) end},
    {"in use", spare = 1, function(r) return size(r.inuse) end},
  }, "collection, and numbers of objects that it scanned", function(i, n)
    return layout.cutend(("%s, after %s%s"):format(sortof(rows[i]), units.seconds(rows[i].time),
                                                   visited(rows[i])), n)
  end)
end

local function off(predicted, measured)
  local part = 100 * (predicted / measured - 1)
  return ("the prediction is %.1f%% too %s"):format(math.abs(part), part < 0 and "low" or "high")
end

-- Returns a sentence about the time in collections: in the profile, in runs with the same nursery size, and
-- in runs with the new size. 'v': result of asamp.sums.advice.verified, which made these runs.
local function clock(v)
  local function times(t)
    return v.runs == 1 and units.shorttime(t.time) or
           ("%s to %s"):format(units.shorttime(t.time), units.shorttime(t.most))
  end
  return ("time in collections: %s in the profile; %s in a run with the same nursery size; " ..
    "%s with the new size%s. The predicted time is multiplied by the second time divided by the first, " ..
    "because the machine's speed may have changed"):format(
    units.shorttime(v.recorded), times(v.before), times(v.measured),
    v.runs == 1 and "" or "; the shortest run counts")
end

--- Returns the text of `asamp advise`. 'style': settings of the report (tables.lua). Fields of 'found':
--
--   - advice: the predictions (asamp.sums.advice.of)
--   - best: the prediction for the nursery size to recommend (asamp.sums.advice.best); nil: none
--   - verified: result of asamp.sums.advice.verified; nil: without --verify
function M.render(found, style)
  local advice, now = found.advice, found.advice.now
  local out = {
    layout.wrap(("%s allocated; %s minor collections, one every %s; %s became old (tenured), " ..
      "%s of the allocated bytes; collections took %s, %s of that in major ones; " ..
      "the heap reserved at most %s"):format(
      units.bytes(now.allocated), units.count(now.minors), units.bytes(now.nursery),
      units.bytes(now.tenured), units.percent(now.tenured, now.allocated),
      units.seconds(now.time), units.seconds(now.major), units.bytes(now.held)), "",
      style.width),
  }
  put(out, sizes(style, advice))
  out[#out + 1] = ""
  local best = found.best
  out[#out + 1] = layout.wrap(now.large and
    ("No nursery size is recommended: large blocks, such as long strings and big tables, decide when " ..
     "a collection runs. On average these blocks exceed the nursery by %s."):format(size(now.over)) or
    best and
    ("LUA_GC=%s would save %s ±%s of %s in collections, and reserve about %s %s memory."):format(
      sums.setting(best.nursery),
      units.seconds(now.time - best.time), units.seconds(best.timeerror),
      units.seconds(now.time), units.bytes(math.floor(math.abs(best.held - now.held))),
      best.held >= now.held and "more" or "less")
    or "No other size that the profile covers would save a tenth of the time in collections. " ..
    "To predict larger sizes, make a profile with LUA_GC=nursery=512K-4M.", "", style.width)
  put(out, lines(style, "Nearly all survive: create these objects once, or reuse them",
                 advice.live, "survivedbytes"))
  put(out, lines(style, "Nearly all die young", advice.die, "bytes"))
  put(out, classes(style, advice.classes))
  put(out, lifelines(style, advice.lines))
  put(out, pauses(style, advice.pauses))
  local v = found.verified
  if v then
    out[#out + 1] = ""
    out[#out + 1] = tables.title(style, ("%s with LUA_GC=%s (a minor collection every %s)"):format(
      v.runs == 1 and "A run" or v.runs .. " runs", v.setting, units.bytes(v.measured.nursery)))
    local function say(what, text)
      out[#out + 1] = "  " .. what .. layout.wrap(text, (" "):rep(14), style.width):sub(#what + 3)
    end
    local function row(what, unit, key, least)
      say(what, ("%s predicted, %s measured: %s"):format(unit(v.predicted[key]),
        unit(v.measured[key]), off(v.predicted[key], math.max(least, v.measured[key]))))
    end
    row("tenured", size, "tenured", 1)
    row("collecting", units.shorttime, "time", 1e-6)
    say("", clock(v))
    if not v.alike then
      say("", ("The profile is probably of another script, or of a different run. " ..
        "With the profile's nursery size, the script had %s tenured in %s minor collections; " ..
        "the profile has %s in %s minor collections."):format(
        size(v.before.tenured), units.count(v.before.minors), size(now.tenured), units.count(now.minors)))
    end
  end
  return table.concat(out, "\n") .. "\n"
end

return M
