-- SPDX-License-Identifier: MIT
-- Memory budgets for tests. Has assertions for luassert, and compares measurements with a baseline file. The
-- module is written in pure Lua. On a Lua without exact counts (profiler.count), every check passes, and a
-- line on stderr reports that nothing is checked.

-- luacheck: read globals unpack

local loaded, profiler = pcall(require, "profiler")

local M = {}

--- true if this Lua counts allocated bytes exactly (profiler.count exists); else no budget is checked.
M.counts = loaded and type(profiler) == "table" and profiler.count ~= nil

--- Percentage by which a test may exceed its baseline if the baseline file has no 'tolerance'.
M.TOLERANCE = 5

local ROWS = 10     -- a message lists at most this many source lines, and as many holders of live bytes
local PERIOD = 64   -- mean bytes between samples when explain() calls the tested function again
local ENOUGH = 20   -- explain() repeats the call until about this many samples are expected
local MOST = 100    -- explain() calls the function at most this many times

local LITTLE = "the allocating lines are unknown: a second run allocated too few bytes for a sample"

local FIELDS = {"bytes", "blocks", "retained"}  -- fields of M.measure that a baseline file has for each test

local noticed = M.counts

local function notice()
  if not noticed then
    noticed = true
    io.stderr:write("asamp.budget: no budget is checked, because this Lua does not count allocated bytes; " ..
                    "run the tests with Asamp's Lua\n")
  end
end

