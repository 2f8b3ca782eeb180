-- SPDX-License-Identifier: MIT
-- Checks the answers of a process, which are untrusted: it may be another user's, or any program that
-- listens at the socket. Commands receive only answers that passed M.check, and open files named in them
-- only by M.reading.

local host = require "asamp.host"

local M = {}

local BINS = 18            -- number of counts in the field 'pausebins', a histogram of pauses
local COUNT = 1 << 53      -- upper limit of counts: doubles represent all integers up to it
local NAMED = 9            -- number of counts before the name in each row of an answer to "names"
local NAME = 4096  -- limit of a path, name or reason in an answer, in bytes

-- Counts that an answer to the request "stats" has. true: the field must be present; false: it may be
-- missing.
local STATS = {
  pid = true, now = true, alloc = true, time = true, recording = true, states = true, made = true,
  samples = true, timesamples = true, allocated = true, lost = true, inuse = true, held = true,
  rss = true, minors = true, majors = true, pauses = true, longest = true, filebytes = true,
  tenured = true, unfollowed = false, version = false, gone = false, ring = false, untimed = false,
}

-- Converts a text to an integer from 0 to 'most' (default COUNT). Returns nil if it is no such integer, or is
-- nil.
local function count(text, most)
  local n = text and text:find "^%d+$" and #text < 20 and math.tointeger(tonumber(text))
  return n and n <= (most or COUNT) and n or nil
end

-- Returns the field 'key' of an answer as an integer. Raises the error {reason}, which M.check catches, if
-- the field is missing or is not an integer of at least 'least' (default 0).
local function number(fields, key, least)
  local n = count(fields[key], key == "alloc" and 1 << 62 or nil)
  if n and n >= (least or 0) then
    return n
  end
  error{fields[key] and ("the field '%s' of the answer is out of range: %s"):format(key, fields[key]) or
        ("the answer lacks the field '%s'"):format(key)}
end

local function text(fields, key)
  local found = fields[key]
  if found and (found == "" or #found > NAME) then
    error{found == "" and ("the field '%s' of the answer is empty"):format(key) or
          ("the field '%s' of the answer has more than %d bytes"):format(key, NAME)}
  end
  return found
end

local function pausebins(line)
  local n = 0
  for word in (line or ""):gmatch "%S+" do
    n = n + 1
    if not count(word) then
      error{("a number in the field 'pausebins' is out of range: %s"):format(word)}
    end
  end
  if n ~= BINS then
    error{("the field 'pausebins' has %d numbers instead of %d"):format(n, BINS)}
  end
  return line
end

local CHECKS = {}

function CHECKS.stats(fields)
  local found = {file = text(fields, "file"), full = text(fields, "full"), cut = text(fields, "cut"),
                 untimedwhy = text(fields, "untimedwhy"),
                 pausebins = pausebins(fields.pausebins)}
  for key, needed in pairs(STATS) do
    found[key] = (needed or fields[key]) and number(fields, key, key == "pid" and 1 or 0) or nil
  end
  return found
end

-- Checks the rows of an answer (fields.rows, a list of texts). Returns {pid, rows}. Raises the error
-- {reason}, which M.check catches, if a row is malformed.
--
-- pattern: each row must match it. Its first capture is a list of integers with absolute values of at most
-- 'most' (default COUNT), its second capture a short text in UTF-8
local function rows(fields, pattern, most)
  for _, row in ipairs(fields.rows) do
    local counts, rest = row:match(pattern)
    for word in (counts or "x"):gmatch "%S+" do
      if not count(word:gsub("^%-", ""), most) then
        error{("the row '%s' is malformed"):format(row)}
      end
    end
    if #rest > NAME or not utf8.len(rest) then
      error{#rest > NAME and ("a row has more than %d bytes of text"):format(NAME) or
            "the text of a row is not UTF-8"}
    end
  end
  return {pid = number(fields, "pid", 1), rows = fields.rows}
end

function CHECKS.names(fields)
  local found, known = rows(fields, "^(" .. ("%d+ "):rep(NAMED) .. ")(.*)$"), {}
  for _, row in ipairs(found.rows) do
    local name = row:match("^" .. ("%d+ "):rep(NAMED) .. "(.*)$")
    if known[name] then
      error{("two rows have the name '%s'"):format(name)}
    end
    known[name] = true
  end
  return found
end

function CHECKS.labels(fields)
  local found, known = rows(fields, "^(%d+ )(.*)$"), {}
  for _, row in ipairs(found.rows) do
    local set = row:match "^%d+ (.*)$"
    if known[set] then
      error{("two rows have the labels '%s'"):format(set)}
    end
    for label in set:gmatch "[^\t]+" do
      if not label:find "^[^=]+=" then
        error{("the row '%s' is malformed"):format(row)}
      end
    end
    known[set] = true
  end
  found.others = fields.others and number(fields, "others")
  return found
end

function CHECKS.memory(fields)
  return rows(fields, "^(%-?%d+) (%S+ ?.*)$", 1 << 50)
end

local function file(fields)
  local path = text(fields, "file")
  if not path then
    error{"the answer lacks the field 'file'"}
  end
  return {file = path}
end

CHECKS.record, CHECKS.dump, CHECKS.rotate = file, file, file

function CHECKS.heap(fields)
  local found = file(fields)
  found.state = fields.state and number(fields, "state")
  return found
end

function CHECKS.states(fields)
  local found = rows(fields, "^(%d+ %d+ %d+ )(.*)$")
  for i, row in ipairs(found.rows) do
    local id, inuse, collections, name = row:match "^(%d+) (%d+) (%d+) (.*)$"
    found.rows[i] = {number = math.tointeger(id), inuse = math.tointeger(inuse),
                     collections = math.tointeger(collections), name = name}
  end
  return found
end

--- Checks the answer of a process. Returns the known fields, with counts as integers, or nil and the reason
-- why the answer is invalid. Returns {} for a request without checks.
--
--   - request: the request that was sent
--   - fields: the answer, {key = text}; fields.rows is the list of its rows
function M.check(request, fields)
  local check = CHECKS[request:match "^%S*"]
  if not check then
    return {}
  end
  local ok, result = pcall(check, fields)
  if ok then
    return result
  elseif type(result) ~= "table" then
    error(result, 0)
  end
  return nil, result[1]
end

--- Opens the file 'path', which the process 'peer' ({pid, uid}) has named. Calls f(name) and returns up to
-- three results of f. 'name' is a path that leads to the open file even if another file replaces 'path'. In
-- an error message from f, replaces 'name' by 'path'. Returns nil and a message if the file must not or
-- cannot be opened.
function M.reading(path, peer, f)
  if not path:find "^/" then
    return nil, ("cannot open '%s': the process gave a relative path; " ..
                 "use the asamp installed with the process's Lua"):format(path)
  end
  local open, name = host.openfile(path, peer.pid, peer.uid)
  if not open then
    return nil, name
  end
  local ok, result, message, third = pcall(f, name)
  open:close()
  if not ok then
    error(result, 0)
  elseif not result and message and name ~= path then
    local at = message:find(name, 1, true)
    message = at and message:sub(1, at - 1) .. path .. message:sub(at + #name) or message
  end
  return result, message, third
end

return M
