-- SPDX-License-Identifier: MIT
-- The command `asamp run`: runs a script as `lua -l profiler` does, or a program with the variable ASAMP,
-- and prints a short report at its end. All output of the command goes to stderr; the script keeps its
-- streams, exit code or signal.

local convert = require "profiler.convert"
local host = require "asamp.host"
local keys = require "profiler.options"
local layout = require "asamp.show.layout"
local options = require "asamp.cli.options"
local programs = require "asamp.cli.programs"

local M = {}

local NOSAMPLE = "no profile: signal %d ended the program before a sample was written to '%s'"
local UNWRITABLE = "no profile: the %s cannot be written; --out FILE writes the profile to another place"

M.summary = "profiles a script or a program, ends with a short report"

local ROWS = 5  -- rows of each table of the short report

-- Numbers of terminal rows:
--
--   - OTHERS: rows that are left free for other text: two for the profiler's line, two empty rows, and one
--     for the shell's prompt
--   - LEAST: the short report is made for at least this number of rows, even if the terminal has fewer
local OTHERS, LEAST = 5, 24

-- Defaults for scripts; bench/defaults measures their cost.
--
--   - alloc: bytes between allocation samples: short enough for a useful profile of a run of 50 ms
--   - rate: allocation samples per second at most: limits the number of samples in a run of hours
--   - time: time samples per second
--   - copies: "1": copied bytes are sampled
M.SCRIPT = {alloc = "32K", rate = "1000", time = "100", copies = "1"}

local function like(pattern, wants)
  return function(value)
    if value:find(pattern) then
      return value
    end
    return nil, wants
  end
end

-- The options of asamp run. Only the form of values is checked here; profiler.options checks their ranges.
local DESCRIPTION = {
  command = "run", arguments = "[--] SCRIPT|PROGRAM [arguments]", what = "script",
  least = 1, most = math.huge, rest = 1,
  about = "Runs a Lua script under the profiler, and writes a profile for the other commands. " ..
    "Prints a short report on stderr. " ..
    "For a PROGRAM, sets the variable ASAMP, " ..
    "so that all Lua states that the program creates with liblua5.4.so.0 are profiled. " ..
    "Ends with the script's exit code, or by the signal that ended the script.",
  {"alloc", "BYTES", "takes a sample every BYTES allocated, on average, such as 64K; 0: none " ..
    "(default 32K, for a PROGRAM 512K). Fewer bytes give more detail",
    like("^%d+[KMGkmg]?$", "a number of bytes such as 65536 or 64K")},
  {"rate", "N", "takes at most N allocation samples a second, on average " ..
    "(default 1000 if --alloc is not given): if there are more, the period (--alloc) is doubled",
    like("^%d+$", "a whole number of samples a second")},
  {"malloc", "BYTES", "also samples native memory, which the whole process allocates with malloc. " ..
    "Takes a sample every BYTES, on average (--malloc without BYTES: 512K)",
    like("^%d+[KMGkmg]?$", "a number of bytes such as 65536 or 64K"), bare = "512K"},
  {"copies", nil, "also samples bytes that are copied: into new strings, or because a buffer or table grows"},
  {"time", "RATE", "takes RATE time samples per second; 0: none (default 100, for a PROGRAM 0)",
    like("^%d+$", "a whole number of samples a second")},
  {"wall", nil, "samples wall-clock time instead of CPU time"},
  {"exact", nil, "takes a separate stack for each sample of CPU time; " ..
    "without --exact, most kernels allow at most 250 stacks a second"},
  {"no-native", nil, "records no C stacks, only the C functions that Lua called"},
  {"fixed", nil, "takes allocation samples at fixed intervals, not at random ones"},
  {"seed", "N", "sets the seed of the random intervals between allocation samples. " ..
    "Runs with the same integer N use the same intervals",
    like("^%-?%d+$", "an integer")},
  {"holders", "WHEN", "records the references that keep objects alive (holders). " ..
    "1 (the default): at the end. 0: never. 60s, 5m, 1h: at the end and at this interval",
    like("^%d+[smh]?$", "1, 0, or a time such as 60s, 5m or 1h")},
  {"prove-leaks", nil, "for a SCRIPT: measures how many bytes would be freed without the reference " ..
    "that causes a likely leak. Needs a heap snapshot, which a forked process writes"},
  {"out", "OUT", "path of the profile (default SCRIPT.PID.vmprof in the current folder). " ..
    "%p is the process id, %t the start time of the process, %h the name of the host. " ..
    "An existing profile is replaced. If another file has this path, the program is not run",
    like("^[^,%z]+$", "a path without commas"), short = "o"},
  {"overwrite", nil, "replaces the file OUT even if it is not a profile"},
  {"format", "NAME", "format of the profile: stock (the default) is for VMProf's tools. " ..
    "extended is for forks of VMProf with allocation profiles",
    options.oneof{"stock", "extended"}},
  {"plain", nil, "does not compress the profile"},
  {"quiet", nil, "prints no report at the end; errors are still printed"},
  foreign = function(word)
    return word:find "^%-[eliEvW]" and ("'%s' is an option of lua, not of asamp run: " ..
      "give a script, or - to read a script from standard input"):format(word) or nil
  end,
  after = "The variable LUA_PROFILER sets the options that are not given on the command line.",
  exits = "Exit codes: the script's own; 1 the script could not be started, " ..
    "or its exit code is 0 but no profile was written; 2 wrong arguments.",
}