-- {== measuring =============================================================

local unpack = table.unpack or unpack

local function shown(value)
  return type(value) == "string" and ("'%s'"):format(value) or tostring(value)
end

local function pack(...)
  return {n = select("#", ...), ...}
end

--- Calls f(...), ignores its results, and returns its allocations as a table. Returns nil if this Lua has no
-- exact counts. Fields:
--
--   - bytes, blocks: allocated bytes, and number of allocated blocks
--   - retained: bytes that are still alive after the call and a full collection
function M.measure(f, ...)
  if type(f) ~= "function" and type(f) ~= "table" and type(f) ~= "userdata" then
    error(("asamp.budget: the value to measure must be a function, got %s"):format(shown(f)), 0)
  end
  if not M.counts then
    notice()
    f(...)
    return nil
  end
  local args, bytes, blocks = pack(...), nil, nil
  local function counted()
    bytes, blocks = profiler.count(f, unpack(args, 1, args.n))
  end
  local retained = profiler.alive(counted)
  return {bytes = bytes, blocks = blocks, retained = retained}
end

-- Sorts 'list' by the number of bytes, element[field], the largest first. Returns a line of text for each of
-- the first ROWS elements: the bytes and the text place(element).
local function rowsof(list, field, place)
  local lines = {}
  table.sort(list, function(a, b)
    if a[field] ~= b[field] then return a[field] > b[field] end
    return a.name < b.name
  end)
  for i = 1, math.min(#list, ROWS) do
    lines[#lines + 1] = ("  %10d bytes  %s"):format(list[i][field], place(list[i]))
  end
  return lines
end

local function lineplace(row)
  return row.line and ("%s:%d  %s"):format(row.file, row.line, row.name) or row.name
end

-- Loads a module of the command asamp from the folder of profiler.lua, which need not be in package.path.
-- Returns nil if the module is not installed.
local function tool(name)
  local before = package.path
  local folder = debug.getinfo(profiler.enable, "S").source:match "^@(.*)profiler%.luac?$"
  package.path = (folder or "./") .. "?.lua;" .. before
  local ok, module = pcall(require, name)
  package.path = before
  return ok and module or nil
end

-- Returns a list of holders without the main thread's stack: bytes that it keeps alive do not count as
-- retained (profiler.alive). Scales the shares of the other holders so that they add up to 1.
--
-- list: holders, {text, share} each: a reference that keeps bytes alive, and the share of the bytes that it
-- keeps
local function counted(list)
  local rest, shares = {}, 0
  for _, holder in ipairs(list) do
    if holder.text ~= "main thread" then
      rest[#rest + 1], shares = holder, shares + holder.share
    end
  end
  for _, holder in ipairs(rest) do holder.share = holder.share / shares end
  return rest
end

-- Finds the source lines where f allocates, by another call of f under the profiler. Returns a text with one
-- row for each of these lines, or the reason why they are unknown.
--
--   - args: arguments of f, packed by pack()
--   - bytes: number of bytes that a call of f allocated
--   - retained: true: lists only lines whose bytes are still alive after the call, and the holders of these
--     bytes (the references that keep them alive)
local function explain(f, args, bytes, retained)
  local totals, holders, host = tool "asamp.sums.totals", tool "asamp.sums.holders", tool "asamp.host"
  if not (totals and holders and host) then
    return "the allocating lines are unknown, because the command asamp is missing; install it"
  end
  local folder, reason = host.newfolder(host.temporary())
  if not folder then
    return "the allocating lines are unknown, because a second run cannot be profiled: " .. tostring(reason)
  end
  local path = folder .. "/run.vmprof"
  local ok, message = profiler.enable{out = path, alloc = PERIOD, native = false, compress = false,
                                      overwrite = true}
  if not ok then
    host.discard(folder)
    return "the allocating lines are unknown, because a second run cannot be profiled: " .. tostring(message)
  end
  local most = retained and 1 or math.min(math.ceil(ENOUGH * PERIOD / math.max(bytes, 1)), MOST)
  local calls, ran, wrong = 0  -- luacheck: ignore 221
  repeat
    ran, wrong = pcall(f, unpack(args, 1, args.n))
    calls = calls + 1
  until not ran or calls == most
  collectgarbage()
  collectgarbage()
  profiler.disable()
  local profile = require "profiler.reader".read(path)
  host.discard(folder)
  if not profile or profile.samples == 0 then
    return LITTLE
  end
  local all, list, text = totals.of(profile), {}, {}
  local key = retained and "alivebytes" or "bytes"
  local own = {}
  for _, of in ipairs{profiler.disable, notice} do
    own[debug.getinfo(of, "S").source:gsub("^@", "")] = true
  end
  for _, row in ipairs(all.lines) do
    if row.self[key] > 0 and not own[row.file] then
      list[#list + 1] = {name = row.name, file = row.file, line = row.line,
                         n = math.floor(row.self[key] / calls + 0.5)}
    end
  end
  if #list == 0 then
    return retained and "the allocating lines are unknown: a second run kept too few bytes for a sample" or
           LITTLE
  end
  text[1] = retained and "bytes alive after a second run, by line, estimated from samples:" or
            calls == 1 and "bytes allocated in a second run, by line, estimated from samples:" or
            ("bytes allocated in one run, by line, estimated from samples of %d more runs:"):format(calls)
  for _, line in ipairs(rowsof(list, "n", lineplace)) do text[#text + 1] = line end
  if retained and profile.holders then
    local paths = holders.grouped(profile.holders, function() return true end)[true]
    text[#text + 1] = "held by:"
    for i, holder in ipairs(counted(paths and holders.of(profile.holders, paths) or {})) do
      text[#text + 1] = i <= ROWS and ("  %9.0f%%  %s"):format(100 * holder.share, holder.text) or nil
    end
  end
  if not ran then text[#text + 1] = "the second run failed: " .. tostring(wrong) end
  return table.concat(text, "\n")
end

-- Returns the reason why explain() cannot profile further calls, or nil if it can.
local function busy()
  return profiler.period() and "the allocating lines are unknown: a second run cannot be profiled, " ..
         "because the profiler is already enabled; disable the profiler before the test"
end

-- Checks a budget. Measures a call of f(...). Returns true if the measured 'field' ("bytes" or "retained") is
-- at most 'most' bytes, or if this Lua has no exact counts. Otherwise calls f again to find the allocating
-- lines, and returns false and a message with these lines.
local function within(field, most, f, ...)
  if type(most) ~= "number" then
    error(("asamp.budget: a budget must be a number of bytes, got %s"):format(shown(most)), 0)
  end
  local found = M.measure(f, ...)
  if not found or found[field] <= most then
    return true
  end
  local over = field == "retained" and
    ("%d bytes stayed alive; the budget is %d bytes"):format(found.retained, most) or
    ("%d bytes in %d %s were allocated; the budget is %d bytes"):format(
      found.bytes, found.blocks, found.blocks == 1 and "block" or "blocks", most)
  return false, over .. "\n" .. (busy() or explain(f, pack(...), found.bytes, field == "retained"))
end

--- Checks that f(...) allocates at most n bytes. Returns true if so, or if this Lua has no exact counts.
-- Otherwise calls f again to find the allocating lines, and returns false and a message with these lines.
function M.allocates(n, f, ...)
  return within("bytes", n, f, ...)
end

--- Checks that at most n bytes stay alive after f(...) and a full collection. Returns true if so, or if this
-- Lua has no exact counts. Otherwise calls f again to find the lines that allocated these bytes, and returns
-- false and a message with these lines.
function M.retains(n, f, ...)
  return within("retained", n, f, ...)
end

-- ==}

--- Registers assertions with luassert, whose table is 'assert':
--
--   - assert.allocates.at_most(n, f), assert.allocates.nothing(f): limit the bytes that f allocates
--   - assert.retains.at_most(n, f), assert.retains.nothing(f): limit the bytes that stay alive after f
function M.register(assert)
  for name, check in pairs{allocates = M.allocates, retains = M.retains} do
    local function asserted(state, n, f, ...)
      local ok, message = check(n, f, ...)
      if not ok then state.failure_message = message end
      return ok
    end
    assert:register("assertion", name .. "_at_most", function(state, a)
      return asserted(state, unpack(a, 1, a.n))
    end)
    assert:register("assertion", name .. "_nothing", function(state, a)
      return asserted(state, 0, unpack(a, 1, a.n))
    end)
  end
end

-- {== baselines =============================================================

local Baseline = {}
Baseline.__index = Baseline

-- Returns a message if a field of t, the table in a baseline file, has a wrong type or value; else nil.
local function misfit(t)
  local function wrong(owner, field, value)
    if value ~= nil and type(value) ~= "number" then
      return ("%s: '%s' must be a number, got %s"):format(owner, field, shown(value))
    elseif value and value < 0 and field == "tolerance" then
      return ("%s: '%s' must be at least 0, got %s"):format(owner, field, shown(value))
    end
  end
  local message = wrong("the file", "tolerance", t.tolerance)
  for name, test in pairs(t.tests) do
    local owner = ("the test '%s'"):format(name)
    if type(test) ~= "table" then
      return ("%s must be a table such as {bytes = 0}, got %s"):format(owner, tostring(test))
    end
    message = message or wrong(owner, "tolerance", test.tolerance)
    for _, field in ipairs(FIELDS) do
      message = message or wrong(owner, field, test[field])
    end
  end
  return message
end

local NO_FILE = 2  -- the errno ENOENT
local BLOCK = 65536  -- bytes of a file that one call of file:read reads
local LONGEST = 256 * BLOCK  -- limit of a file's bytes, for over 100,000 tests; a device may have no end

-- Returns the contents of a file, or nil and a message on failure.
local function contents(file)
  local parts, n = {}, 0
  repeat
    local text, wrong = file:read(BLOCK)
    if wrong then return nil, wrong end
    parts[#parts + 1] = text
    n = n + (text and #text or 0)
    if n > LONGEST then
      return nil, ("the file has over %d bytes; give a file that asamp.budget wrote"):format(LONGEST)
    end
  until not text
  return table.concat(parts)
end

-- Parses a baseline file. The file is Lua code that returns a table. Keys of the table are names; values are
-- tables, numbers, strings or booleans. The code is not run, because anybody may have written the file.
-- Fields of a parser:
--
--   - text: contents of the file
--   - at: position of the next byte
local Parser = {}
Parser.__index = Parser

local DEEPEST = 3  -- depth of nested tables: the file's, that of all tests, that of one test

-- Results of escapes in strings. Other characters after a backslash represent themselves.
local ESCAPES = {a = "\a", b = "\b", f = "\f", n = "\n", r = "\r", t = "\t", v = "\v"}

-- Raises an error with the number of the current line. 'expected': description of the missing part of the
-- syntax.
function Parser:fail(expected)
  local line = 1 + select(2, self.text:sub(1, self.at - 1):gsub("\n", ""))
  local found = self.text:match("^[%w_.]+", self.at) or self.text:sub(self.at, self.at)
  error(("line %d: expected %s, got %s"):format(line, expected,
    found == "" and "the end of the file" or "'" .. found:sub(1, 40):gsub("[^ -~]", "?") .. "'"), 0)
end

-- Skips white space and comments, and then text that matches the pattern. Returns the pattern's capture, or
-- true if it has no capture. Returns nil if the text does not match.
function Parser:take(pattern)
  local text = self.text
  self.at = text:match("^%s*()", self.at)
  while text:find("^%-%-", self.at) do
    self.at = text:match("^[^\n]*%s*()", self.at)
  end
  local from, to, found = text:find("^" .. pattern, self.at)
  self.at = from and to + 1 or self.at
  return from and (found or true)
end

function Parser:need(pattern, expected)
  return self:take(pattern) or self:fail(expected)
end

-- Returns the string that starts at the current position, after its quotation mark.
function Parser:string(quote)
  local text, from, stop = self.text, self.at, self.at
  repeat
    stop = text:match("^[^\\\n" .. quote .. "]*()", stop)
    local escape = stop < #text and text:sub(stop, stop) == "\\"
    stop = escape and stop + 2 or stop
  until not escape
  self.at = stop
  if text:sub(stop, stop) ~= quote then self:fail "the end of the string" end
  self.at = stop + 1
  return (text:sub(from, stop - 1):gsub("\\(.)(%d?%d?)", function(c, more)
    return tonumber(c) and string.char(tonumber(c .. more) % 256) or (ESCAPES[c] or c) .. more
  end))
end

-- Parses the value at the current position and returns it. 'depth': number of tables that contain the value.
function Parser:value(depth)
  if depth < DEEPEST and self:take "{" then
    local t = {}
    while not self:take "}" do
      local key = self:take "([%a_][%w_]*)%s*="
      if not key then
        self:need("%[", '["NAME"] = or NAME =')
        key = self:string(self:need("([\"'])", "a string"))
        self:need("%]%s*=", "] =")
      end
      t[key] = self:value(depth + 1)
      if not self:take "[,;]" and not self.text:find("^}", self.at) then self:fail ", or }" end
    end
    return t
  end
  local quote = self:take "([\"'])"
  local word = quote or self:take "(%-?%.?%w[%w.+-]*)"
  local number = tonumber(word)
  if quote then
    return self:string(quote)
  elseif number and number - number == 0 then
    return number
  elseif word == "true" or word == "false" then
    return word == "true"
  end
  self.at = self.at - #(word or "")
  return self:fail(depth == 0 and "a table" or "a number, a string, true or false")
end

-- Parses the text of a baseline file. Returns its table, or nil and a message on failure.
local function parse(text)
  local parser = setmetatable({text = text, at = 1}, Parser)
  local ok, t = pcall(function()
    parser:need("return", "return")
    local value = parser:value(0)
    if parser:take "." then
      parser.at = parser.at - 1
      parser:fail "the end of the file"
    end
    return value
  end)
  if not ok then return nil, t end
  return t
end

-- Opens a file to read. On Asamp's Lua, prints a message if a pipe has no data for a second.
local function openfile(path)
  local host = M.counts and tool "asamp.host"
  if host and host.ispipe(path) then
    return host.openfile(path, nil, nil, true)
  end
  return io.open(path, "rb")
end

-- Reads a baseline file and returns its table. On failure returns nil, a message, and true if there is no
-- such file.
local function readfile(path)
  local file, wrong, code = openfile(path)
  -- Removes the path from the start of the message: the caller adds the path.
  if not file then return nil, (wrong:gsub("^.*: ", "")), code == NO_FILE end
  local text, t
  text, wrong = contents(file)
  file:close()
  if not text then return nil, wrong end
  t, wrong = parse(text)
  if not t then return nil, wrong end
  if type(t) ~= "table" or type(t.tests) ~= "table" then
    return nil, path .. " returns no table with the field 'tests'; give a file that asamp.budget wrote"
  end
  wrong = misfit(t)
  if wrong then return nil, wrong end
  return t
end

--- Opens the baseline file 'path', which need not exist. Returns an object with the methods run and close.
-- Returns nil and a message if the file exists but cannot be read. options.update: true: new measurements
-- replace those in the file.
function M.open(path, options)
  local t, wrong, absent = readfile(path)
  if not t and not absent then
    return nil, ("cannot read the baseline '%s': %s"):format(path, (wrong:gsub("%c", "?")))
  end
  return setmetatable({path = path, update = options and options.update or false, new = 0, measured = {},
                       data = t or {tests = {}}}, Baseline)
end

-- Compares the measurement 'found' (result of M.measure) with the baseline of the test 'name'. If the test
-- has no baseline, adds 1 to self.new and returns nil. Otherwise returns two values:
--
--   1. a text that lists the counts above the baseline; nil: there are none
--   2. true if bytes or blocks are among these counts; false if at most the retained bytes are above the
--      baseline
function Baseline:over(name, found)
  local test = self.data.tests[name]
  if not test then
    self.new = self.new + 1
    return nil
  end
  local tolerance = test.exact and 0 or test.tolerance or self.data.tolerance or M.TOLERANCE
  local list, more = {}, false
  for _, field in ipairs(FIELDS) do
    local was, is = test[field], found[field]
    if was and is > was + math.max(0, was) * tolerance / 100 then
      list[#list + 1] = ("%s: %d, baseline %d (%+.1f%%, at most +%g%%)"):format(
        field, is, was, was > 0 and 100 * (is - was) / was or math.huge, tolerance)
      more = more or field ~= "retained"
    end
  end
  return #list > 0 and table.concat(list, "\n") or nil, more
end

-- Stores the measurement 'found' (M.measure) as the baseline of the test 'name'. If several tests have this
-- name, keeps the largest of each count.
function Baseline:replace(name, found)
  local test = self.data.tests[name] or {}
  for _, field in ipairs(FIELDS) do
    test[field] = math.max(found[field], self.measured[name] and test[field] or found[field])
  end
  self.data.tests[name], self.measured[name] = test, true
end

--- Calls f(...) and measures it as the test 'name'. Returns true if the measurement is within the baseline,
-- or if this Lua has no exact counts. Otherwise calls f again to find the allocating lines, and returns
-- false and a message with these lines. If M.open had the option 'update', stores the measurement as the new
-- baseline and returns true.
function Baseline:run(name, f, ...)
  if type(name) ~= "string" then
    error("the name of a test must be text", 2)
  end
  local found = M.measure(f, ...)
  if not found then return true end
  if self.update then
    self:replace(name, found)
    return true
  end
  local over, more = self:over(name, found)
  if not over then return true end
  return false, ("'%s' exceeds its budget in %s\n%s\n%s"):format(
    name, self.path, over, busy() or explain(f, pack(...), found.bytes, not more))
end

-- Returns a number as Lua source: its decimal point is "." in all locales.
local function number(n)
  return (tostring(n):gsub(",", "."))
end

--- Writes the measurements to the baseline file if M.open had the option 'update'. Returns true, or nil and a
-- message.
function Baseline:close()
  if not self.update or not M.counts then return true end
  local names, lines = {}, {"-- Written by asamp.budget. tolerance: allowed increase in percent. " ..
                        "exact = true: no increase is allowed.", "return {"}
  if self.data.tolerance then
    lines[#lines + 1] = ("  tolerance = %s,"):format(number(self.data.tolerance))
  end
  lines[#lines + 1] = "  tests = {"
  for name in pairs(self.data.tests) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    local t, fields = self.data.tests[name], {}
    for _, field in ipairs(FIELDS) do
      if t[field] then fields[#fields + 1] = ("%s = %.0f"):format(field, t[field]) end
    end
    if t.exact then fields[#fields + 1] = "exact = true" end
    if t.tolerance then fields[#fields + 1] = "tolerance = " .. number(t.tolerance) end
    lines[#lines + 1] = ("    [%q] = {%s},"):format(name, table.concat(fields, ", "))
  end
  lines[#lines + 1] = "  },\n}\n"
  local ok, wrong = require "profiler.convert".write(self.path, table.concat(lines, "\n"), true)
  if not ok then return nil, (wrong:gsub("^cannot write ", "%0the baseline ")) end
  return true
end

-- ==}

return M
