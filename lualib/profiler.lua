-- SPDX-License-Identifier: MIT
-- The profiler, the only module that programs require: starts and stops sampling, and decides the path of
-- the profile. Also starts the profile of a whole run (LUA_PROFILER, `-l profiler`). profiler.options checks
-- the options; profiler.core takes the samples.
--
-- Wrong arguments raise an error. Failures of the environment (a path that cannot be written) return nil,
-- message, errno.

local loaded, core = pcall(require, "profiler.core")
-- If profiler/core.so cannot call Lua's functions, it cannot even raise an error. It then returns no table.
if loaded and type(core) ~= "table" then
  error("profiler: this program does not export the functions of its Lua, so no module can call them: "
    .. "link it with -Wl,-E -Wl,--whole-archive liblua.a -Wl,--no-whole-archive, or to liblua5.4.so.0", 0)
elseif not loaded and tostring(core):find("two copies of Lua", 1, true) then
  error("profiler: " .. core, 0)
elseif not loaded and tostring(core):find("failed to map segment", 1, true) then
  error("profiler: not enough memory to load the profiler; raise the limit of address space (ulimit -v): "
    .. tostring(core):gsub("%s+", " "), 0)
elseif not loaded and tostring(core):find("cannot open shared object file", 1, true) then
  error("profiler: a library that profiler/core.so needs cannot be loaded; install that library: "
    .. tostring(core):gsub("%s+", " "), 0)
elseif not loaded then
  error("profiler: this Lua is not Asamp's, or its module profiler/core.so is not in package.cpath; "
    .. "use asamp run, or add ;; to LUA_CPATH ("
    .. tostring(core):gsub("%s+", " ") .. ")", 0)
end

-- A program that clears package.loaded and requires the module again gets this instance: the
-- session and the replaced os.exit belong to it.
if core.module then return core.module end

local options = require "profiler.options"

local M = {_VERSION = core.release}

local DEFAULT_PERIOD = 512 * 1024

local exit = os.exit

-- {== sessions ==============================================================

-- Sampling options of the open session: {period (bytes), random, wall, exact}, or nil if no session is open.
local session

-- Returns the open session, or nil. A forked child has none: the file belongs to its parent.
local function current()
  if session and not core.stats().open then session = nil end
  return session
end

-- Returns three values about the file of the profile:
--
--   1. its path (default: SCRIPT.PID.vmprof in the current folder)
--   2. the number n of the first path to try: SCRIPT.PID.n.vmprof, or the path without a number if n is 1
--   3. true if other numbers may be tried when the file exists, because 'out' is nil or has an escape such as
--      %p
--
-- out: the option 'out' of the session
local function place(out)
  local script = type(arg) == "table" and type(arg[0]) == "string" and arg[0] or nil
  local pid = core.getpid()
  local path = out and core.path(out, pid) or options.path(script, pid)
  return path, out and 1 or core.session(), not out or out:find("%", 1, true) ~= nil
end

local function command()
  if type(arg) ~= "table" then return nil end
  local words, first = {}, 0
  while arg[first - 1] do first = first - 1 end
  for i = first, #arg do words[#words + 1] = tostring(arg[i]) end
  return table.concat(words, " ")
end

local function default(v, d)
  if v == nil then return d end
  return v
end

local SECOND = 1000000000

-- Returns the nanoseconds between time samples for the options o of a session; 0: time is not sampled.
local function interval(o)
  return (o.time or 0) > 0 and SECOND // o.time or 0
end

local function open(o, every, summary)
  local path, number, made = place(o.out)
  local ok, message, errno = core.open{
    out = path,
    number = number,
    made = made,
    replace = options.REPLACE[o.overwrite or false],
    command = command(),
    extended = o.format == "extended",
    compress = default(o.compress, true),
    native = default(o.native, true),
    random = not o.fixed,
    seed = o.seed,
    summary = summary,
    holders = default(o.holders, true) ~= false,
    holdersevery = (math.tointeger(o.holders) or 0) * SECOND,
    snapshot = o.snapshot,
    period = every,
    timeperiod = interval(o),
    wall = o.wall,
    rate = o.rate,
    mallocs = o.malloc or 0,
    copies = o.copies,
    ring = o.ring and (o.ring.bytes or options.RING),
    ringtime = o.ring and o.ring.seconds and o.ring.seconds * SECOND,
  }
  if not ok then return nil, message, errno end
  session = { period = every, random = not o.fixed, wall = o.wall or false,
    exact = o.exact or false }
  return true
end

-- Starts to take the samples of a session. There are three possible results:
--
--   - true
--   - true, message, errno: only time cannot be sampled
--   - nil, message, errno: nothing can be sampled; the session is closed
--
-- o: options of the session
-- every: bytes between allocation samples; 0: none
local function start(o, every)
  local message, errno
  if interval(o) > 0 then
    local ok
    ok, message, errno = core.timeon(interval(o), session.wall, session.exact)
    if not ok and every == 0 and (o.malloc or 0) == 0 then
      session = nil
      core.close()
      return nil, message, errno
    end
  end
  if every > 0 then core.on(every, session.random) end
  return true, message, errno
end

-- ==}

