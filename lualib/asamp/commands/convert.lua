-- SPDX-License-Identifier: MIT
-- The command `asamp convert`: writes a profile in another format.

local convert = require "profiler.convert"
local firefox = require "asamp.show.firefox"
local focus = require "asamp.sums.focus"
local heap = require "profiler.heap"
local layout = require "asamp.show.layout"
local options = require "asamp.cli.options"
local range = require "asamp.cli.range"
local results = require "asamp.cli.results"
local sources = require "asamp.cli.sources"
local totals = require "asamp.sums.totals"

local M = {}

M.summary = "converts to Firefox Profiler, pprof, flame graphs, speedscope"

local MAXTEXT = 64 << 20  -- limit of the source text in one result, in bytes

local FLAVOURS = {stock = 6, extended = 7}

-- Maps a format to the default suffix of the output file's name.
local ENDINGS = {
  firefox = ".firefox.json.gz", pprof = ".pb.gz", collapsed = ".collapsed",
  speedscope = ".speedscope.json", vmprof = ".vmprof", heapsnapshot = ".heapsnapshot",
}
-- Maps a format to the name of the kind of file, as profiler.convert.kind returns it.
local KINDS = {
  firefox = "a profile for the Firefox Profiler", pprof = "a pprof profile",
  collapsed = "a file of collapsed stacks", speedscope = "a speedscope profile",
  vmprof = "a profile", heapsnapshot = "a JSON file",
}
local NAMES = {"firefox", "pprof", "collapsed", "speedscope", "vmprof", "heapsnapshot"}

local DESCRIPTION = {
  command = "convert", arguments = "--to FORMAT FILE",
  about = "Writes a profile in a format of other tools. " ..
    "FILE is a VMProf log by Asamp (stock or extended format) or by another profiler, compressed or not. " ..
    "If FILE is -, standard input is read.",
  {"to", "FORMAT", "firefox is for profiler.firefox.com; speedscope is for speedscope.app. " ..
    "pprof is for go tool pprof and for continuous profilers. " ..
    "collapsed is for flamegraph.pl, inferno and others. " ..
    "vmprof is a VMProf log: in the extended format if FILE has the stock format, else in stock format. " ..
    "heapsnapshot is for the Memory panel of Chrome, and needs a heap snapshot as FILE",
    options.oneof(NAMES)},
  options.out("path of the result; - is standard output. " ..
    "The default is next to the profile, or standard output if the profile is standard input"),
  {"weight", "WHAT", "for collapsed: the number after each stack. " ..
    "bytes, samples: of all allocations. time: microseconds. " ..
    "survived: bytes that survived their first collection. alive: bytes alive at the end. " ..
    "held: bytes alive at the end; the stack is the path of references that keep them alive. " ..
    "Default: bytes, or time if the profile has only time samples",
    options.oneof{"bytes", "samples", "survived", "alive", "time", "held"}},
  {"flavour", "WHICH", "for vmprof: the variant of the result, stock or extended. " ..
    "Default: the one that FILE does not have (stock for all other profiles)",
    options.oneof{"extended", "stock"}},
  options.sources("for firefox: copies the source files in DIRS, folders separated by colons, " ..
    "into the result (default: no sources)"),
  {"together", nil, "adds up all Lua states, OS threads and labels. " ..
    "--to vmprof always keeps them separate. " ..
    "By default, each state is a label in pprof, a thread in Firefox, a profile in speedscope, " ..
    "and the outermost frame in collapsed stacks. " ..
    "If there are more than 64 states, the states of one script are added up"},
  {"start-up", nil, "keeps the C functions that call the script, such as main, in every stack. " ..
    "With --to vmprof, stacks always have these functions"},
  range.FROM,
  range.UNTIL,
  {"exclude", "TEXT", "leaves out samples with a function on their stack whose name or file contains TEXT"},
  {"plain", nil, "does not compress the result"},
  after = "Files whose name ends in .gz are compressed; files of pprof and vmprof always are. " ..
    "The result gets its name only when it is complete.",
}

function M.usage()
  return options.usage(DESCRIPTION)
end

local function partoption(o)
  return o.exclude and "exclude" or o.from and "from" or "until"
end

local function wrong(o)
  if not o.to then
    return "no format given: use --to FORMAT"
  elseif o.weight and o.to ~= "collapsed" then
    return "--weight is only for --to collapsed: give that format, or leave --weight out"
  elseif o.flavour and o.to ~= "vmprof" then
    return "--flavour is only for --to vmprof: give that format, or leave --flavour out"
  elseif o.source and o.to ~= "firefox" then
    return "--source is only for --to firefox: give that format, or leave --source out"
  elseif o.together and o.to == "vmprof" then
    return "--together has no effect on vmprof, which keeps all states separate: leave --together out"
  elseif o.to == "heapsnapshot" and (o.together or o["start-up"]) then
    local name = o.together and "together" or "start-up"
    return ("--%s has no effect on a heap snapshot, which has no stacks and only one state: leave --%s out")
      :format(name, name)
  elseif (range.of(o) or o.exclude) and (o.to == "vmprof" or o.to == "heapsnapshot") then
    return (o.to == "vmprof" and
      "--%s has no effect on vmprof, which keeps the whole profile: use asamp report --%s" or
      "--%s has no effect on a heap snapshot, which has no stacks and no times of samples: leave --%s out")
      :format(partoption(o), partoption(o))
  elseif (range.of(o) or o.exclude) and o.files[1] == "-" then
    return ("--%s reads the input twice, but standard input can be read only once: give a file"):format(
      partoption(o))
  elseif range.wrong(o) then
    return range.wrong(o)
  elseif o["start-up"] and o.to == "vmprof" then
    return "--start-up has no effect on vmprof, which always has all frames: leave --start-up out"
  end
