-- SPDX-License-Identifier: MIT
-- A loop that creates and drops one object per iteration, for instruction counts (bench/garbage):
--   lua garbage.lua PACE KIND TURNS
--   PACE   run: the collector runs as by default; stop: it is stopped
--   KIND   name of a function of KINDS
--   TURNS  number of iterations
-- The kinds 'nothing' and 'interned' create no object. Their costs are subtracted from those of the other
-- loops, which differ from them only in the object. string.format is used for strings, because it creates
-- no other object.

local SPAN = 1000

local KINDS = {}

function KINDS.nothing(turns)
  local kept
  for i = 1, turns do kept = i end
  return kept
end

function KINDS.empty(turns)
  local kept
  for _ = 1, turns do kept = {} end
  return kept
end

function KINDS.fields(turns)
  local kept
  for _ = 1, turns do kept = { x = 1, y = 2 } end
  return kept
end

function KINDS.array(turns)
  local kept
  for _ = 1, turns do kept = { 1, 2 } end
  return kept
end

-- All closures share one upvalue, which is created outside the loop.
function KINDS.closure(turns)
  local kept, shared
  for _ = 1, turns do kept = function() return shared end end
  shared = turns
  return kept
end

-- Creates two objects per iteration: a closure and its upvalue.
function KINDS.own_upvalue(turns)
  local kept
  for i = 1, turns do kept = function() return i end end
  return kept
end

-- Creates coroutines, but never resumes them.
function KINDS.coroutine(turns)
  local kept
  local create, body = coroutine.create, function() end
  for _ = 1, turns do kept = create(body) end
  return kept
end

-- Creates strings of equal length; after 'span' different ones it starts again with the first one. 'live'
-- is a table that stays alive during the loop (nil: none).
local function texts(turns, span, live)
  local kept
  local format = string.format
  for i = 1, turns do kept = format("text %d", 10000000 + i % span) end
  return kept or live
end

function KINDS.string(turns) return texts(turns, turns + 1) end

-- Creates in turn SPAN strings that exist already, so that no new string is allocated.
function KINDS.interned(turns)
  local live = {}
  for i = 0, SPAN - 1 do live[i] = ("text %d"):format(10000000 + i) end
  return texts(turns, SPAN, live)
end

local function fail(message, value)
  io.stderr:write("garbage.lua: ", message:format(tostring(value)), "\n")
  os.exit(2)
end

local pace, work, turns = arg[1], KINDS[arg[2]], math.tointeger(tonumber(arg[3]))
if pace ~= "stop" and pace ~= "run" then fail("pace must be stop or run, got %q", pace) end
if not work then fail("no kind named %q; the head of bench/micro/garbage.lua says where they are", arg[2]) end
if not turns or turns < 1 then fail("turns must be a positive integer, got %q", arg[3]) end

if pace == "stop" then collectgarbage("stop") end
assert(work(turns))
-- exits without lua_close, because its instructions would be counted too
os.exit(true)
