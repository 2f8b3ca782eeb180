-- SPDX-License-Identifier: MIT
-- A running process as text: its numbers, and the head of `asamp top`. Pure.

local units = require "asamp.show.units"

local M = {}

local function size(n)
  return units.short(math.floor(n + 0.5))
end

--- What it tells of itself, a line each.
function M.stats(s)
  local lines = {
    ("process %d"):format(s.pid),
    s.file and ("writes '%s' (%s)%s"):format(s.file, size(s.filebytes),
                                            s.recording == 1 and ", a recording" or "")
           or "writes nothing",
    s.full and ("the file takes no more: %s"):format(s.full) or nil,
  }
  local function add(text, ...)
    lines[#lines + 1] = text:format(...)
  end
  add("samples %s%s", s.alloc > 0 and ("one every %s allocated"):format(size(s.alloc)) or
      "no allocations", s.time > 0 and (", %d of time a second"):format(s.time) or "")
  add("%s samples, %s of time, of %s allocated; %s lost", units.count(s.samples),
      units.count(s.timesamples), size(s.allocated), units.count(s.lost))
  add("%s Lua states, %s were made", units.count(s.states), units.count(s.made))
  add("%s in use, %s held; %s resident", size(s.inuse), size(s.held), size(s.rss))
  add("%s minor and %s major collections, %s in all, the longest %s", units.count(s.minors),
      units.count(s.majors), units.shorttime(s.pauses / 1e9), units.shorttime(s.longest / 1e9))
  return lines
end

--- The same in two lines, with what has changed a second ('rates': asamp.sums.living's).
function M.head(s, rates)
  local r = rates or {allocated = 0, inuse = 0, gc = 0, collections = 0, samples = 0}
  return {
    ("%d  %s/s allocated  %s in use (%s%s/min)  %s held  %s resident"):format(s.pid,
      size(r.allocated), size(s.inuse), r.inuse < 0 and "-" or "+",
      size(math.abs(r.inuse) * 60), size(s.held), size(s.rss)),
    ("%s states  GC %.1f%% of time, %.0f/s, longest %s  %.0f samples/s, %s lost"):format(
      units.count(s.states), 100 * r.gc, r.collections, units.shorttime(s.longest / 1e9),
      r.samples, units.count(s.lost)),
  }
end

return M
