-- SPDX-License-Identifier: MIT
--
-- The profiler: turns sampling of allocations on and off and says where the
-- profile goes. The only module that users require. Checks arguments, reads
-- LUA_PROFILER, knows `-l profiler`; what options there are is
-- profiler.options', everything else profiler.core's.
--
-- Errors of the caller raise; errors of the environment (a path that cannot
-- be written) return nil, message, errno.

local loaded, core = pcall(require, "profiler.core")
if loaded and type(core) ~= "table" then  -- it found nothing to raise an error with
  error("profiler: this program does not export the functions of its Lua, so that no "
    .. "module can call them: link it with -Wl,-E -Wl,--whole-archive liblua.a "
    .. "-Wl,--no-whole-archive, or to liblua5.4.so.0", 0)
elseif not loaded and tostring(core):find("two Luas", 1, true) then
  error("profiler: " .. core, 0)
elseif not loaded and tostring(core):find("failed to map segment", 1, true) then
  error("profiler: not enough memory to load it (ulimit -v): " .. tostring(core):gsub("%s+", " "), 0)
elseif not loaded then
  error("profiler: this Lua has no sampled nursery, or its module profiler/core.so "
    .. "is not in package.cpath (" .. tostring(core):gsub("%s+", " ") .. ")", 0)
end

-- Who empties package.loaded to have modules anew gets this one back: the session and what
-- os.exit does are its own.
if core.module then return core.module end

local options = require "profiler.options"

local M = {_VERSION = core.release}

local DEFAULT_PERIOD = 512 * 1024

local exit = os.exit

