-- SPDX-License-Identifier: MIT
-- The head of a report: the command, allocated bytes, duration, accuracy; and advice if there are no samples.
-- In all functions, 'p' is the profile and 't' its totals (asamp.sums.totals).

local layout = require "asamp.show.layout"
local measures = require "asamp.sums.measures"
local units = require "asamp.show.units"
local verdict = require "asamp.show.verdict"

local M = {}

-- If a profile has fewer than FEW samples, the head of the report names the sampling period with which
-- another run would give about ENOUGH samples.
local FEW, ENOUGH = 100, 1000

-- {== how much ==============================================================

local function duration(p)
  return p.duration > 0 and " in " .. units.seconds(p.duration) or ""
end

local function rate(p, bytes)
  return p.duration > 0 and
    (" (%s/s)"):format(units.bytes(math.floor(bytes / p.duration))) or ""
end

local function bytesof(t, name)
  for _, row in ipairs(t.types) do
    if row.name == name then
      return row.self.bytes
    end
  end
  return 0
end

-- Returns the sampled bytes of native memory of the profile p, with the totals t, or 0 if it was not sampled.
local function nativebytes(p, t)
  return p.malloc and bytesof(t, "native") or 0
end

-- Returns the start of the sentence about allocated bytes: the bytes that Lua allocated and, if there are
-- any, the external bytes of userdata.
local function apart(p, t)
  local outside = bytesof(t, "outside")
  if outside == 0 then
    return units.bytes(p.allocated) .. " allocated by Lua"
  end
  return ("About %s allocated by Lua, %s owned by userdata outside of Lua's heap,"):format(
    units.bytes(math.max(0, p.allocated - outside)), units.bytes(outside))
end

-- Returns a sentence about the bytes that the program allocated, according to the profile p with the totals
-- t. The number of bytes is exact if p.allocated is set and the report covers the whole run; otherwise it is
-- an estimate from the samples. Bytes of native memory are always estimates. 'options': those of M.lines.
local function amount(p, t, options)
  local samples = units.plural(t.whole.samples, "sample")
  local represent = t.whole.samples == 1 and "represents" or "represent"
  local native = nativebytes(p, t)
  if options.at then
    return ("%s alive, estimated from %s."):format(
      t.unit == "bytes" and units.bytes(t.whole.bytes) or samples, samples)
  elseif t.unit ~= "bytes" then
    return samples .. duration(p) .. "."
  elseif native > 0 and not p.allocated and not options.focus then
    local lua = t.whole.bytes - native
    return ("About %s%s of native memory%s, estimated from %s."):format(
      lua > 0 and units.bytes(lua) .. " allocated by Lua and " or "", units.bytes(native),
      duration(p), samples)
  elseif p.allocated and native > 0 and not options.focus then
    return ("%s and about %s of native memory%s. All below is estimated from %s, which %s %s."):format(
      apart(p, t), units.bytes(native), duration(p), samples, represent, units.bytes(t.whole.bytes))
  elseif p.allocated and not options.focus then
    return ("%s allocated%s%s. All below is estimated from %s, which %s %s."):format(
      units.bytes(p.allocated), duration(p), rate(p, p.allocated),
      samples, represent, units.bytes(t.whole.bytes))
  end
  return ("%s allocated%s%s, estimated from %s."):format(
    units.bytes(t.whole.bytes), duration(p), rate(p, t.whole.bytes), samples)
end

-- Returns two numbers: the sampling period with which 'bytes' allocated bytes give about ENOUGH samples, and
-- the number of samples with this period. The period is a power of 2.
local function better(bytes)
  local period = 64
  while period * 2 * ENOUGH <= bytes do
    period = period * 2
  end
  return period, bytes // period
end

-- Fewest time samples with which the head shows the shares of time in Lua, C and collections.
local FEWTIME = 8
-- The head gives advice on more samples only if it leads to at least this number of additional samples.
local LEASTMORE = 20
-- Shortest period, in seconds, that most kernels allow for time samples without --exact.
local SHORTEST = 1 / 250

-- Returns advice on how to get more allocation samples in a run such as that of the profile p, or nil if
-- there are enough. 'samples': their present number.
local function remedy(p, samples)
  local bytes = p.allocated or p.bytes or 0
  local period, n = better(bytes)
  if samples >= FEW or period >= p.period or n <= samples + LEASTMORE then
    return nil
  end
  return ("With --alloc %s there would be about %s."):format(
    units.period(period), units.plural(n, "sample"))
end

-- Returns sentences with the reason why the profile p has no samples, and a remedy.
local function nothing(p)
  local parts = {}
  local timed = p.own and (p.timeperiod or 0) > 0
  if p.allocated then
    parts[1] = ("%s allocated%s, but no sample was taken: the period is %s."):format(
      units.bytes(p.allocated), duration(p), units.bytes(p.period))
    parts[2] = remedy(p, 0)
  elseif p.own and p.complete and not timed then
    parts[1] = ("No samples%s: nothing was allocated while sampling was on."):format(
      duration(p))
  elseif not timed then
    parts[1] = ("No samples%s."):format(duration(p))
  end
  if timed then
    parts[#parts + 1] = ("No time sample%s: the period is %s of %s time%s. " ..
      "Use a longer run, or more samples per second (--time)."):format(
      p.allocated and " either" or duration(p), units.seconds(p.timeperiod),
      p.wall and "wall" or "CPU", (p.wall or p.timeperiod >= SHORTEST) and "" or
      "; without --exact, most kernels allow at most 250 samples a second")
  end
  return table.concat(parts, " ")
end

-- Returns a sentence about the external bytes of userdata, or nil if there are none. 'known': true if an
-- earlier sentence of the head has their number.
local function outside(t, known)
  local bytes = t.unit == "bytes" and bytesof(t, "outside") or 0
  if known and bytes > 0 then
    return "Userdata own memory and resources outside of the heap; an open file counts as 32 KiB."
  end
  return bytes > 0 and ("About %s of these bytes lie outside of Lua's heap: " ..
    "memory and resources that userdata own; an open file counts as 32 KiB."):format(
    units.bytes(bytes)) or nil
end

-- Returns sentences that explain how many bytes an allocation sample represents, and how accurate numbers
-- are.
local function meaning(p, t)
  if t.unit ~= "bytes" then
    return "The file does not record how many bytes a sample represents: the report counts samples."
  end
  local size = units.bytes(p.period)
  local text = ("A sample is taken every %s of allocation%s, and represents %s. "):format(
    size, p.random and " on average, at random" or "", size)
  if p.periods > 0 and p.profiles then
    text = "A sample is taken once per period of allocated bytes, and represents one period. " ..
           "The periods of these profiles differ. "
  elseif p.periods > 0 then
    text = ("A sample is taken once per period of allocated bytes, and represents one period. " ..
            "The period was %s at first, and was changed %s during the run. "):format(
      size, units.plural(p.periods, "time"))
  end
  if p.malloc and p.malloc ~= p.period then
    text = text .. ("A sample of native memory represents %s. "):format(units.bytes(p.malloc))
  end
  return text .. "A row of 100 samples is accurate to about ±10%, a row of 10,000 samples to about ±1%."
end

-- ==}

