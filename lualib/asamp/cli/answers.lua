-- SPDX-License-Identifier: MIT
-- The answers of a process, which may be another user's, or anything that listens at a socket:
-- untrusted input. Each answer is checked here, where it is read, so that no command meets a field
-- that is missing, no number, or out of range; and a file that an answer names is opened here alone.

local host = require "asamp.host"

local M = {}

local BINS = 18            -- of the histogram of pauses
local COUNT = 1 << 53      -- no count is larger: a double has all of its digits
local NAMED = 9            -- counts before the name, in a row of "names"
local NAME = 4096          -- bytes of a path, a name or a reason

-- Fields of an answer to "stats" that are counts: true: each process sends it.
local STATS = {
  pid = true, now = true, alloc = true, time = true, recording = true, states = true, made = true,
  samples = true, timesamples = true, allocated = true, lost = true, inuse = true, held = true,
  rss = true, minors = true, majors = true, pauses = true, longest = true, filebytes = true,
  tenured = true, unfollowed = false, version = false, gone = false, ring = false, untimed = false,
}

-- A count up to 'most'; nil: the text is none.
local function count(text, most)
  local n = text and text:find "^%d+$" and #text < 20 and math.tointeger(tonumber(text))
  return n and n <= (most or COUNT) and n or nil
end

-- The field as a count, at least 'least'; raises the fault (a table, which M.check catches).
local function number(fields, key, least)
  local n = count(fields[key], key == "alloc" and 1 << 62 or nil)
  if n and n >= (least or 0) then
    return n
  end
  error{fields[key] and ("'%s %s', which is no number that it can have"):format(key, fields[key]) or
        ("no '%s'"):format(key)}
end

local function text(fields, key)
  local found = fields[key]
  if found and (found == "" or #found > NAME) then
    error{("'%s' without a text, or with a long one"):format(key)}
  end
  return found
end

local function pausebins(line)
  local n = 0
  for word in (line or ""):gmatch "%S+" do
    n = n + (count(word) and 1 or BINS + 1)
  end
  if n ~= BINS then
    error{("a histogram of pauses that has not %d numbers"):format(BINS)}
  end
  return line
end

local CHECKS = {}

function CHECKS.stats(fields)
  local found = {file = text(fields, "file"), full = text(fields, "full"),
                 untimedwhy = text(fields, "untimedwhy"),
                 pausebins = pausebins(fields.pausebins)}
  for key, needed in pairs(STATS) do
    found[key] = (needed or fields[key]) and number(fields, key, key == "pid" and 1 or 0) or nil
  end
  return found
end

-- Rows of which each has these counts and a text after them: "%d+ %d+ (.*)", say.
local function rows(fields, pattern, most)
  for _, row in ipairs(fields.rows) do
    local counts, rest = row:match(pattern)
    for word in (counts or "x"):gmatch "%S+" do
      if not count(word:gsub("^%-", ""), most) then
        error{("a row '%s'"):format(row)}
      end
    end
    if #rest > NAME or not utf8.len(rest) then
      error{"a row with a text that is long, or no UTF-8"}
    end
  end
  return {pid = number(fields, "pid", 1), rows = fields.rows}
end

function CHECKS.names(fields)
  local found, known = rows(fields, "^(" .. ("%d+ "):rep(NAMED) .. ")(.*)$"), {}
  for _, row in ipairs(found.rows) do
    local name = row:match("^" .. ("%d+ "):rep(NAMED) .. "(.*)$")
    if known[name] then
      error{("the name '%s' twice"):format(name)}
    end
    known[name] = true
  end
  return found
end

function CHECKS.memory(fields)
  return rows(fields, "^(%-?%d+) (%S+ ?.*)$", 1 << 50)
end

local function file(fields)
  local path = text(fields, "file")
  if not path then
    error{"no 'file'"}
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

--- The fields of an answer ({key = text}; 'rows': the list of its rows) to a request, counts as
-- such; nil and the malformed part.
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

--- Calls f(name) with a name by which the file at 'path' can be read, which the process 'peer'
-- ({pid, uid}) has named. Returns what f does, the path for the name in a message; nil and a
-- message: it must not be opened, or cannot.
function M.reading(path, peer, f)
  if not path:find "^/" then
    return nil, ("cannot open '%s': the process names it without its folder"):format(path)
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