-- {== sessions ==============================================================

-- Sampling options of the open session.
local session

-- The open session. The child of a fork has none: the file is its parent's.
local function current()
  if session and not core.stats().open then session = nil end
  return session
end

-- Where the profile goes: its path, the number that its name begins with, and
-- whether the name is one that nobody gave. %p in a path is the process id;
-- without a path: SCRIPT.PID.vmprof here.
local function place(out)
  local script = type(arg) == "table" and type(arg[0]) == "string" and arg[0] or nil
  local path = options.path(out, script, core.getpid())
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

-- Nanoseconds between the time samples of these options; 0: there are none.
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

-- Starts what the options of a session name. If time cannot be sampled, the other sources are,
-- and the reason is returned after true; there is no session if there is no other source.
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

--- Opens a session and begins to sample.
-- t: the options of a session, by the names and with the defaults of doc/reference.md.
-- Returns true, with message and errno if time cannot be sampled and the rest is; or nil,
-- message, errno when the file cannot be made, or nothing can be sampled.
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

--- Ends the session: no samples from here on, the file is whole.
-- Returns true, false when there was no session, or nil, message, errno when
-- something could not be written.
function M.disable()
  if not current() then return false end
  session = nil
  return core.close()
end

-- The options for the session that a call of 'name' opens: not 'own', which is
-- its first argument, nor 'other', which it does not do. Raises for the caller
-- of that call.
local function startoptions(name, o, own, other)
  if o ~= nil and type(o) ~= "table" then
    error(("bad argument #2 to '%s' (table of options expected, got %s)"):format(name, type(o)), 3)
  end
  local checked, wrong = options.check(o or {})
  if not checked then error(("bad argument #2 to '%s' (%s)"):format(name, wrong), 3) end
  if checked[own] ~= nil then
    error(("bad argument #2 to '%s' (option '%s' is the first argument here)"):format(name, own), 3)
  end
  if checked[other] ~= nil then
    error(("bad argument #2 to '%s' (option '%s' is for profiler.%s_start or profiler.enable)")
      :format(name, other, other), 3)
  end
  return checked
end

--- Samples one allocation every n bytes, on average; opens a session when none is open.
-- o: options of enable (but alloc and time), for a session that this call opens.
function M.alloc_start(n, o)
  local every, wrong = options.period(n)
  if not every then error(("bad argument #1 to 'alloc_start' (%s)"):format(wrong), 2) end
  local checked = startoptions("alloc_start", o, "alloc", "time")
  if core.stats().on then
    error("allocations are sampled already; call profiler.alloc_stop() first, "
      .. "or profiler.period(n) for another period", 2)
  end
  if current() then
    if next(checked) ~= nil then
      error("bad argument #2 to 'alloc_start' (a session is open with options of its own; "
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

--- Stops sampling allocations; the session stays open for another start.
-- Returns false when none were sampled.
function M.alloc_stop()
  return core.off()
end

--- Takes 'hz' samples of CPU time a second, 1 to 30000, of the OS thread that
-- calls; opens a session when none is open. o: options of enable (but alloc and
-- time), for a session that this call opens; 'wall' and 'exact'
-- also for one that is open.
-- Returns true, or nil, message, errno.
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
      error("bad argument #2 to 'time_start' (a session is open with options of its own; "
        .. "call profiler.disable() first)", 2)
    end
    return core.timeon(SECOND // n, wall, exact)
  end
  local ok, message, errno = open(checked, DEFAULT_PERIOD)
  if not ok then return nil, message, errno end
  return start(checked, 0)
end

--- Stops sampling time; the session stays open for another start. Returns false
-- when it was not sampled.
function M.time_stop()
  return core.timeoff()
end

--- The sampling period in bytes, nil without a session. With n: sets it first,
-- also while sampling.
function M.period(n)
  if n ~= nil then
    local every, wrong = options.period(n)
    if not every then error(("bad argument #1 to 'period' (%s)"):format(wrong), 2) end
    if not current() then
      error("no session is open; call profiler.alloc_start(n)", 2)
    end
    session.period = every
    core.period(every)
  end
  return current() and session.period
end

--- Puts a marker into the profile: a name (text, not empty), and a value that
-- goes with it (text or a number). Returns true, false without a session.
function M.mark(name, value)
  if type(name) ~= "string" or name == "" then
    error(("bad argument #1 to 'mark' (name must be text, got %s)"):format(options.show(name)), 2)
  end
  if value ~= nil and type(value) ~= "string" and not math.type(value) then
    error(("bad argument #2 to 'mark' (value must be text or a number, got %s)")
      :format(options.show(value)), 2)
  end
  return core.mark(name, value or "")
end

--- Writes what is known now: of a session with 'ring' what it keeps, to 'path', or without
-- one to where its end goes, with the next number; of any other what was told so far, to
-- the file that it has. Returns the path, or nil and why not.
function M.dump(path)
  if path ~= nil and not options.ispath(path) then
    error(("bad argument #1 to 'dump' (path expected, got %s)"):format(options.show(path)), 2)
  end
  return core.dump(path)
end

-- What is wrong with labels, which core.label has refused.
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

--- Sets labels of the running coroutine: what profiles tell apart of the work that it
-- does, and of the coroutines that it makes from then on. t: names and their values,
-- text, a number or true; false takes a label off; others stay as they are. Without t:
-- returns a table of the labels that it has, all text.
function M.label(t)
  if t == nil then return core.labels() end
  if not core.label(t) then error(("bad argument #1 to 'label' (%s)"):format(badlabels(t)), 2) end
end

-- For each set of labels (by its number) a value that sets it again when it goes out of scope.
local restore = {__close = core.relabel}
local restoring = setmetatable({}, {__mode = "v", __index = function(t, set)
  local new = setmetatable({set}, restore)
  t[set] = new
  return new
end})

-- Types of what may be called, as far as they tell.
local CALLED = {["function"] = true, table = true, userdata = true}

--- Calls f with the other arguments, and these labels besides those that the coroutine
-- has (t: as label's), and gives these back when it ends, by an error too. f may yield.
-- Returns what f returns.
function M.with(t, f, ...)
  local before <close> = restoring[core.labelled()]  -- luacheck: ignore
  if not core.label(t) then error(("bad argument #1 to 'with' (%s)"):format(badlabels(t)), 2) end
  if not CALLED[type(f)] then
    error(("bad argument #2 to 'with' (function expected, got %s)"):format(type(f)), 2)
  end
  return f(...)
end

-- What snapshot may be told, and of which type each is.
local SNAPSHOT = {wait = "boolean", fork = "boolean", overwrite = "boolean"}

--- Writes a snapshot of the heap for `asamp heap`: all objects that can be reached, and
-- what holds what. A process of its own does it; this one goes on at once.
-- path: SCRIPT.PID.heap if nothing is said; %p is the process id. A snapshot that is
-- there stays, and this one gets the next free name (x.2.heap). t.wait: until it is
-- written (false). t.fork: in a process of its own (true; where there can be none, it is
-- written here, and 'refused' tells why). t.overwrite: what is at the path is replaced,
-- whatever file it is (false).
-- Returns a table: path, forked, stopped (seconds that this call took), refused (nil or
-- why there is no process); or nil, message, errno.
function M.snapshot(path, t)
  if path ~= nil and not options.ispath(path) then
    error(("bad argument #1 to 'snapshot' (path expected, got %s)"):format(options.show(path)), 2)
  elseif t ~= nil and type(t) ~= "table" then
    error(("bad argument #2 to 'snapshot' (table of options expected, got %s)"):format(type(t)), 2)
  end
  for name, value in pairs(t or {}) do
    if not SNAPSHOT[name] then
      error(("bad argument #2 to 'snapshot' (unknown option '%s'; there are fork, overwrite "
        .. "and wait)"):format(tostring(name)), 2)
    elseif type(value) ~= SNAPSHOT[name] then
      error(("bad argument #2 to 'snapshot' (option '%s' must be true or false, got %s)")
        :format(name, options.show(value)), 2)
    end
  end
  t = t or {}
  local script = type(arg) == "table" and type(arg[0]) == "string" and arg[0] or nil
  if not path then
    path = options.path(nil, script, core.getpid()):gsub("%.vmprof$", "") .. ".heap"
  else
    path = options.path(path, script, core.getpid())
  end
  local s, message, errno = core.snapshot{
    path = path, wait = t.wait or false, inprocess = t.fork == false,
    replace = options.REPLACE[t.overwrite or false], command = command(),
  }
  if s and current() then  -- a marker tells when it was taken
    core.mark("heap snapshot", s.path)
  end
  return s, message, errno
end

--- Tells the profile who holds the samples that are alive now; the end of the session does
-- so by itself. A walk over everything that can be reached, which this call waits for.
-- Returns of how many samples; 0 without a session, or when none is followed.
function M.holders()
  return current() and core.holders() or 0
end

--- Exact counts, which need no session (doc/reference.md): count(f, ...) -> bytes and blocks
-- that the state allocated in f, then f's results; counter() -> a counter, which counts until
-- it is closed; alive(f, ...) -> bytes that f has left alive.
M.count, M.counter, M.alive = core.count, core.counter, core.alive

--- What was done so far: a table with the fields of stats() in doc/reference.md.
function M.stats()
  local t = core.stats()
  t.open = nil
  return t
end

-- ==}

-- {== lua -l profiler =======================================================

-- Does the interpreter's own argument list (what stands before the script)
-- ask for this module?
local function wanted()
  if type(arg) ~= "table" then return false end
  -- before the script when there is one, else all of them
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

local function fail(message)
  io.stderr:write("profiler: ", core.printable(message), "\n")
  exit(1)
end

-- Why os.exit would not take this; nil: it does.
local function badstatus(status)
  if status == nil or type(status) == "boolean" then return nil end
  local n = tonumber(status)
  if not n then return "number expected, got " .. type(status) end
  return not math.tointeger(n) and "number has no integer representation" or nil
end

-- The whole run is a session of its own, which os.exit and lua_close end.
local function wholerun()
  local t, wrong = options.read(os.getenv("LUA_PROFILER") or "")
  local o
  if t then o, wrong = options.check(t) end
  if not o then fail("LUA_PROFILER: " .. wrong) end
  local every = o.alloc or DEFAULT_PERIOD
  if every == 0 and interval(o) == 0 and (o.malloc or 0) == 0 then return end
  local function ending(...)  -- made before the first sample, which is the script's
    local refused = badstatus((...))
    if refused then error(("bad argument #1 to 'exit' (%s)"):format(refused), 2) end
    M.disable()
    return exit(...)
  end
  local ok, message = open(o, every > 0 and every or DEFAULT_PERIOD, not o.quiet)
  if ok then ok, message = start(o, every) end
  local warning = ok and options.unheeded(o)
  if warning then io.stderr:write("profiler: ", core.printable(warning), "\n") end
  if message then io.stderr:write("profiler: ", core.printable(message), "\n") end
  if not ok then return end  -- no reason for the script not to run
  os.exit = ending  -- luacheck: ignore 122
end

-- The third argument is that of profiler/start.lua.
if select(3, ...) or wanted() then wholerun() end

-- ==}

core.module = M
return M