local function instant(at, p)
  if p.profiles then
    return at.inuse and "objects alive in each profile at the time when most bytes were in use" or
           ("objects alive in each profile at %s"):format(units.seconds(at.seconds))
  end
  local text = "objects alive at " .. units.seconds(at.seconds)
  if at.inuse then
    text = text .. (", when a collection left most bytes in use (%s)"):format(units.bytes(at.inuse))
  end
  return text
end

-- Returns a sentence about the peak of native memory, or nil if this peak is unknown. It is not at the same
-- time as the peak of Lua's heap.
local function nativepeak(at)
  return at.native and ("That is the peak of Lua's heap. " ..
    "Native memory had its peak at %s, about %s: --at %s shows that time."):format(
    units.seconds(at.native.seconds), units.bytes(at.native.bytes),
    (("%.6f"):format(at.native.seconds):gsub("%.?0+$", ""))) or nil
end

local function survival(p, t)
  local function share(which)
    return units.percent(measures.fate(t.whole, which))
  end
  if not p.fates or t.whole.samples == t.whole.undecided then
    return nil
  end
  local survived, decided = measures.fate(t.whole, "survived")
  local text = ("Of the %s, %s died young"):format(t.unit == "bytes" and "allocated bytes" or "samples",
                                                  units.percent(decided - survived, decided))
  if measures.hasdeaths(p) then
    text = text .. (", %s died later, %s is still alive%s."):format(
      share "later", share "alive", p.majors == 0 and (measures.fate(t.whole, "alive")) > 0 and
      ", as far as is known: no major collection has run" or "")
  else
    text = text .. (", %s survived their first collection."):format(share "survived")
  end
  if t.whole.undecided > 0 then
    text = text .. (" The survival of %s is unknown, because no collection followed."):format(
      units.plural(t.whole.undecided, "sample"))
  end
  if (p.lost or 0) > 0 then
    text = text .. (p.lost == 1 and " 1 more sample (allocation or time) was lost and is not counted here." or
      " %s more samples (allocation or time) were lost and are not counted here."):format(units.count(p.lost))
  end
  return text
