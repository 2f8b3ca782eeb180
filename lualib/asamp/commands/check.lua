-- SPDX-License-Identifier: MIT
-- The command `asamp check`: checks limits of a profile, or of the run of a script, for CI.

local convert = require "profiler.convert"
local focus = require "asamp.sums.focus"
local gates = require "asamp.sums.gates"
local host = require "asamp.host"
local leaks = require "asamp.sums.leaks"
local options = require "asamp.cli.options"
local range = require "asamp.cli.range"
local run = require "asamp.commands.run"
local show = require "asamp.show.gates"
local totals = require "asamp.sums.totals"
local units = require "asamp.show.units"

local M = {}

M.summary = "fails when a profile exceeds limits, for CI"

--- Default of --alloc for a script: the mean number of bytes between samples. If a run allocates 1 GB, and a
-- line a quarter of that, a check with this period detects that the line allocates 10% more than in the
-- baseline.
M.PERIOD = "32K"

local UNITS = {[""] = 1, K = 1 << 10, M = 1 << 20, G = 1 << 30}

local function bytes(text)
  local n, unit = text:match "^(%d+%.?%d*)([KMG]?)$"
  n = n and math.tointeger(math.floor(tonumber(n) * UNITS[unit]))
  return n, "a size, such as 100M"
end

-- Checks the value of --alloc. Values are valid as for asamp run, except 0: without samples, nothing can be
-- checked.
local function period(text)
  local fits = text:find "^%d+[KMGkmg]?$" and not text:find "^0+%D*$" and
               not (text:find "^%d+$" and tonumber(text) < 64)
  return fits and text or nil, "a size of at least 64 bytes, such as 64K"
end

-- Parses limits of lines, "FILE:LINE=SIZE,...". Returns a list of {file, line, bytes, text ("FILE:LINE")}.
local function lines(text)
  local list = {}
  for item in text:gmatch "[^,]+" do
    local file, line, size = item:match "^(.+):(%d+)=(.*)$"
    local n = size and bytes(size)
    if not n then
      return nil, "FILE:LINE=SIZE, or a comma-separated list of these"
    end
    list[#list + 1] = {file = file, line = math.tointeger(tonumber(line)), bytes = n,
                       text = file .. ":" .. line}
  end
  return #list > 0 and list or nil, "FILE:LINE=SIZE, or a comma-separated list of these"
end

local DESCRIPTION = {
  command = "check", arguments = "PROFILE|SCRIPT", most = math.huge,
  about = "Compares a profile with limits or a baseline, and fails if the profile exceeds any of them. " ..
    "Prints each limit and, for an exceeded limit, the line that contributes most. " ..
    "A file whose name ends with .lua is a script: " ..
    "it is first run, with the arguments that follow, and profiled.",
  {"max-allocated", "SIZE", "fails if the whole run allocated more than SIZE bytes, such as 100M", bytes},
  {"max-peak", "SIZE", "fails if more than SIZE bytes of Lua's heap were in use after a collection", bytes},
  {"max-alive", "SIZE", "fails if more than SIZE bytes are alive at the end", bytes},
  {"max-line", "LIST", "fails if a line allocated more than its limit. " ..
    "LIST is FILE:LINE=SIZE, such as src/a.lua:12=1M, or several of these with commas between them", lines},
  {"no-leak", nil, "fails if asamp report shows a likely leak"},
  {"baseline", "FILE", "fails if the run or a line allocated more than in the profile FILE"},
  {"tolerance", "PERCENT", "allowed increase over the baseline, in percent (default 5)",
    options.number(0, 1e6)},
  {"exclude", "TEXT", "leaves out samples with a function on their stack whose name or file contains TEXT"},
  range.FROM,
  range.UNTIL,
  {"github", nil, "also prints annotations for GitHub Actions"},
  {"junit", "FILE", "also writes the results to FILE as JUnit XML, for CI servers"},
  {"alloc", "PERIOD", "for a script: takes a sample every PERIOD bytes allocated, on average (default 32K)",
    period},
  after = "An estimate fails if it exceeds its limit by three standard errors. " ..
    "An increase of a line over the baseline fails if it exceeds the tolerance " ..
    "and is too large for chance: two equal runs differ that much in only one of 100,000 comparisons.",
  exits = "Exit codes: 0 no limit is exceeded, 1 a limit is exceeded or a file has no usable data, " ..
    "2 wrong arguments.",
}

