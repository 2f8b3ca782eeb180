-- SPDX-License-Identifier: MIT
-- The command `asamp report`: reads profiles, computes totals and prints them with a renderer.

local copies = require "asamp.sums.copies"
local documents = require "asamp.show.documents"
local focus = require "asamp.sums.focus"
local json = require "asamp.show.json"
local labelled = require "asamp.sums.labelled"
local leaks = require "asamp.sums.leaks"
local lifetimes = require "asamp.sums.lifetimes"
local measures = require "asamp.sums.measures"
local layout = require "asamp.show.layout"
local once = require "asamp.cli.once"
local options = require "asamp.cli.options"
local pagesources = require "asamp.show.page.sources"
local owned = require "asamp.sums.owned"
local paths = require "asamp.sums.paths"
local range = require "asamp.cli.range"
local source = require "asamp.show.source"
local sources = require "asamp.cli.sources"
local native = require "asamp.sums.native"
local states = require "asamp.sums.states"
local text = require "asamp.show.text"
local totals = require "asamp.sums.totals"
local trends = require "asamp.sums.trends"
local united = require "asamp.sums.united"
local units = require "asamp.show.units"
local verdict = require "asamp.sums.verdict"

local M = {}

M.summary = "shows allocation and time by function, line and type"

local DEFAULT = {"functions", "lines", "callers", "types", "trends", "copies", "native", "labels", "scripts",
                 "leaks", "holders", "lifetimes", "collections",
                 "marks"}

local HELDROWS = 5  -- rows of the section holders, unless --show names it

-- Values of --by that select a table instead of a measure.
local TABLES = {state = "states", thread = "threads"}

local function place(value)
  return focus.byline(value) and value or nil, "FILE:LINE"
end

-- Checks the value of --at: "peak", or seconds since the start such as "12.5". Returns two values: "peak", a
-- number, or nil if the value is not valid; and a text that describes valid values.
local function instant(value)
  local seconds = value:find "^%d*%.?%d*s?$" and tonumber((value:gsub("s$", "")))
  return value == "peak" and value or seconds, "peak or a number of seconds since the start"
end

local DESCRIPTION = {
  command = "report", arguments = "FILE...", most = math.huge,
  about = "Shows the functions and lines of a profile that allocated bytes and took time. " ..
    "Also shows the types of the allocated objects, and the bytes that survived their first collection. " ..
    "FILE is a VMProf log by Asamp (stock or extended format) or by another profiler, compressed or not. " ..
    "If FILE is -, standard input is read.",
  options.TOP,
  options.by("sorts the tables by bytes, samples or time (default: bytes and time). " ..
    "survived: by bytes that survived their first collection. alive: by bytes alive at the end. " ..
    "state, thread: shows a table of the Lua states, or of the OS threads, instead",
    {"state", "thread"}),
  {"state", "TEXT", "shows only Lua states whose name contains TEXT, or the state with the number TEXT"},
  {"by-label", "NAME", "shows the values of the label NAME (profiler.label), with their bytes and time"},
  {"label", "NAME=VALUE", "shows only code that ran with this label; " ..
    "NAME=(none): only code without the label NAME",
    function(value) return labelled.parse(value), "NAME=VALUE" end},
  {"total", nil, "sorts functions and lines by the column total instead of self"},
  {"show", "LIST", "shows only these sections: " ..
    "functions, lines, callers, types, trends, copies, native, labels, scripts (of Lua states), states, " ..
    "threads, leaks, holders (of live objects), lifetimes, tree, collections, marks. " ..
    "Default: all except states, threads and tree",
    options.listof(text.SECTIONS)},
  {"tree", nil, "adds the call tree"},
  {"min", "PERCENT", "omits from the tree calls with less than this percentage of the total (default 1)",
    options.number(0, 100)},
  {"depth", "N", "omits from the tree calls more than N levels deep (default 60)",
    options.whole(1)},
  {"function", "TEXT", "shows only samples with a function on their stack whose name contains TEXT. " ..
    "Also shows the callers of that function"},
  {"line", "FILE:LINE", "shows only samples with this line on their stack, and the callers of its function",
    place},
  {"exclude", "TEXT", "leaves out samples with a function on their stack whose name or file contains TEXT"},
  range.FROM,
  range.UNTIL,
  {"at", "WHEN", "shows only objects alive at this time, in seconds since the start; " ..
    "peak: at the end of the collection that left most bytes in use", instant},
  {"source", "FILE", "shows the lines of this file with their bytes and time, instead of the tables; " ..
    "FILE is the path in the profile, or the end of that path"},
  options.OWN,
  {"sum", nil, "prints one report with the sums of all files, for several processes or runs"},
  options.WIDTH,
  options.COLOR,
  {"json", nil, "prints the report as JSON, with the call tree if --tree is given; " ..
    "up to 16,384 rows of each list, or --top N"},
}