end

local function stem(path)
  local name = path:gsub("%.gz$", "")
  name = name:gsub("%.vmprof$", "")
  return name ~= "" and not name:find "/$" and name or path
end

-- Returns the compression of the result, which the options o determine: "fast" for formats with large files,
-- "small" for others, or nil if there is none. 'out': the result's path.
local function packing(o, out)
  if not o.plain and (o.to == "pprof" or o.to == "vmprof" or out:find "%.gz$")
  then
    return (o.to == "firefox" or o.to == "vmprof") and "fast" or "small"
  end
end

local function settings(o, path, world)
  local setting = {head = firefox.head, weight = o.weight,
                   name = path:match "[^/]*$", startup = o["start-up"], together = o.together,
                   texts = {}}
  if o.source then
    -- Does not read standard input: it can be read only once, and the conversion will read it.
    local profile = path ~= "-" and world.read(path)
    setting.source, setting.texts = sources.texts(o.source, MAXTEXT, profile and profile.functions)
  end
  if o.to == "vmprof" then
    local version, message = convert.version(path)
    if not version then
      return nil, message
    end
    setting.format = FLAVOURS[o.flavour] or (version == 6 and 7 or 6)
  end
  return setting
end

-- Finds the call tree nodes that --exclude removes. Returns a string for profiler.convert: one byte for
-- samples without a stack, then one byte for each node: "\1" if the node is removed, else "\0". Returns nil
-- and a message if the profile cannot be read, or if no sample remains.
local function without(world, path, o)
  local profile, message = world.read(path, range.set({}, range.of(o)))
  if not profile then
    return nil, message
  end
  local left, bytes = focus.without(profile, o.exclude), {"\0"}
  for i = 1, #profile.nodes.parent do
    bytes[i + 1] = left[i] and "\0" or "\1"
  end
  local whole = totals.of(profile, {covered = left}).whole
  if whole.samples + whole.timesamples == 0 then
    return nil, ("--exclude %s leaves out all samples; give a longer TEXT"):format(o.exclude)
  end
  return table.concat(bytes)
end

local function default(o, path, setting)
  if path == "-" then
    return "-"
  end
  if o.to == "vmprof" then
    return stem(path) .. (setting.format == 6 and ".stock" or ".extended") ..
           ENDINGS.vmprof
  end
  return stem(path) .. ENDINGS[o.to]
end

local function warnings(warn, path, s, setting)
  warn.partial(path, s.message, s.samples + s.timesamples,
               "the result covers only the readable part")
  for _, left in ipairs(s.left) do
    warn.failed("'%s': %s", path, left.text)
  end
  local changed = s.started > 0 and sources.changed(setting.texts, s.started / 1000000)
  if changed then
    warn.failed("%s", changed)
  end
end

-- Converts a heap snapshot for DevTools. Returns the exit code.
local function snapshot(o, path, world, warn)
  local out = o.out or (path == "-" and "-" or path:gsub("%.heap$", "") .. ENDINGS.heapsnapshot)
  local code = results.refuse(warn, out, o.out, path, KINDS.heapsnapshot)
  if code then
    return code
  end
  local show, finish = world.progress("converting " .. path:match "[^/]*$")
  local h, message = heap.open(path, show)
  local ok
  if not h and message:find "the file is not a heap snapshot$" then
    message = message .. "; profiler.snapshot(path) and asamp heap PID write one"
  end
  if h then
    ok, message = h:devtools(out, not o.plain and out:find "%.gz$" and 2 or 0)
  end
  finish()
  if not ok then
    return warn.failed("%s", message)
  end
  if out ~= "-" then
    world.out(layout.printable(out) .. "\n")
  end
  return 0
end

M.run = options.command(DESCRIPTION, function(o, world, warn)
  local bad = wrong(o)
  if bad then
    return warn.wrong("%s", bad)
  end
  local path = o.files[1]
  local twice = (o.to == "vmprof" or o.source or o.exclude or range.of(o)) and options.readonce(o.files)
  if twice then
    return warn.wrong("%s", twice)
  elseif o.to == "heapsnapshot" then
    return snapshot(o, path, world, warn)
  end
  local setting, message = settings(o, path, world)
  if not setting then
    return warn.failed("%s", message)
  end
  if range.of(o) then
    range.set(setting, range.of(o))
    local part, empty = range.read(world, path, range.of(o), {})
    if not part then
      return warn.failed("'%s': %s", path, empty)
    end
  end
  if o.exclude then
    setting.without, message = without(world, path, o)
    if not setting.without then
      return warn.failed("'%s': %s", path, message)
    end
  end
  local out = o.out or default(o, path, setting)
  local code = results.refuse(warn, out, o.out, path, KINDS[o.to])
  if code then
    return code
  end
  setting.packing = packing(o, out)
  local show, finish = world.progress("converting " .. setting.name)
  setting.progress = show
  local summary
  summary, message = convert[o.to](path, out, setting)
  finish()
  if not summary then
    return warn.failed("%s", message)
  end
  warnings(warn, path, summary, setting)
  if out ~= "-" then
    world.out(layout.printable(out) .. "\n")
  end
  return summary.samples + summary.timesamples == 0 and not summary.complete
         and 1 or 0
end)

return M