function M.usage()
  return options.usage(DESCRIPTION)
end

-- Runs and profiles a script. Returns the path of its profile, and a folder that the caller must remove, or
-- nil after an error message if the script did not run to its end.
local function profiled(o, world, warn)
  local folder, wrong = host.newfolder(host.temporary())
  if not folder then
    warn.failed("%s", wrong)
    return nil
  end
  local path = folder .. "/run.vmprof"
  local args = {"--quiet", "--out", path, "--alloc", o.alloc or M.PERIOD}
  table.move(o.files, 1, #o.files, #args + 1, args)
  local signal
  local code = run.run(args, setmetatable({signalled = function(n) signal = n end}, {__index = world}))
  if code == 0 and not signal then
    return path, folder
  end
  host.discard(folder)
  warn.failed("the script '%s' %s; nothing is checked", o.files[1], signal and
    ("was ended by signal %d"):format(signal) or ("failed with status %d"):format(code))
  return nil
end

local function ispart(o)
  return (o.exclude or range.of(o)) and true
end

-- Returns true if the result of the check is known without samples. This is so if the exact number of bytes
-- that the whole run allocated is known, and is at most each limit for lines and for live objects. Such a
-- number does not suffice for the options --no-leak and --baseline, or for a part of the run.
local function decided(profile, o)
  local n, least = profile.allocated, o["max-alive"] or math.huge
  for _, wanted in ipairs(o["max-line"] or {}) do
    least = math.min(least, wanted.bytes)
  end
  return n and n <= least and not (profile.message or ispart(o) or o["no-leak"] or o.baseline)
end

-- Reads a profile. Returns the profile and the totals of the part that --from, --until and --exclude select,
-- or nil after an error message if it cannot be read or has no samples. 'name': its name in messages.
local function load(path, name, o, world, warn)
  local exclude, profile, message = o.exclude
  if range.of(o) then
    profile, message = range.read(world, path, range.of(o), {})
    message = message and ("'%s': %s"):format(name, message)
  else
    profile, message = world.read(path, {bins = o["no-leak"] and leaks.BINS or nil})
  end
  if not profile then
    warn.failed("%s", message)
    return nil
  end
  warn.partial(name, profile.message, profile.samples, "only the readable part is checked")
  if profile.samples == 0 and not decided(profile, o) then
    if not profile.message then
      warn.failed("'%s' has no allocation samples; profile again with a smaller --alloc", name)
    end
    return nil
  end
  local t = totals.of(profile, exclude and {covered = focus.without(profile, exclude)})
  if exclude and t.whole.samples == 0 then
    warn.failed("'%s': --exclude %s leaves out all samples; give a longer TEXT", name, exclude)
    return nil
  end
  return profile, t
end

-- Returns a message if it is unknown whether the live bytes exceed 'limit' (--max-alive, bytes); else nil.
-- The deaths of some objects were not recorded, so these objects count as alive. If the live bytes exceed the
-- limit only because of them, the result is unknown. 'whole': sums of all samples.
local function undecided(limit, profile, whole)
  local n = profile.unfollowed or 0
  local unknown = n * whole.alivebytes / math.max(whole.alive, 1)
  if whole.alivebytes > limit and whole.alivebytes - unknown <= limit then
    return ("--max-alive: whether %s are alive is unknown, because too many samples survived; " ..
            "give a larger --alloc"):format(units.plural(n, "sample"))
  end
end

-- Returns a message if the profile, with the totals t, lacks data that one of the options o needs, or nil if
-- it has all.
local function missing(o, profile, t)
  if o["max-peak"] and not profile.course then
    return "--max-peak: the profile records no garbage collection; profile a longer run"
  elseif o["max-alive"] and profile.samples > 0 and not (profile.fates and (profile.followed or 0) > 0) then
    return "--max-alive: the profile does not record which objects died, because another profiler wrote " ..
           "the profile, or the run had no collection; profile a longer run with asamp run"
  elseif o["max-alive"] and undecided(o["max-alive"], profile, t.whole) then
    return undecided(o["max-alive"], profile, t.whole)
  elseif o["no-leak"] and profile.profiles then
    return "--no-leak: the profile was merged from several runs; check the profile of each run"
  elseif o["no-leak"] and not (profile.fates and profile.lines) then
    return "--no-leak: the profile does not record which objects survived, or has no line numbers; " ..
           "make a profile with asamp run"
  end
end

-- Returns a message if the options o combine an option for the whole run with one that selects a part; else
-- nil.
local function unfit(o)
  local part = o.exclude and "exclude" or o.from and "from" or "until"
  if not ispart(o) then
    return nil
  elseif o["max-peak"] then
    return ("--max-peak always checks the whole heap: leave --%s out, or use --max-alive"):format(part)
  elseif o["no-leak"] then
    return ("--no-leak always checks the whole run: leave --%s out, or use --max-alive"):format(part)
  end
  return range.wrong(o)
end

local function write(path, text, warn)
  local ok, wrong = convert.write(path, text, true)
  return ok and 0 or warn.failed("%s", wrong)
end

-- Runs the script, or reads the profile, and performs all checks. Returns nil after an error message; else
-- the two parameters of asamp.show.gates.lines:
--
--   1. the list of checks
--   2. the smallest increases over the baseline that the check detects; nil: no --baseline
local function checked(o, world, warn)
  local path, isscript, folder = o.files[1], o.files[1]:find "%.lua$"
  if isscript then
    path, folder = profiled(o, world, warn)
    if not path then
      return nil
    end
  end
  local profile, t = load(path, o.files[1], o, world, warn)
  if isscript then
    host.discard(folder)
  end
  local wrong = profile and missing(o, profile, t)
  if wrong then
    warn.failed("%s", wrong)
  end
  if wrong or not profile then
    return nil
  end
  local leak, lacks
  if o["no-leak"] then
    leak, lacks = leaks.of(profile)
    leak = leak or false
  end
  local checks = gates.limits(profile, t, {
    allocated = o["max-allocated"], peak = o["max-peak"], alive = o["max-alive"],
    lines = o["max-line"], leaks = leak, lacks = lacks, cut = ispart(o)})
  local sight
  if o.baseline then
    local before, a = load(o.baseline, o.baseline, o, world, warn)
    if not before then
      return nil
    end
    local changes
    changes, sight = gates.changes(before, a, profile, t, o.tolerance or 5, ispart(o))
    table.move(changes, 1, #changes, #checks + 1, checks)
  end
  return checks, sight
end

M.run = options.command(DESCRIPTION, function(o, world, warn)
  local path = o.files[1]
  if not path:find "%.lua$" and #o.files > 1 then
    return warn.wrong("one profile at a time, got '%s' and '%s'", path, o.files[2])
  elseif o.tolerance and not o.baseline then
    return warn.wrong("--tolerance is the allowed increase over the baseline: give --baseline FILE, too")
  elseif not (o["max-allocated"] or o["max-peak"] or o["max-alive"] or o["max-line"] or
              o["no-leak"] or o.baseline) then
    return warn.wrong("nothing to check: give --max-allocated or another limit, --no-leak, or --baseline")
  end
  local wrong = unfit(o)
  if wrong then
    return warn.wrong("%s", wrong)
  end
  local failed, message = warn.failed, nil
  function warn.failed(text, ...)
    message = text:format(...)
    return failed(text, ...)
  end
  local checks, sight = checked(o, world, warn)
  world.out(show.lines(checks or {}, sight))
  if o.github then
    world.out(show.github(checks or {}, not checks and message))
  end
  local code = o.junit and write(o.junit, show.junit(checks or {}, path, not checks and message), warn) or 0
  for _, check in ipairs(checks or {{ok = false}}) do
    code = check.ok and code or 1
  end
  return code
end)

return M