end

local function timing(p, t)
  local n = t.whole.timesamples
  if n == 0 then
    return nil
  end
  local clock = measures.clock(p)
  -- Number of independent observations: a sample that represents several periods is only one.
  local independent = math.max(1, math.floor(measures.observations(t.whole) + 0.5))
  local text = units.plural(independent, "time sample")
  if (p.timeperiod or 0) > 0 then
    text = ("%s of %stime, from %s of %s%s"):format(
      units.seconds(n * p.timeperiod), clock and clock .. " " or "", units.plural(independent, "sample"),
      units.seconds(n * p.timeperiod / independent),
      independent == 1 and "" or independent == n and " each" or " on average")
  end
  if independent < FEWTIME then
    return text .. ": too few for shares of Lua, C and collections."
  end
  return ("%s: %s in Lua, %s in C, %s in collections."):format(text,
    units.percent(n - t.whole.nativesamples - t.whole.gcsamples, n),
    units.percent(t.whole.nativesamples, n),
    units.percent(t.whole.gcsamples, n))
end

--- Returns a sentence about threads whose time could not be sampled, according to the profile p, or nil if
-- there are none.
function M.untimed(p)
  for _, mark in ipairs(p.marknames or {}) do
    if mark.name == "time is not sampled" then
      return ("Time is not sampled on %s. The reason for the last thread: %s."):format(
        units.plural(mark.count, "thread"), layout.clean(mark.value))
    end
  end
end

local function collected(p)
  local n = p.minors + p.majors
  if n == 0 then
    return nil
  end
  local last = p.course and p.course.last
  local text = ("%s (%s minor, %s major)"):format(
    units.plural(n, "collection"), units.count(p.minors),
    units.count(p.majors))
  if last and last.inuse > 0 then
    text = text .. ("; after the last one, %s of Lua's heap were in use, and %s reserved"):format(
      units.bytes(last.inuse), units.bytes(last.held))
  end
  return text .. "."
end

local function recorder(p)
  local ring = p.ring
  if not ring then
    return nil
  end
  local text = (p.profiles and "The files have at least the last %s of each flight recorder%s" or
                "The file has the last %s of a flight recorder%s"):format(units.seconds(ring.seconds),
    ring.wanted and ring.seconds < ring.wanted * 0.9 and
    ("; it should keep %s, but the run was shorter, or the recorder's memory was full"):format(
      units.seconds(ring.wanted))
    or "")
  if ring.samples == 0 then
    return text .. "; all samples are from this time."
  end
  return text .. ("; %s (%s) are older, of objects that were still alive when this time started."):format(
    units.bytes(ring.bytes), units.plural(ring.samples, "sample"))
end

-- Returns a sentence about the kinds of data, such as marks, that the profile p lacks because it was merged
-- from several files, or nil if it lacks none.
local function alone(p)
  local list = p.alone or {}
  if #list == 0 then
    return nil
  end
  return ("A sum of several files does not include %s, which are data of single runs. " ..
    "A profile made by asamp merge keeps more of these data."):format(table.concat(list, ", "))