function M.usage()
  return options.usage(DESCRIPTION)
end

-- Returns two values, or nil if neither --function nor --line is given in the options o:
--
--   1. a function(fn, line) that returns true for the frames that these options select
--   2. a title for these frames
local function focusof(o)
  local byname = o["function"] and focus.byfunction(o["function"])
  local byline = o.line and focus.byline(o.line)
  if byname and byline then
    return function(fn, at) return byname(fn) and byline(fn, at) end,
           o["function"] .. " at " .. o.line
  end
  return byname or byline, o["function"] or o.line
end

local function settings(o, world)
  local show = {}
  for _, name in ipairs(TABLES[o.by] and {TABLES[o.by]} or o["by-label"] and {"labels"} or
                        o.tree and not o.show and {"tree"} or o.show or DEFAULT) do
    show[name] = true
  end
  show.tree = show.tree or o.tree
  return {top = o.top or 15, show = show, cumulative = o.total, min = o.min or 1,
          bylabel = o["by-label"], label = o.label and o.label.text,
          depth = o.depth or 60, color = options.color(o, world),
          width = o.width or world.columns}
end

-- Returns the set of the call tree nodes that --exclude leaves: nodes without a function on their stack whose
-- name or file path contains the text 'excluded'.
--
-- covered: set of nodes (focus.cover); the result has only nodes of this set. nil: all nodes
local function remaining(profile, covered, excluded)
  local left = focus.without(profile, excluded)
  for node in pairs(covered and left or {}) do
    left[node] = covered[node]
  end
  return left
end

-- Computes the totals of the samples that --function, --line and --exclude select. Hides the sections of the
-- report that such a selection would make wrong, and describes the selection in setting.focus. Returns the
-- totals, or nil and a message if no samples are selected.
--
-- profile: all samples, or those of the range of --from and --until
-- o: options of the command
-- setting: settings of the report
local function narrowed(profile, o, setting)
  local test, title = focusof(o)
  if not test and not o.exclude and not setting.range then
    return totals.of(profile)
  end
  local covered, entries = nil, {}
  if test then
    covered, entries = focus.cover(profile, test)
    if #entries == 0 then
      return nil, ("no sample has %s on its stack; give a name or line that asamp report --top 1000 " ..
                   "lists"):format(title)
    end
  end
  if o.exclude then
    covered = remaining(profile, covered, o.exclude)
    setting.show.labels = nil
  end
  setting.focus = {title = title, entries = entries, exclude = o.exclude,
                   range = setting.range and range.text(setting.range)}
  setting.covered = covered
  setting.show.leaks, setting.show.collections = nil, nil
  setting.show.marks, setting.show.lifetimes = nil, nil
  local t = totals.of(profile, {covered = covered})
  if o.exclude and t.whole.samples + t.whole.timesamples == 0 then
    return nil, ("--exclude %s leaves out all samples; give a longer TEXT"):format(o.exclude)
  end
  return t
end

