-- SPDX-License-Identifier: MIT
-- Decodes and creates VMProf logs for specs, independently of the C code in asamp/. The decoder is as
-- strict as the strictest known reader: it raises an error if any reader would reject the file. The builder
-- creates logs as other programs would write them.

local shell = require "spec.support.shell"

local M = {}

-- the largest number of words in a record
local LIMIT = 65536

-- Calls f(...) with a large nursery, because decoding allocates millions of objects, and debug builds check
-- the whole heap at each collection.
function M.roomy(f, ...)
  local before = collectgarbage("nursery", 64 << 20)
  local result = table.pack(pcall(f, ...))
  collectgarbage("nursery", before)
  if not result[1] then error(result[2], 0) end
  return table.unpack(result, 2, result.n)
end

-- Returns the contents of a file, decompressed if they are gzip data, and whether they were.
function M.load(path)
  local bytes = shell.read(path)
  if bytes:sub(1, 2) == "\31\139" then
    return select(2, shell.run("gzip -dc '" .. path .. "'")), true
  end
  return bytes, false
end

-- Raises an error unless a text is strict UTF-8, as in Python: it must have no surrogates and no code
-- points above 10FFFF.
local function checkutf8(text, at)
  if not utf8.len(text) then
    error("string is not UTF-8 at byte " .. at)
  end
end

-- Decodes a log. Raises an error with the position if a reader would reject it. Returns a table:
--   version, period, mode, interpreter, started, ended (us), metas
--   keys      the names of the metas, in the order of the file
--   names     {[id] = text}
--   stacks    a list of {marker, time or count, words (as in the file), thread, last (last byte)}
--   objects   a list of {time, words}
--   records   all records in their order
--   left      the bytes after the end of the log
function M.decode(bytes) return M.roomy(M.decodes, bytes) end