-- {== the module ============================================================

--- Opens a session and starts sampling. There are three possible results:
--
--   - true
--   - true, message, errno: only time cannot be sampled
--   - nil, message, errno: the file cannot be created, or nothing can be sampled
--
-- t: options of the session; doc/reference.md lists names and defaults
function M.enable(t)
  if t ~= nil and type(t) ~= "table" then
    error(("bad argument #1 to 'enable' (table of options expected, got %s)"):format(type(t)), 2)
  end
  local o, wrong = options.check(t or {})
  if not o then error(("bad argument #1 to 'enable' (%s)"):format(wrong), 2) end
  if current() then
    error("the profiler is enabled already; call profiler.disable() first", 2)
  end
  local every = o.alloc or DEFAULT_PERIOD
  local ok, message, errno = open(o, every > 0 and every or DEFAULT_PERIOD)
  if not ok then return nil, message, errno end
  return start(o, every)
end

--- Closes the session: stops sampling and completes the file. Returns true, or false if there was
-- no session, or nil, message, errno if something could not be written.
function M.disable()
  if not current() then return false end
  session = nil
  return core.close()
end

-- Checks the options of M.alloc_start or M.time_start. Returns a checked copy. If an option is wrong, raises
-- an error with the position of the call of that function.
--
-- name: "alloc_start" or "time_start"
-- o: the options, or nil
-- own: "alloc" or "time": the option that the function's first argument sets; raises an error if o has it
-- other: the option that starts the other kind of samples; raises an error if o has it
local function startoptions(name, o, own, other)
  if o ~= nil and type(o) ~= "table" then
    error(("bad argument #2 to '%s' (table of options expected, got %s)"):format(name, type(o)), 3)
  end
  local checked, wrong = options.check(o or {})
  if not checked then error(("bad argument #2 to '%s' (%s)"):format(name, wrong), 3) end
  if checked[own] ~= nil then
    error(("bad argument #2 to '%s' (the value of '%s' must be the first argument)"):format(name, own), 3)
  end
  if checked[other] ~= nil then
    error(("bad argument #2 to '%s' (option '%s' is only for profiler.%s_start; leave it out)")
      :format(name, other, other), 3)
  end
  return checked
end

--- Samples one allocation every n bytes, on average. Opens a session if none is open. Returns true, or nil,
-- message, errno if the file cannot be created.
--
-- o: options of the new session, as for M.enable; the options 'alloc' and 'time' are refused
function M.alloc_start(n, o)
  local every, wrong = options.period(n)
  if not every then error(("bad argument #1 to 'alloc_start' (%s)"):format(wrong), 2) end
  local checked = startoptions("alloc_start", o, "alloc", "time")
  if core.stats().on then
    error("allocations are sampled already; "
      .. "call profiler.alloc_stop() first, or profiler.period(n) to set another period", 2)
  end
  if current() then
    if next(checked) ~= nil then
      error("bad argument #2 to 'alloc_start' (the options were set when sampling started; "
        .. "call profiler.disable() first)", 2)
    end
  else
    local ok, message, errno = open(checked, every)
    if not ok then return nil, message, errno end
  end
  session.period = every
  core.on(every, session.random)
  return true
end

--- Stops sampling allocations. The session stays open. Returns true, or false if allocations were
-- not sampled.
function M.alloc_stop()
  return core.off()
end

--- Takes 'hz' time samples (1 to 30000) per second of CPU time of the calling OS thread. Opens a session if
-- none is open. Returns true, or nil, message, errno on failure.
--
-- o: options of the new session, as for M.enable; the options 'alloc' and 'time' are refused. If a session is
-- open, only 'wall' and 'exact' are allowed
function M.time_start(hz, o)
  local n, wrong = options.rate(hz)
  if not n then error(("bad argument #1 to 'time_start' (%s)"):format(wrong), 2) end
  local checked = startoptions("time_start", o, "time", "alloc")
  if core.stats().timing then
    error("time is sampled already; call profiler.time_stop() first", 2)
  end
  checked.time = n
  if current() then
    local wall = default(checked.wall, session.wall)
    local exact = default(checked.exact, session.exact)
    checked.wall, checked.exact, checked.time = nil, nil, nil
    if next(checked) ~= nil then
      error("bad argument #2 to 'time_start' (the options were set when sampling started; "
        .. "call profiler.disable() first)", 2)
    end
    return core.timeon(SECOND // n, wall, exact)
  end
  local ok, message, errno = open(checked, DEFAULT_PERIOD)
  if not ok then return nil, message, errno end
  return start(checked, 0)
end

--- Stops sampling time. The session stays open. Returns true, or false if time was not being sampled.
function M.time_stop()
  return core.timeoff()
end

--- Returns the sampling period in bytes, or nil without a session. If n is given, sets the period
-- first; this is allowed while sampling.
function M.period(n)
  if n ~= nil then
    local every, wrong = options.period(n)
    if not every then error(("bad argument #1 to 'period' (%s)"):format(wrong), 2) end
    if not current() then
      error("allocations are not sampled; call profiler.alloc_start(n)", 2)
    end
    session.period = every
    core.period(every)
  end
  return current() and session.period
end

--- Writes a marker into the profile. 'name': a non-empty string; 'value': a string, a number or nil. Returns
-- true, or false without a session.
function M.mark(name, value)
  if type(name) ~= "string" or name == "" then
    error(("bad argument #1 to 'mark' (name must be non-empty text, got %s)"):format(options.show(name)), 2)
  end
  if value ~= nil and type(value) ~= "string" and not math.type(value) then
    error(("bad argument #2 to 'mark' (value must be text or a number, got %s)")
      :format(options.show(value)), 2)
  end
  return core.mark(name, value or "")
end

--- Writes the data recorded so far. Returns the path, or nil and a message. A session with the option 'ring'
-- is a flight recorder: it keeps the last samples in memory, and this function writes them to a new file.
-- Any other session flushes its profile.
--
-- path: the new file of a flight recorder; nil: a file named by the option 'out' with the next number, such
-- as 4711.2.vmprof
function M.dump(path)
  if path ~= nil and not options.ispath(path) then
    error(("bad argument #1 to 'dump' (path expected, got %s)"):format(options.show(path)), 2)
  end
  return core.dump(path)
end

local function badlabels(t)
  if type(t) ~= "table" then
    return ("table of labels expected, got %s"):format(type(t))
  end
  for name, value in next, t do
    if type(name) ~= "string" or name == "" or name:find("=", 1, true) then
      return ("the name of a label must be text without '=', got %s"):format(options.show(name))
    elseif type(value) ~= "string" and type(value) ~= "number" and type(value) ~= "boolean" then
      return ("label '%s' must be text, a number, true or false, got %s")
        :format(name, type(value))
    end
  end
end

--- Sets labels of the running coroutine. Profiles separate samples by labels. Coroutines that this coroutine
-- creates later inherit its labels.
--
-- t: map from names to values (strings, numbers or true). The value false removes a label. Labels that are
-- not in t do not change. If t is nil, returns a table of the coroutine's labels, with values as strings.
function M.label(t)
  if t == nil then return core.labels() end
  if not core.label(t) then error(("bad argument #1 to 'label' (%s)"):format(badlabels(t)), 2) end
end

-- Maps the number of a label set to a to-be-closed value for M.with. When the value is closed, core.relabel
-- gives the running coroutine this label set again. The values are cached: repeated calls of M.with do not
-- allocate them again.
local restore = {__close = core.relabel}
local restoring = setmetatable({}, {__mode = "v", __index = function(t, set)
  local new = setmetatable({set}, restore)
  t[set] = new
  return new
end})

-- Types of values that may be callable.
local CALLED = {["function"] = true, table = true, userdata = true}

--- Calls f(...) with the labels t ({name = value}, as for M.label) added to those of the coroutine. Restores
-- the previous labels when f returns or raises an error. f may yield. Returns the results of f.
function M.with(t, f, ...)
  local before <close> = restoring[core.labelled()]  -- luacheck: ignore
  if not core.label(t) then error(("bad argument #1 to 'with' (%s)"):format(badlabels(t)), 2) end
  if not CALLED[type(f)] then
    error(("bad argument #2 to 'with' (function expected, got %s)"):format(type(f)), 2)
  end
  return f(...)
end

local SNAPSHOT = {wait = "boolean", fork = "boolean", overwrite = "boolean"}

--- Writes a snapshot of the heap for `asamp heap`: all reachable objects and their references. Returns nil,
-- message, errno on failure. On success returns a table:
--
--   - path: path of the written snapshot
--   - forked: true: a forked process writes the snapshot
--   - stopped: seconds for which this call paused the program
--   - refused: the reason why fork failed; nil: it did not fail
--
-- path: where to write the snapshot (default SCRIPT.PID.heap); %p is replaced by the process id. If the file
-- exists, the next free name is used (x.2.heap).
-- t: options:
--
--   - wait: return after the snapshot was written (default false)
--   - fork: write in a forked process (default true); if that is impossible, this process writes
--   - overwrite: replace an existing file of any kind (default false)
function M.snapshot(path, t)
  if path ~= nil and not options.ispath(path) then
    error(("bad argument #1 to 'snapshot' (path expected, got %s)"):format(options.show(path)), 2)
  elseif t ~= nil and type(t) ~= "table" then
    error(("bad argument #2 to 'snapshot' (table of options expected, got %s)"):format(type(t)), 2)
  end
  for name, value in pairs(t or {}) do
    if not SNAPSHOT[name] then
      error(("bad argument #2 to 'snapshot' (unknown option '%s'; known: fork, overwrite, wait)"):format(
        tostring(name)), 2)
    elseif type(value) ~= SNAPSHOT[name] then
      error(("bad argument #2 to 'snapshot' (option '%s' must be true or false, got %s)")
        :format(name, options.show(value)), 2)
    end
  end
  t = t or {}
  local script = type(arg) == "table" and type(arg[0]) == "string" and arg[0] or nil
  if not path then
    path = options.path(script, core.getpid()):gsub("%.vmprof$", "") .. ".heap"
  else
    path = core.path(path, core.getpid())
  end
  local s, message, errno = core.snapshot{
    path = path, wait = t.wait or false, inprocess = t.fork == false,
    replace = options.REPLACE[t.overwrite or false], command = command(),
  }
  -- The mark in the profile shows the time of the snapshot.
  if s and current() then
    core.mark("heap snapshot", s.path)
  end
  return s, message, errno
end

--- Finds the references that keep sampled live blocks alive, and writes a list of them into the profile. (The
-- end of a session does the same.) Walks all reachable objects. Returns the number of these blocks, or 0
-- without a session.
function M.holders()
  return current() and core.holders() or 0
end

--- Exact counts, without a session (doc/reference.md):
--
--   - count(f, ...): returns the bytes and blocks that the Lua state allocated in f, then f's results
--   - counter(): returns an object that counts the state's allocations until it is closed
--   - alive(f, ...): returns the bytes that stay alive after f and a full collection
M.count, M.counter, M.alive = core.count, core.counter, core.alive

--- limit(bytes, f, ...) calls f(...) and returns its results. It raises an error in f when f has allocated
-- more than 'bytes'. The first argument can be a table {allocated = bytes, alive = bytes}, to limit the bytes
-- that are alive, too.
M.limit = core.limit

--- Returns the counters of the profiler (doc/reference.md). With t = {labels = true} it also returns the
-- exact bytes by label.
function M.stats(t)
  local isset = type(t) == "table" and type(t.labels) == "boolean"
  if t ~= nil and not (isset and next(t) == "labels" and next(t, "labels") == nil) then
    local wrong = "bad argument #1 to 'stats' (nothing or {labels = true} expected, got %s)"
    error(wrong:format(options.show(t)), 2)
  end
  t = core.stats(t and t.labels)
  t.open = nil
  return t
end

-- ==}

-- {== lua -l profiler =======================================================

-- Returns true if the interpreter was started with `-l profiler`. Does not search the words after the
-- script's name, because they are the script's arguments.
local function wanted()
  if type(arg) ~= "table" then return false end
  local first, last = -1, -1
  while arg[first - 1] do first = first - 1 end
  if not arg[-1] then first, last = 1, #arg end
  for i = first, last do
    local word = arg[i]
    local module = type(word) == "string" and word:match("^%-l(.+)$")
    if arg[i - 1] == "-l" then module = word end
    if module and (module:match("=(.*)$") or module) == "profiler" then return true end
  end
  return false
end

-- Returns true if the script does not exist: the interpreter reports that, and a profile would be empty.
-- Renames the file to its own name, which changes nothing, because io.open would wait at a named pipe.
local function ismissing()
  local script = type(arg) == "table" and arg[-1] and arg[0]
  if type(script) ~= "string" or script == "-" then return false end
  local ENOENT = 2
  return select(3, os.rename(script, script)) == ENOENT
end

local function fail(message)
  core.complain(message)
  exit(1)
end

-- Returns the reason why os.exit would not accept the argument 'status', or nil if it would.
local function badstatus(status)
  if status == nil or type(status) == "boolean" then return nil end
  local n = tonumber(status)
  if not n then return "number expected, got " .. type(status) end
  return not math.tointeger(n) and "number has no integer representation" or nil
end

-- Opens a session for the whole run, with the options in LUA_PROFILER. os.exit and lua_close end the session.
local function wholerun()
  local t, wrong = options.read(os.getenv("LUA_PROFILER") or "")
  local o
  if t then o, wrong = options.check(t) end
  if not o then fail("LUA_PROFILER: " .. wrong) end
  local every = o.alloc or DEFAULT_PERIOD
  if every == 0 and interval(o) == 0 and (o.malloc or 0) == 0 then return end
  -- This function is created before sampling starts, so that its allocation is not sampled.
  local function ending(...)
    local refused = badstatus((...))
    if refused then error(("bad argument #1 to 'exit' (%s)"):format(refused), 2) end
    M.disable()
    return exit(...)
  end
  local ok, message = open(o, every > 0 and every or DEFAULT_PERIOD, options.SUMMARY[o.quiet or false])
  if ok then ok, message = start(o, every) end
  local warning = ok and options.unheeded(o)
  if warning then core.complain(warning) end
  if message then core.complain(message) end
  if not ok then return end
  os.exit = ending  -- luacheck: ignore 122
end

-- profiler/start.lua, which starts the profile of a run, loads this file with true as third argument.
if (select(3, ...) or wanted()) and not ismissing() then wholerun() end

-- ==}

core.module = M
return M