function M.usage()
  return options.usage(DESCRIPTION)
end

-- Sets the default values of a script's run (M.SCRIPT) in the settings t. Keeps values that are set already.
-- All values are texts.
local function addscript(t)
  if not t.alloc then
    t.alloc, t.rate = M.SCRIPT.alloc, t.rate or M.SCRIPT.rate
  end
  t.time = t.time or M.SCRIPT.time
  if t.alloc:find "^0*%D*$" == nil and t.format ~= "extended" then
    t.copies = t.copies or M.SCRIPT.copies
  end
end

-- Returns the settings of a run as two tables, the first one with texts, the second one with checked values,
-- or nil and a message on failure. A setting is from the options 'o' or, if these lack it, from 'inherited',
-- the text of LUA_PROFILER. 'isprogram': false if a Lua script is run.
local function settings(o, inherited, isprogram)
  local t, wrong = keys.read(inherited)
  if not t then
    return nil, "LUA_PROFILER: " .. wrong
  end
  local checked
  checked, wrong = keys.check(t)
  if not checked then
    return nil, "LUA_PROFILER: " .. wrong
  end
  for _, key in ipairs{"alloc", "rate", "malloc", "time", "seed", "holders", "out", "format"} do
    t[key] = o[key] or t[key]
  end
  for _, key in ipairs{"copies", "wall", "exact", "fixed", "quiet", "overwrite"} do
    t[key] = o[key] and "1" or t[key]
  end
  t.snapshot = o["prove-leaks"] and "1" or t.snapshot
  -- With --out, the new profile may replace that of a previous run with the same path.
  if o.out and not t.overwrite then
    t.overwrite = "profile"
  end
  t.native = o["no-native"] and "0" or t.native
  t.compress = o.plain and "0" or t.compress
  if not isprogram then
    addscript(t)
  end
  checked, wrong = keys.check(t)
  if not checked then
    return nil, wrong
  elseif checked.alloc == 0 and (checked.time or 0) == 0 and (checked.malloc or 0) == 0 then
    return nil, "nothing to sample: --alloc and --time are 0, and --malloc is not given; set one of them"
  elseif (o.wall or o.exact) and (checked.time or 0) == 0 then
    return nil, ("--%s needs time samples, but the rate is 0: give --time RATE, too"):format(
      o.wall and "wall" or "exact")
  elseif t.out == "-" then
    return nil, "a profile cannot be written to stdout, which the script uses: " ..
      "give --out a path (./- for a file with the name -)"
  elseif t.out and host.samefile(t.out, o.files[1]) then
    return nil, require "asamp.cli.results".REPLACES:format(t.out, o.files[1])
  end
  return t, checked
