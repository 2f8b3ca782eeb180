-- SPDX-License-Identifier: MIT
-- A loop that creates and drops one object per iteration, for instruction counts (bench/garbage):
--   lua garbage.lua PACE KIND TURNS
-- PACE   run: the collector runs with the interpreter's defaults; stop: it does not run
-- KIND   the name of a function of KINDS. The loops 'nothing' and 'interned' create no object; their
--        costs are subtracted from those of the other loops
-- TURNS  number of iterations
-- The loops differ only in the objects. string.format creates the strings, and no other object.

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

-- Creates coroutines, which are never resumed.
function KINDS.coroutine(turns)
  local kept
  local create, body = coroutine.create, function() end
  for _ = 1, turns do kept = create(body) end
  return kept
end

-- Creates 'span' different texts of the same length, one after the other and again and again. 'live' is a
-- table that is kept alive during the loop.
local function texts(turns, span, live)
  local kept
  local format = string.format
  for i = 1, turns do kept = format("text %d", 10000000 + i % span) end
  return kept or live
end

function KINDS.string(turns) return texts(turns, turns + 1) end

-- Each iteration creates one of SPAN texts that exist already, so that no new string is allocated.
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
-- ends without lua_close, which would free all remaining objects
os.exit(true)