-- Returns the names of up to 3 script files of the profile, for a message.
local function examples(profile)
  local list, seen = {}, {}
  for _, fn in ipairs(profile.functions) do
    if not fn.native and not seen[fn.file] and #list < 3 then
      seen[fn.file] = true
      list[#list + 1] = "'" .. fn.file .. "'"
    end
  end
  return table.concat(list, ", ")
end

-- Applies the option --own: counts the costs of other code for the line of the user's code that called it.
-- Returns the changed profile, or the same profile without --own. Returns nil and a message if no sampled
-- code lies in the folders of --own. Sets setting.own for the report.
local function charged(profile, o, setting)
  if not o.own then
    return profile
  end
  local result, allocated, timed = owned.of(profile, owned.below(sources.real(o.own)))
  if allocated + timed == 0 then
    return nil, ("no sampled code lies in %s; the profile has files such as %s"):format(
      table.concat(o.own, ":"), examples(profile))
  end
  setting.own = {paths = table.concat(o.own, ":"), samples = allocated, timesamples = timed}
  return result
end

-- Returns true if the path b, given by the user, can mean the file a of the profile: one of the two paths is
-- the end of the other.
local function samefile(a, b)
  a, b = a:gsub("^%./", ""), b:gsub("^%./", "")
  return paths.names(b, a) or paths.names(a, paths.written(b))
end

-- Messages for --source FILE, by the reason why the file's text cannot be shown. Each message starts with the
-- file's name, then this text. pagesources.WHY has the messages for other reasons.
local WITHOUT = {
  outside = "lies outside the current folder: give its path with --source FILE",
  hidden = "is in a hidden folder: give its path with --source FILE",
  absent = "was not found: give its path with --source FILE",
}

-- Returns a source file with the costs of its lines, for asamp.show.source, or nil and a message on failure.
--
--   - wanted: the file's path, as the user has given it
--   - t: totals of the profile
--   - started: start of the profile, in seconds since the epoch
--   - functions: functions of the profile
local function annotated(wanted, t, started, functions)
  local rows, file = {}, nil
  for _, row in ipairs(t.lines) do
    if samefile(row.file, wanted) then
      if file and row.file ~= file then
        return nil, ("'%s' matches both '%s' and '%s'; give a longer path"):format(wanted, file, row.file)
      end
      file, rows[#rows + 1] = row.file, row
    end
  end
  if not file then
    return nil, ("no line of '%s' has a sample; give a file that asamp report --top 1000 lists"):format(
      wanted)
  end
  local find, read = sources.finder({wanted:match "^(.*)/" or "."}, functions)
  local code, reason = find(wanted, file)
  if not code then
    code, reason = find(file)
  end
  if not code then
    return nil, ("the code of '%s' %s"):format(file, WITHOUT[reason] or pagesources.WHY[reason])
  end
  return {name = file, text = source.split(code), rows = rows, cut = pagesources.WHY[reason],
          changed = sources.changed(read, started)}
end

-- Applies the option --at: reads the profile again with only the samples that were alive at that time.
-- Returns this profile, or the same profile without --at. Returns nil and a message on failure. 'ids': list
-- of the ids of selected Lua states; nil: all.
local function frozen(path, profile, ids, o, setting, world)
  if not o.at then
    return profile
  end
  local course = profile.course
  if not measures.hasdeaths(profile) or not course then
    return nil, "the profile does not record when objects died; " ..
      "--at needs a profile by Asamp, of a run with collections"
  end
  local peak = o.at == "peak"
  local time = peak and course.highest or math.floor(o.at * 1e6 + 0.5)
  -- Compares in whole microseconds. In seconds, a rounding error could make --at appear later than the end of
  -- the profile, although both are the same time.
  local ends = math.max(math.floor(profile.duration * 1000000 + 0.5), course.ended)
  if time > ends then
    return nil, ("--at %.6g s is after the end of the profile, at %.6g s; give an earlier time"):format(
      time / 1000000, ends / 1000000)
  end
  local other = peak and native.of(profile)
  setting.at = {seconds = time / 1000000, inuse = peak and course.peak.inuse or nil,
                native = other and (other.peak or 0) > 0 and
                  {bytes = other.peak // 1 | 0, seconds = other.peaktime} or nil}
  for _, name in ipairs{"leaks", "collections", "marks", "lifetimes"} do
    setting.show[name] = nil
  end
  return world.read(path, {at = time, states = ids, label = o.label})
end

local function fieldof(by, t)
  local field = measures.field(by, t.unit)
  if t.whole[field] == 0 then
    return nil, ("nothing to sort by: '%s' is 0 in the whole profile; give another --by"):format(by)
  end
  return field
end

-- Returns true if the profile has the labels that --label and --by-label in the options o name; else nil and
-- a message.
local function haslabels(profile, o)
  local name = o.label and o.label.name or o["by-label"]
  local ok, wrong = true, nil
  if name then
    ok, wrong = labelled.check(profile, name, o.label and o.label.value)
  end
  if ok and o.label and o["by-label"] then
    ok, wrong = labelled.check(profile, o["by-label"])
  end
  return ok, wrong
end

-- Applies the option --label: reads the profile again with only the samples that have the label. Returns this
-- profile, or the same profile without --label. Returns nil and a message on failure. With --sum, a file
-- without the label is no failure: the label is checked after the merge.
local function oflabel(path, profile, ids, o, setting, world)
  local ok, wrong = true, nil
  if not o.sum then
    ok, wrong = haslabels(profile, o)
  end
  if not ok then
    return nil, wrong
  elseif not o.label then
    return profile
  end
  setting.show.leaks, setting.show.collections, setting.show.marks = nil, nil, nil
  return world.read(path, {bins = leaks.BINS, states = ids, label = o.label})
end

-- Applies the options --from and --until: reads the profile again with only the samples of this range.
-- Returns this profile, or the same profile without these options. Returns nil and a message on failure.
local function ranged(path, profile, ids, o, setting, world)
  setting.range = range.of(o)
  if not setting.range then
    return profile
  end
  setting.show.trends, setting.show.native = nil, nil
  return range.read(world, path, setting.range, {bins = leaks.BINS, states = ids, label = o.label})
end

-- Reads a profile and selects the part of it that the options o describe. Changes 'setting', the settings of
-- the report, accordingly. Returns the profile, or nil after an error message.
local function readone(path, o, setting, world, warn)
  local profile, message = world.read(path, {bins = leaks.BINS})
  local ids, wrong
  if profile and o.state then
    ids, wrong = states.find(profile, o.state)
    if not ids then
      warn.failed("'%s': %s", path, wrong)
      return nil
    end
    profile, message = world.read(path, {bins = leaks.BINS, states = ids})
  end
  if not profile then
    warn.failed("%s", message)
    return nil
  end
  local n = profile.samples + profile.timesamples
  warn.partial(path, profile.message, n, "the report covers only the readable part")
  if n == 0 and not profile.complete then
    return nil
  end
  profile, wrong = oflabel(path, profile, ids, o, setting, world)
  if profile then
    profile, wrong = ranged(path, profile, ids, o, setting, world)
  end
  if profile then
    profile, wrong = frozen(path, profile, ids, o, setting, world)
  end
  if profile and o["by-label"] and not (o.json or o.sum or o.label or o.at or setting.range) then
    setting.within = labelled.within(profile, o["by-label"], function(label)
      return world.read(path, {states = ids, label = label})
    end)
  end
  if wrong then
    warn.failed("'%s': %s", path, wrong)
    return nil
  end
  return profile
end

-- Applies the option --by. If it names a measure, sets setting.by to the measure's field of sums, such as
-- "bytes". Returns true. If the profile, whose totals are t, lacks the data for --by, returns a false value
-- and a message.
local function ordered(profile, o, setting, t)
  local wrong
  if TABLES[o.by] and not profile.states then
    return nil, "the profile does not record Lua states and threads; " ..
      "profile with asamp run -- PROGRAM, or with ASAMP in the environment"
  elseif TABLES[o.by] and o.at then
    return nil, "tables by state and thread cover the whole run: leave --at out"
  elseif o.by and not TABLES[o.by] then
    setting.by, wrong = fieldof(o.by, t)
  end
  return not wrong, wrong
end

-- Returns the message for a report with --at if no sample was alive at that time.
local function nothingalive(at)
  return ("no sample was alive at %.6g s%s"):format(at.seconds, at.inuse and
    (", when a collection left most bytes in use (%s); peaks between collections are not recorded: " ..
     "--at SECONDS shows another time"):format(units.bytes(at.inuse)) or "")
end

-- Sets two results of asamp.sums.verdict for the report: setting.holders, the references that keep most live
-- bytes; and setting.verdict, whether the heap grows and which lines to improve. The verdict is omitted if
-- options select parts of a text report.
local function judge(view, t, o, setting)
  if o.json or not (o.show or o.tree or o.source or TABLES[o.by] or o["by-label"]) then
    setting.verdict = verdict.of(view, t, setting.leaks, setting.copies or copies.of(view))
  end
  setting.holders = verdict.held(view, not o.json and not o.show and HELDROWS or nil)
end

-- Creates the report of a profile with the settings 'setting'. Returns it as text or, with --json in the
-- options o, as a table, or nil and a message on failure.
local function reportof(profile, o, setting)
  if o.sum then
    local ok, lacks = haslabels(profile, o)
    if not ok then
      return nil, lacks
    end
  end
  local view, wrong = charged(profile, o, setting)
  local t
  if view then
    t, wrong = narrowed(view, o, setting)
  end
  if t and setting.at and t.whole.samples == 0 then
    wrong = nothingalive(setting.at)
  end
  if not wrong then
    wrong = select(2, ordered(view, o, setting, t))
  end
  if not wrong and o.source then
    setting.source, wrong = annotated(o.source, t, profile.started, profile.functions)
  end
  if wrong then
    return nil, wrong
  end
  if not setting.focus and not setting.at and not o.sum and not o.label then
    setting.leaks = leaks.of(view)
  end
  if not setting.at and (o.json or setting.show.copies) then
    setting.copies = copies.of(view, setting.covered)
  end
  local whole = not setting.at and not setting.range
  if whole and (o.json or setting.show.native) then
    setting.native = native.of(view, setting.covered)
  end
  if whole and not o.sum and (o.json or setting.show.trends) then
    setting.trends = trends.of(view, setting.covered)
  end
  if whole and (o.json or setting.show.lifetimes) then
    setting.lifetimes = lifetimes.of(view)
    setting.lifelines = o.json and lifetimes.lines(view)
  end
  if not setting.focus and not setting.at and not o.sum and not o.label then
    judge(view, t, o, setting)
  end
  if o.json then
    return documents.report(view, t, o.top, setting)
  end
  return text.render(view, t, setting)
end

-- Reads the profiles to report: one for each file or, with --sum, one with the sums of all files. Returns two
-- values:
--
--   1. an iterator, which returns three values: the profile (false after a failure), the settings of its
--      report, and its name
--   2. with --sum, true if a file could not be read
local function reports(o, world, warn)
  local i = 0
  local function next_()
    i = i + 1
    local path = o.files[i]
    if not path then
      return nil
    end
    local setting = settings(o, world)
    local profile = readone(path, o, setting, world, warn)
    return profile or false, setting, path
  end
  if not o.sum then
    return next_
  end
  local profiles, setting = {}, nil
  for profile, one in next_ do
    profiles[#profiles + 1], setting = profile or nil, profile and one or setting
  end
  local all = #profiles > 0 and united.of(profiles)
  if all then
    for _, name in ipairs{"leaks", "collections", "marks"} do
      setting.show[name] = nil
    end
  end
  return function()
    local result = all
    all = nil
    return result or nil, setting, "the sum"
  end, #profiles < #o.files
end

M.run = options.command(DESCRIPTION, function(o, world, warn)
  local results = {}
  if o.sum and (TABLES[o.by] or o.state) then
    return warn.wrong("--sum adds up all states and threads, " ..
      "so it cannot be combined with --state, --by state or --by thread: leave one out")
  end
  local no = range.wrong(o)
  if no then
    return warn.wrong("%s", no)
  elseif range.of(o) and (TABLES[o.by] or o.at) then
    return warn.wrong("--from and --until cannot be combined with --%s: leave one out",
                      o.at and "at" or "by " .. o.by)
  elseif o.exclude and (TABLES[o.by] or o["by-label"]) then
    return warn.wrong("--exclude needs stacks, which tables of states, threads and labels do not have: " ..
                      "leave --exclude or --%s out", o["by-label"] and "by-label" or "by " .. o.by)
  end
  local twice = o.sum and options.twice(o.files) or
                (o.at or o.label or o["by-label"] or range.of(o)) and options.readonce(o.files)
  if twice then
    return warn.wrong("%s", twice)
  end
  if o.sum then
    local notes
    o.files, notes = once.of(o.files, world.read)
    if not o.files then
      return warn.wrong("%s", notes)
    end
    for _, note in ipairs(notes) do
      warn.failed("%s", note)
    end
  end
  local each, failed = reports(o, world, warn)
  for profile, setting, path in each do
    local result, wrong = nil, nil
    if profile then
      result, wrong = reportof(profile, o, setting)
    end
    if wrong then
      warn.failed("'%s': %s", path, wrong)
    end
    failed = failed or not result
    if result and not o.json then
      world.out((#results > 0 and "\n\n" or "") .. layout.screen(result, options.color(o, world)))
    end
    results[#results + 1] = result
  end
  if o.json and #results > 0 then
    json.write((#o.files == 1 or o.sum) and results[1] or results, world.out)
  end
  return failed and 1 or 0
end)

return M