end

-- Returns the first argument of the script (files[2] and later) that is also an option of asamp run, or nil
-- if there is none.
local function misplaced(files)
  for i = 2, #files do
    local name = files[i]:match "^%-%-([%a-]+)"
    if files[i] == "--" then
      return nil
    end
    for _, option in ipairs(DESCRIPTION) do
      if option[1] == name then
        return "--" .. name
      end
    end
  end
end

-- Returns true if a file can be created in a folder. 'folder': its path with a slash at the end; "": the
-- current folder.
local function iswritable(folder)
  local path = ("%s.asamp.%d"):format(folder, host.clock())
  local file = io.open(path, "w")
  if file then
    file:close()
    os.remove(path)
  end
  return file ~= nil
end

local function isfolder(path)
  return host.samefile(path, path .. "/.")
end

-- Returns the reason why the script cannot be read, or nil. "-" is standard input. Pipes are not
-- opened: their contents are for the script.
local function unreadable(script)
  if script == "-" then
    return nil
  elseif isfolder(script) then
    return "Is a directory"
  elseif host.isfile(script) or not host.samefile(script, script) then
    local file, message = io.open(script)
    if not file then
      return (message:gsub("^.*: ", ""))
    end
    file:close()
  end
end

local function totext(t)
  local items = {}
  for key, value in pairs(t) do
    items[#items + 1] = key .. "=" .. value
  end
  table.sort(items)
  return table.concat(items, ",")
end

-- Returns the words before the script in the command line that runs it under the profiler. They have the
-- effect of the interpreter's option `-l profiler`, but always load the profiler of this installation
-- (profiler/start.lua).
local function starting(interpreter, script)
  local start = assert(package.searchpath("profiler.start", package.path))
  local core = assert(package.searchpath("profiler.core", package.cpath))
  local words = {interpreter, "-e", ("assert(loadfile(%q))(nil, %q, %q, true)"):format(
    start, start:match "^(.*)profiler/start%.luac?$", core:match "^(.*)profiler/core%.so$")}
  if script:find "^%-." then
    words[4] = "--"
  end
  return words
end

-- Returns the environment variables that preload the profiler's malloc, which samples native memory with this
-- period and seed. Returns {} if the period is 0, or nil and a message if native memory cannot be sampled.
local function preloading(period, seed)
  if period == 0 then
    return {}
  end
  local library = assert(package.searchpath("profiler.malloc", package.cpath))
  if library:find "[ :]" then
    return nil, ("--malloc: the loader cannot preload '%s', because its path has spaces or colons; " ..
      "install Asamp in a folder whose path has neither"):format(library)
  end
  local others = os.getenv "LD_PRELOAD"
  return {LD_PRELOAD = library .. (others and others ~= "" and ":" .. others or ""),
          ASAMP_MALLOC = ("%d%s"):format(period, seed and (",%d"):format((seed | 1) & math.maxinteger) or "")}
end

-- Returns the path that the profiler of process 'pid' tries first for its profile. 'out': path with escapes
-- such as %p; nil: the default path for the script 'script'.
local function expected(out, script, pid)
  if not out then
    return keys.path(script, pid)
  end
  return out:find("%", 1, true) and require("profiler.core").path(out, pid) or out
end

-- Returns the n-th file name that the profiler tries for 'path': app.vmprof, app.2.vmprof, ...
local function numbered(path, n)
  if n == 1 then
    return path
  end
  local stem, ending = path:match "^(.+)(%.vmprof)$"
  if not stem then
    stem, ending = path:match "^(.+)(%.vmprof%.gz)$"
  end
  return ("%s.%d%s"):format(stem or path, n, ending or "")
end

-- Returns the current time as {second, clock}, which isnewer compares with the start times of profiles.
local function now()
  return {second = os.time(), clock = host.clock()}
end

-- Returns true if a profile was started in the run that started at 'since', a result of now().
--
--   - second: start of the profile in seconds since the epoch
--   - clock: its start by the monotonic clock in us; 0: unknown
local function isnewer(second, clock, since)
  return second >= since.second and (clock == 0 or clock >= since.clock)
end

-- Returns the path of the profile that process 'pid' wrote in the run that started at 'since'. This is
-- 'path', or 'path' with a number (numbered). If there is no such profile, returns three values:
--
--   1. nil
--   2. the reason
--   3. true if 'path' is missing, or is a file that is neither a profile nor empty. The process itself has
--      printed the reason in these cases, unless a signal ended it
local function find(path, pid, since)
  local why, absent
  for n = 1, math.huge do
    local name = numbered(path, n)
    if n > 1 and not host.samefile(name, name) then
      return nil, why, absent
    elseif not host.isfile(name) and host.samefile(name, name) and not isfolder(name) then
      -- This is not a regular file but, for example, a pipe, which this function must not read.
      return name
    end
    local version, id, second, clock = convert.version(name)
    local newer = version and isnewer(second, clock, since)
    if newer and id == pid then
      return name
    end
    if n == 1 then
      absent = not version and convert.kind(name) ~= "an empty file"
    end
    why = why or not version and id or newer and
          ("another run has overwritten '%s' with its profile; " ..
           "--out app.%%p.vmprof gives each run its own file (%%p is the process id)"):format(name) or
          ("this run did not write the file '%s'; it is from an earlier run"):format(name)
  end
end

-- Returns the list of the paths of the profiles that process 'pid' and its children wrote. The profile of
-- 'pid' is the first element, and also the field 'own' of the list. The others follow, the largest first.
--
--   - pattern: path with escapes such as %p
--   - since: start of the run (now)
--   - before: files that matched the pattern before the run (programs.profiles)
local function findall(pattern, pid, since, before)
  local list = {}
  for _, path in ipairs(programs.changed(pattern, before)) do
    local version, id, second, clock = convert.version(path)
    if version and isnewer(second, clock, since) then
      table.insert(list, id == pid and 1 or #list + 1, path)
      list.own = id == pid and path or list.own
    end
  end
  return list
end

-- Proves the likely leaks of a profile with the heap snapshot that the program wrote at its end: computes the
-- bytes that would be freed without the reference that keeps them alive (asamp.sums.proof). Returns the
-- snapshot's path, or nil after a message.
--
--   - judged: the profile's verdict (asamp.sums.verdict); receives the proofs
--   - from: path of the profile
local function proved(profile, judged, from, world, warn)
  local proof, proving = require "asamp.sums.proof", require "asamp.cli.proving"
  local path, heap, message
  path, message = proving.find(profile)
  if path then
    heap, message = proving.open(path, from, world.progress)
  end
  if not heap then
    warn.failed("no proof: %s", message)
    return nil
  end
  proof.add(heap, judged)
  heap:close()
  return path
end

-- Profiles of fewer bytes are small: their report needs little memory, so it is made without garbage
-- collections.
local SMALL = 65536

local function issmall(path)
  if not path or not host.isfile(path) then
    return false
  end
  local file <close> = io.open(path)
  return file and file:seek "end" < SMALL
end

-- Prints the short report of a run. Loads the modules of reports only when it is called. Returns true if the
-- profile could be read.
--
--   - path: the profile; nil: there is none for the reason 'message'
--   - how, status: how the program ended: "exit" or "signal", and its exit code or signal
--   - prove: true: proves likely leaks
local function shortreport(path, message, how, status, prove, world, warn)
  local signal = how == "signal" and status
  -- The modules loaded below create no garbage, so collections would only cost time.
  collectgarbage "stop"
  local copies, leaks = require "asamp.sums.copies", require "asamp.sums.leaks"
  local native, text = require "asamp.sums.native", require "asamp.show.text"
  local totals, verdict = require "asamp.sums.totals", require "asamp.sums.verdict"
  local profile
  if prove or not issmall(path) then
    collectgarbage "restart"
  end
  if path then
    profile, message = world.read(path, {bins = leaks.BINS})
  end
  if not profile then
    warn.failed(path and "no profile: %s; --out FILE writes the profile to another place" or "no profile: %s",
                message)
    return false
  end
  local t = totals.of(profile)
  if #t.measures == 0 and signal then
    warn.failed(NOSAMPLE, signal, path)
    return true
  elseif #t.measures == 0 and profile.message then
    warn.partial(path, profile.message, 0)
    return true
  elseif #t.measures == 0 and status ~= 0 then
    local removed = host.isfile(path) and os.remove(path)
    warn.failed("no report: the script ended with status %d before the first sample%s", status,
                removed and "; its profile, which was empty, is removed" or "")
    return true
  elseif profile.message and signal then
    warn.failed("signal %d ended the program; '%s' has the samples up to then; " ..
                "complete the file with asamp repair: %s", signal, path, profile.message)
  elseif profile.message then
    warn.failed("'%s': %s", path, profile.message)
  end
  local copied = copies.of(profile)
  local judged = verdict.of(profile, t, leaks.of(profile), copied)
  local snapshot = prove and #judged.leaks > 0 and proved(profile, judged, path, world, warn)
  local more = ("asamp report %s shows more.\n"):format(layout.pathword(path))
  local rows = world.errrows and
    math.max(world.errrows, LEAST) - OTHERS - layout.rows(more, world.errcolumns)
  world.err("\n" .. layout.screen(text.render(profile, t, {
    top = ROWS, color = world.errcolor, width = world.errcolumns,
    show = {functions = true, lines = true, copies = true, native = true, holders = true}, brief = true,
    copies = copied, native = native.of(profile), holders = verdict.held(profile, ROWS),
    verdict = judged, rows = rows}), world.errcolor))
  if #t.measures > 0 then
    world.err("\n" .. more)
  end
  if snapshot then
    world.err(("asamp heap --prove=%s %s shows the proofs again.\n"):format(layout.pathword(path),
                                                                           layout.pathword(snapshot)))
  end
  return true
end

-- Ends the command as a program ended. If the program exited ('how' is "exit"), returns its exit code
-- 'status', or 1 if that is 0 and there is no profile. If a signal ended it ('how' is "signal"), sends the
-- signal 'status' to this process, or calls world.signalled with the signal.
--
-- isprofiled: true: there is a profile
local function ended(how, status, isprofiled, world)
  if how == "signal" then
    io.stdout:flush()
    local signalled = world.signalled or host.raise
    signalled(status)
  end
  return status == 0 and not isprofiled and 1 or status
end

-- Returns the message that a program has written no profile. 'out': path of the profile, with escapes.
local function none(program, out)
  local folder = out:match "^.*/" or ""
  if programs.hasown(program) then
    return ("no profile: '%s' contains its own Lua, which Asamp's library cannot replace; " ..
            "link the program to Asamp's library, or run a script with asamp run SCRIPT"):format(program)
  elseif not iswritable(folder) then
    return UNWRITABLE:format(folder == "" and "current folder" or ("folder '%s'"):format(folder))
  end
  return ("no profile: '%s' and its child processes created no Lua state with Asamp's liblua5.4.so.0. " ..
          "Check with ldd which Lua they use, and that the children inherit the environment. " ..
          "A process that cannot be profiled writes the reason to its log"):format(program)
end

-- Runs a program that is not a Lua script, and prints the short report. Returns the exit code.
--
--   - program: its path
--   - t: settings of the run (settings)
--   - words: the command line
--   - environment: environment variables for the program, to which this function adds its own
local function runprogram(program, t, words, environment, world, warn)
  local quiet, since = t.quiet and t.quiet ~= "0", now()
  local note = programs.foreign(program, world.interpreter)
  if note then
    warn.failed("the Lua states of '%s' cannot be profiled: %s", program, note)
  end
  t.quiet, words[1] = "1", program
  t.out = t.out or (program:match "([^/]+)$"):gsub("%%", "%%%%") .. ".%p.vmprof"
  environment.ASAMP = totext(t)
  environment.LD_LIBRARY_PATH = programs.librarypath(world.interpreter)
  local before = programs.profiles(t.out)
  local how, status, pid = host.run(words, environment)
  if not how then
    return warn.failed("%s", status)
  end
  local list = findall(t.out, pid, since, before)
  -- A pipe, or another file that is not a regular one, has received the profile.
  local isprofiled = #list > 0 or host.samefile(t.out, t.out) and not host.isfile(t.out)
  if not isprofiled and not note then
    warn.failed("%s", none(program, t.out))
  elseif #list > 0 and not quiet then
    isprofiled = shortreport(list[1], nil, how, status, false, world, warn)
  end
  for i = 2, quiet and 0 or #list do
    world.err(("asamp run: a child process has also written a profile, '%s'\n"):format(
      layout.printable(list[i])))
  end
  return ended(how, status, isprofiled, world)
end

--- Runs the command. 'world': input and output (asamp.lua). Returns the script's exit code, or 1 if that is 0
-- and there is no profile, or 2 for wrong arguments. If a signal ended the script, ends this process by the
-- same signal, or calls world.signalled if that is set.
M.run = options.command(DESCRIPTION, function(o, world, warn)
  local script, since = o.files[1], now()
  local program, inpath = programs.find(script)
  if inpath and not program then
    script, o.files[1] = inpath, inpath
  end
  local t, checked = settings(o, os.getenv "LUA_PROFILER" or "", program ~= nil)
  if not t then
    return warn.wrong("%s", checked)
  end
  local more, wrong = preloading(checked.malloc or 0, checked.seed)
  if not more then
    return warn.failed("%s", wrong)
  end
  if program and t.snapshot == "1" then
    return warn.wrong("--prove-leaks is only for a script; for a program, use asamp heap --prove PID")
  elseif program then
    -- In a script, the profiler itself warns. So asamp run warns only for programs.
    local warning = keys.unheeded(checked)
    if warning then
      warn.failed("%s", warning)
    end
    return runprogram(program, t, o.files, more, world, warn)
  end
  wrong = unreadable(script)
  if wrong and not script:find "%.lua$" and not host.samefile(script, script) then
    return warn.failed("there is no script '%s' and no program of that name%s", script,
                       script:find "/" and "" or " in PATH")
  elseif wrong then
    return warn.failed("cannot read script '%s': %s", script, wrong)
  end
  local quiet = t.quiet and t.quiet ~= "0"
  local own = not quiet and misplaced(o.files)
  if own then
    warn.failed("%s after '%s' is passed to the script; options of asamp run come before the script",
                own, script)
  end
  local words = starting(world.interpreter, script)
  table.move(o.files, 1, #o.files, #words + 1, words)
  -- With the value "empty", the profiler prints nothing about an empty profile. The code below reports or
  -- removes it.
  t.quiet = quiet and "1" or "empty"
  more.LUA_PROFILER = totext(t)
  local timed = t.out and t.out:find "%%t"  -- the file's name has the time at which the process starts
  local before = timed and programs.profiles(t.out)
  local how, status, pid = host.run(words, more)
  if not how then
    return warn.failed("%s", status)
  end
  local name = expected(t.out, script, pid)
  local path, message, absent = find(name, pid, since)
  if not path and timed then
    path = findall(t.out, pid, since, before).own
  end
  local isprofiled = path ~= nil
  if not path and how == "signal" and convert.kind(name) == "an empty file" then
    warn.failed(NOSAMPLE, status, name)
  elseif path and not quiet or not path and (how == "signal" or not absent) then
    isprofiled = shortreport(path, message, how, status, t.snapshot == "1", world, warn) or
                 path ~= nil and not host.isfile(path)
  elseif not path and not t.out and not iswritable "" then
    warn.failed(UNWRITABLE, "current folder")
  end
  return ended(how, status, isprofiled, world)
end)

return M
