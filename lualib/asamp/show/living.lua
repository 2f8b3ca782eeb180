-- SPDX-License-Identifier: MIT
-- Renders the statistics of a running process as text, and as the head of `asamp top`.

local layout = require "asamp.show.layout"
local units = require "asamp.show.units"

local M = {}

local function size(n)
  return units.short(math.floor(n + 0.5))
end

function M.stats(s)
  local lines = {
    ("process %d"):format(s.pid),
    s.ring and ("keeps samples in a flight recorder, whose file is '%s'"):format(s.file) or
    s.file and ("writes '%s' (%s)%s"):format(s.file, size(s.filebytes),
                                            s.recording == 1 and ", a recording" or "")
           or "writes no profile",
  }
  local function add(text, ...)
    lines[#lines + 1] = text:format(...)
  end
  if s.gone then
    add "the profile's file was removed or renamed"
  end
  if s.full then
    add("the profile's file cannot be written: %s", s.full)
  end
  add("takes %s%s", s.alloc > 0 and ("one sample every %s allocated"):format(size(s.alloc)) or
      "no allocation samples", s.time > 0 and (", %s a second"):format(units.plural(s.time, "time sample"))
      or "")
  add("%s for %s allocated while sampling was on, %s; %s lost",
      units.plural(s.samples, "allocation sample"), size(s.allocated),
      units.plural(s.timesamples, "time sample"), units.plural(s.lost, "sample"))
  if (s.unfollowed or 0) > 0 then
    add("too many samples survived: the death of %s is not recorded; use a larger alloc=",
        units.plural(s.unfollowed, "sample"))
  end
  if (s.untimed or 0) > 0 then
    add("time is not sampled on %s: %s", units.plural(s.untimed, "thread"),
        layout.clean(s.untimedwhy or "no reason is known"))
  end
  add("%s at present; %s so far in the profile", units.plural(s.states, "Lua state"), units.count(s.made))
  add("Lua heaps: %s in use, %s reserved; process: %s resident", size(s.inuse), size(s.held),
      units.resident(s.rss, size))
  add("%s minor and %s major collections; pauses: %s in all, the longest %s", units.count(s.minors),
      units.count(s.majors), units.shorttime(s.pauses / 1e9), units.shorttime(s.longest / 1e9))
  return lines
end

-- Joins parts of text, in order, to as few lines of at most 'width' columns as possible. Returns the list of
-- lines.
local function columns(parts, width)
  local lines = {}
  for _, part in ipairs(parts) do
    local last = lines[#lines]
    if last and layout.width(last) + 2 + layout.width(part) <= width then
      lines[#lines] = last .. "  " .. part
    else
      lines[#lines + 1] = last and layout.wrap(part, "  ", width) or part
    end
  end
  return lines
end

--- Returns the statistics of a process in two or more lines, according to the width. 'rates': changes per
-- second (asamp.sums.living.rates); nil: not known yet.
function M.head(s, rates, width)
  local r = rates or {}
  local function rate(text, ...)
    return rates and text:format(...) or ""
  end
  local memory = {tostring(s.pid)}
  memory[2] = s.alloc == 0 and "allocations not sampled" or
              rates and ("%s/s allocated"):format(size(r.allocated or 0)) or nil
  memory[#memory + 1] = size(s.inuse) .. " in use" .. rate(" (%s%s/min)",
    (r.inuse or 0) < 0 and "-" or "+", size(math.abs(r.inuse or 0) * 60))
  memory[#memory + 1] = size(s.held) .. " reserved"
  memory[#memory + 1] = "resident " .. units.resident(s.rss, size)
  local lines = columns(memory, width)
  local more = columns({units.plural(s.states, "state"),
    ("GC %slongest %s"):format(rate("%.1f%% of time, %.0f/s, ", 100 * (r.gc or 0), r.collections or 0),
                               units.shorttime(s.longest / 1e9)),
    rate("%.0f samples/s, ", r.samples or 0) .. units.count(s.lost) .. " lost",
    (s.unfollowed or 0) > 0 and units.count(s.unfollowed) .. " with unknown death" or nil}, width)
  if (s.untimed or 0) > 0 then
    more[#more + 1] = ("time is not sampled on %s"):format(units.plural(s.untimed, "thread"))
  end
  return table.move(more, 1, #more, #lines + 1, lines)
end

return M