function M.decodes(bytes)
  local at = 1
  local log = {metas = {}, keys = {}, names = {}, stacks = {}, objects = {},
               records = {}}
  local function word()
    local w
    w, at = string.unpack("<i8", bytes, at)
    return w
  end
  local function text()
    local n = word()
    assert(n >= 0 and at + n - 1 <= #bytes, "string beyond the end")
    local s = bytes:sub(at, at + n - 1)
    checkutf8(s, at)
    at = at + n
    return s
  end
  local function words()
    local n = word()
    assert(n >= 0 and n <= LIMIT, "record too deep: " .. n)
    local list = {}
    -- unpacks 64 words at a time, because a Lua function can return only a limited number of values
    for i = 1, n, 64 do
      local many = math.min(64, n - i + 1)
      table.move({string.unpack(("<" .. ("i8"):rep(many)), bytes, at)}, 1, many, i, list)
      at = at + 8 * many
    end
    return list
  end
  local function time()
    local us = word() * 1000000 + word()
    word()  -- the zone
    return us
  end
  local function lead()
    if log.version < 7 then
      local count = word()
      assert(count == 1, "count is not 1")
      return count
    end
    local seconds
    seconds, at = string.unpack("<d", bytes, at)
    return seconds
  end

  assert(word() == 0 and word() == 3 and word() == 0, "not a VMProf log")
  log.period = word()
  assert(word() == 0, "not a VMProf log of Linux")
  while true do
    assert(at <= #bytes, "no trailer")
    local marker = bytes:byte(at)
    at = at + 1
    log.records[#log.records + 1] = marker
    if marker == 5 then
      assert(not log.version, "second header")
      log.version, log.mode, log.interpreter, at =
        string.unpack(">i2 B s1", bytes, at)
      assert(log.mode & 1 == 0 and log.mode & 8 == 0, "unexpected mode")
    elseif marker == 6 then
      log.started = time()
    elseif marker == 7 then
      local key, value = text(), text()
      assert(not log.metas[key], "duplicate key " .. key)
      log.metas[key] = value
      log.keys[#log.keys + 1] = key
    elseif marker == 1 or marker == 9 then
      assert(marker == 1 or log.version == 7, "GC stack in version 6")
      local stack = {marker = marker, lead = lead(), words = words()}
      if log.mode & 2 ~= 0 then
        assert(#stack.words % 2 == 0, "odd number of words")
        for i = 1, #stack.words, 2 do
          assert(stack.words[i] >= 0, "line below 0")
          assert(stack.words[i + 1] > 0, "frame that reads as a line")
        end
      end
      stack.thread = word()
      stack.last = at - 1
      log.stacks[#log.stacks + 1] = stack
    elseif marker == 10 then
      assert(log.version == 7, "objects in version 6")
      log.objects[#log.objects + 1] = {time = lead(), words = words()}
    elseif marker == 2 or marker == 8 then
      local id, name = word(), text()
      assert(id > 0, "id not positive")
      assert(not log.names[id], "id named twice: " .. id)
      assert(#name <= 1023, "name too long")
      assert(select(2, name:gsub(":", "")) == 3, "not three colons: " .. name)
      assert(name:find "^py:" or name:find "^n:", "unknown prefix: " .. name)
      assert(math.tointeger(name:match "^%w+:[^:]*:(%d+):"), "no line: " .. name)
      log.names[id] = name
    elseif marker == 3 then
      log.ended = time()
      log.left = #bytes - at + 1
      return log
    else
      error(("unknown marker 0x%02x at byte %d"):format(marker, at - 2))
    end
  end
end

--- Decodes a file.
function M.read(path)
  return M.decode((M.load(path)))
end

-- Raises an error if a log has no end. Also raises one if it states a period of time samples but has no
-- such samples: converters divide by their number.
function M.checkperiod(log)
  local period = tonumber(log.metas.period)
  assert(log.started and log.ended)
  assert(period == 0 or log.stacks[1], "a period without samples")
  if log.version == 7 and period > 0 then
    local n = 0
    for _, stack in ipairs(log.stacks) do
      n = n + (stack.marker == 1 and 1 or 0)
    end
    assert(n > 0, "a period without time samples")
  end
end

-- Raises an error if a converter of the extended format would reject the log. Returns two lists of the same
-- length: the objects, oldest first, as {type, outside, survived, time, stats}, and their allocation
-- stacks.
function M.checkextended(log)
  local nstats, objects, stacks, last = 0, {}, {}, -math.huge
  while log.metas["gc_stats__" .. nstats] do
    nstats = nstats + 1
  end
  local state
  for _, record in ipairs(log.objects) do
    local n = #record.words - nstats
    assert(n >= 0, "fewer words than statistics")
    local stats = table.move(record.words, n + 1, n + nstats, 1, {})
    assert(not (state == 3 and stats[4] == 1), "marking after finalizing")
    state = stats[4]
    assert(not state or state >= 0 and state <= 3, "unknown state")
    -- starts with the last object, because the newest object is the first one of a record
    for i = n, 1, -1 do
      local w = record.words[i]
      objects[#objects + 1] = {type = w >> 2, outside = w >> 1 & 1,
                               survived = w & 1, time = record.time,
                               stats = stats}
    end
  end
  for _, stack in ipairs(log.stacks) do
    assert(stack.lead >= last, "stacks not in order of time")
    last = stack.lead
    if stack.marker == 9 then stacks[#stacks + 1] = stack end
  end
  assert(#objects >= #stacks, "ran out of objects")
  for i, stack in ipairs(stacks) do
    assert(stack.lead <= objects[i].time, "object before its sample")
    assert(log.metas["__rtype_" .. objects[i].type], "type without a name")
  end
  assert(log.metas.os == "linux")
  assert(tonumber(log.metas.start_time_offset))
  M.checkperiod(log)
  return objects, stacks
end

-- ------------------------------------------------------------- builder --

local function word(n)
  return string.pack("<i8", n)
end

local function text(s)
  return string.pack("<s8", s)
end

-- Returns the first five words of a log, as bytes.
function M.head()
  return word(0) .. word(3) .. word(0) .. word(1000) .. word(0)
end

-- Returns a header record. Its field 'mode' exists only from version 4 on.
function M.header(version, mode, interpreter)
  return "\5" .. string.pack(">i2", version) ..
         (version >= 4 and string.char(mode) or "") ..
         string.pack("s1", interpreter or "cpython")
end

function M.time(seconds)
  return "\6" .. word(seconds) .. word(0) .. word(0)
end

function M.trailer(seconds)
  return "\3" .. (seconds and word(seconds) .. word(0) .. word(0) or "")
end

function M.meta(key, value)
  return "\7" .. text(key) .. text(value)
end

function M.name(id, name, marker)
  return string.char(marker or 2) .. word(id) .. text(name)
end

-- Returns a stack record. 'lead' is its count (an integer) or its time (a float). 'words' are the words of
-- the stack, and 'rest' are words that follow them.
function M.stack(marker, lead, words, rest)
  local parts = {string.char(marker),
                 math.type(lead) == "float" and string.pack("<d", lead)
                 or word(lead), word(#words)}
  for _, w in ipairs(words) do
    parts[#parts + 1] = word(w)
  end
  for _, w in ipairs(rest or {}) do
    parts[#parts + 1] = word(w)
  end
  return table.concat(parts)
end

return M