end

--- Returns the report's head as lines of text.
--
--   - p, t: the profile and its totals
--   - style: settings of the report (tables.lua)
--
-- Options, nil if absent:
--
--   - brief: true: no explanations
--   - verdict: result of asamp.sums.verdict: whether the heap grows, and the lines to improve
--   - rows: number of terminal rows that the report may fill
--   - label: text of the label to which the profile is restricted
--   - focus: texts {title, exclude, range} about the part of the profile that the totals cover; nil: all
--   - at: data of the option --at, if the totals are of the samples alive at a certain time: {seconds, inuse,
--     native}
--     - seconds: this time, in seconds since the start
--     - inuse: bytes in use, if Lua's heap had its peak at this time
--     - native: {bytes, seconds} of the peak of native memory, or nil
function M.lines(p, t, style, options)
  local paint, width = style.paint, style.width
  local rows = options.rows
  local lines = {not rows and paint("bold", layout.cutstart(layout.clean(p.path), width)) or nil}
  if p.command and not rows then
    lines[#lines + 1] = paint("dim",
      layout.cutend(layout.clean(p.command), width))
  end
  if options.focus and options.focus.range then
    lines[#lines + 1] = paint("yellow", "only samples " .. options.focus.range)
  end
  for _, part in ipairs{{"only samples with ", "title"}, {"without samples with ", "exclude"}} do
    local text = options.focus and options.focus[part[2]]
    if text then
      lines[#lines + 1] = paint("yellow", layout.cutend(
        part[1] .. layout.clean(text) .. " on their stack", width))
    end
  end
  if options.label then
    lines[#lines + 1] = paint("yellow", layout.wrap(
      "only code that ran with the label " .. layout.clean(options.label) ..
      "; collections and leaks are not shown, because they concern the whole run", "", width))
  end
  if options.at then
    lines[#lines + 1] = paint("yellow", layout.cutend(instant(options.at, p), width))
  end
  lines[#lines + 1] = not rows and "" or nil
  if options.verdict and t.whole.samples + t.whole.timesamples > 0 then
    local list = verdict.lines(style, options.verdict, rows)
    table.move(list, 1, #list, #lines + 1, lines)
    lines[#lines + 1] = not rows and #list > 0 and "" or nil
  end
  local sentences = {}
  local function add(sentence)
    sentences[#sentences + 1] = sentence
  end
  if t.whole.samples + t.whole.timesamples == 0 then
    add(nothing(p))
  elseif t.whole.samples > 0 then
    add(amount(p, t, options))
    add(recorder(p))
    add(outside(t, p.allocated and nativebytes(p, t) > 0 and not options.at and not options.focus))
    add(not options.focus and not options.at and t.unit == "bytes" and p.own
        and remedy(p, t.whole.samples) or nil)
    add(not options.brief and meaning(p, t) or nil)
    add(options.at and "Objects count as dead if a collection before that time found them dead. " ..
      "Old objects are checked only by major collections."
        or survival(p, t))
    add(options.at and nativepeak(options.at) or nil)
  end
  add(timing(p, t))
  add(M.untimed(p))
  add(not options.focus and not options.at and not options.label and collected(p) or nil)
  add(alone(p))
  if p.undetailed > 0 then
    add(("The end of the file is missing: size and survival of %s are unknown."):format(
      units.plural(p.undetailed, "sample")))
  end
  for _, left in ipairs(p.left or {}) do
    add("Incomplete data: " .. left.text .. ".")
  end
  local shown = {}
  for i, sentence in ipairs(sentences) do
    shown[i] = paint(i == 1 and "bold" or "plain", layout.wrap(sentence, "  ", width))
  end
  if rows and #lines > 0 then
    table.insert(shown, 1, "")
  end
  local all = rows and layout.rows(table.concat(lines, "\n"), width) +
              layout.rows(table.concat(shown, "\n"), width)
  if not rows or #lines == 0 or all <= rows then
    table.move(shown, 1, #shown, #lines + 1, lines)
  end
  return lines
end

return M
