-- SPDX-License-Identifier: MIT
--
-- Random programs for the specs of the heap. They are generated from a seed, run in a separate state
-- (spec/support/states.c), and shortened if they fail. A program is a text with one "action slot size" on
-- each line. Its actions work on slots, each of which has a value and its expected contents. Every value is
-- checked before it is dropped, so that memory that was allocated twice is found as a wrong value. The
-- heap's invariants are checked after each action. If an action ends in a memory error, some values are
-- dropped, and the program continues.

local process = require "spec.support.process"
local states = require "states"

local M = {}

local SLOTS = 40

-- The relative frequencies of the actions.
local WEIGHTS = {
  table = 6, short = 6, long = 6, userdata = 6, values = 2, closure = 5,
  cclosure = 2, coroutine = 5, append = 5, shrink = 4, keys = 4, drop = 10,
  dropmany = 1, garbage = 5, deep = 1, chunk = 3, finalizer = 3, weak = 3,
  raise = 2, tobeclosed = 1, full = 2, step = 4, mode = 1, look = 2,
}

-- Returns the random program of a seed, with n actions.
function M.generate(seed, n)
  local bag = {}
  for name, weight in pairs(WEIGHTS) do
    for _ = 1, weight do bag[#bag + 1] = name end
  end
  table.sort(bag)
  math.randomseed(seed, 0)
  local random, lines = math.random, {}
  for i = 1, n do
    local size = ({7, 16, 130, 1000, 9000, 30000})[random(6)]
    lines[i] = ("%s %d %d"):format(bag[random(#bag)], random(SLOTS), random(0, size))
  end
  return table.concat(lines, "\n")
end

-- Executes a program. Called in the tested state, so that its only upvalue is _ENV. Raises an error if a
-- value is wrong or an invariant does not hold.
function M.play(state, program)
  -- by slot: {value, expected contents, function that checks the value}
  local world = {}
  local act = {}

  local function put(slot, value, known, looker)
    world[slot] = {value, known, looker}
  end

  local function look(slot)
    local w = world[slot]
    if w and not w[3](w[1], w[2]) then
      error(("slot %d holds a value that lies (%s)"):format(slot, type(w[1])), 0)
    end
  end

  local function isarray(t, n)
    for i = 1, n do
      if t[i] ~= i then return false end
    end
    return t[n + 1] == nil
  end

  function act.table(slot, size)
    local n = size % 300
    local t = state.table(n, size % 9)
    for i = 1, n do t[i] = i end
    put(slot, t, n, isarray)
  end

  function act.append(slot, size)
    local w = world[slot]
    if not w or w[3] ~= isarray then return act.table(slot, size) end
    local t, n = w[1], w[2]
    for i = n + 1, n + size % 1000 do t[i] = i end
    w[2] = n + size % 1000
  end

  function act.shrink(slot, size)
    local w = world[slot]
    if not w or w[3] ~= isarray then return act.table(slot, size) end
    local t, n = w[1], w[2]
    local left = n // 4
    for i = n, left + 1, -1 do t[i] = nil end
    -- new keys make Lua rehash the table, so that the vectors shrink
    for i = 1, 5 do t["key" .. i] = i end
    w[2] = left
  end

  function act.keys(slot, size)
    local t, n = {}, size % 500
    for i = 1, n do t["key" .. i] = i end
    for i = 1, n, 3 do t["key" .. i] = nil end
    put(slot, t, n, function(v, known)
      for i = 1, known do
        local want = i % 3 ~= 1 and i or nil
        if v["key" .. i] ~= want then return false end
      end
      return true
    end)
  end

  local function isstring(s, known)
    return s == state.string(known, 97 + known % 26)
  end

  function act.short(slot, size)
    local n = size % 41
    put(slot, state.string(n, 97 + n % 26), n, isstring)
  end

  function act.long(slot, size)
    put(slot, state.string(size, 97 + size % 26), size, isstring)
  end

  function act.userdata(slot, size)
    put(slot, state.userdata(size), size, state.intact)
  end

  function act.values(slot, size)
    local u = state.userdata(size % 400, size % 7)
    for i = 1, size % 7 do debug.setuservalue(u, "value " .. i, i) end
    put(slot, u, size % 7, function(v, known)
      for i = 1, known do
        if debug.getuservalue(v, i) ~= "value " .. i then return false end
      end
      return state.intact(v)
    end)
  end

  function act.closure(slot, size)
    local a, b, c = size, tostring(size), {size}
    put(slot, function() return a, b, c end, size, function(f, known)
      local x, y, z = f()
      return x == known and y == tostring(known) and z[1] == known
    end)
  end

  function act.cclosure(slot, size)
    put(slot, state.closure(size % 200), nil, function(f) return f() > 0 end)
  end

  -- Calls itself 'depth' times, every seventh time in a new coroutine. The innermost call yields; at the
  -- end all return 'value'.
  local function nest(depth, value)
    if depth == 0 then
      coroutine.yield("waiting")
      return value
    end
    if depth % 7 ~= 0 then
      return (nest(depth - 1, value))
    end
    local inner = coroutine.wrap(nest)
    local got = inner(depth - 1, value)
    while got == "waiting" do
      coroutine.yield(got)
      got = inner()
    end
    return got
  end

  function act.coroutine(slot, size)
    local co = coroutine.create(nest)
    assert(coroutine.resume(co, size % 60, {size}))
    put(slot, co, size, function(thread, known)
      if coroutine.status(thread) == "dead" then return true end
      local _, got = coroutine.resume(thread)
      if type(got) == "string" and got ~= "waiting" then error(got, 0) end
      return type(got) == "table" and got[1] == known
    end)
  end

  function act.deep(_, size)
    local function down(n)
      if n == 0 then return 0 end
      return 1 + down(n - 1)
    end
    if down(size % 3000) ~= size % 3000 then error("a deep call lies", 0) end
  end

  function act.garbage(_, size)
    for i = 1, size % 700 do
      local t = {i, {i .. "th"}}
      t.f = function() return t end
    end
  end

  function act.chunk(slot, size)
    local text = ("local a = %d; return function(x) return {x + a, %q} end")
                 :format(size, ("s"):rep(size % 90))
    put(slot, assert(load(text))(), size, function(f, known)
      return f(1)[1] == known + 1 and #f(1)[2] == known % 90
    end)
  end

  function act.finalizer(slot, size)
    local o = setmetatable({size}, {__gc = function(self)
      local copy = {}
      for i = 1, size % 50 do copy[i] = {self[1]} end
      if #copy ~= size % 50 then error("a finalizer's table lies") end
      if size % 3 == 0 and not world[slot] then  -- resurrects this object in the slot
        put(slot, self, size, function(v, known) return v[1] == known end)
      end
    end})
    put(slot, o, size, function(v, known) return v[1] == known end)
  end

  function act.weak(slot, size)
    local t = setmetatable({}, {__mode = ({"k", "v", "kv"})[size % 3 + 1]})
    local kept = {}
    for i = 1, size % 60 do
      local key = {i}
      t[key] = i % 2 == 0 and {key} or key
      if i % 5 == 0 then kept[key] = t[key] end
    end
    put(slot, t, kept, function(v, known)
      for key, value in pairs(known) do
        if v[key] ~= value then return false end
      end
      return true
    end)
  end

  function act.raise(_, size)
    local ok, e = pcall(function()
      local t = {}
      for i = 1, size % 100 do t[i] = {} end
      error({size, t})
    end)
    if type(e) == "string" then error(e, 0) end
    if ok or e[1] ~= size then error("an error lies", 0) end
  end

  function act.tobeclosed(_, size)
    local closed = 0
    do
      local a <close> = setmetatable({}, {__close = function() closed = closed + size end})
      local b <close> = setmetatable({a}, {__close = function() closed = closed + 1 end})
      if b[1] ~= a then error("a variable to be closed lies", 0) end
    end
    if closed ~= size + 1 then error("not closed", 0) end
  end

  function act.drop(slot) look(slot); world[slot] = nil end
  function act.dropmany(slot) for i = slot, slot + 20 do act.drop(i) end end
  function act.look(slot) look(slot) end
  function act.full() collectgarbage() end
  function act.step(_, size) collectgarbage("step", size % 64) end
  function act.mode(_, size)
    collectgarbage(size % 2 == 0 and "incremental" or "generational")
  end

  -- called at the end: checks and drops all values
  state.playing = function()
    for slot in pairs(world) do look(slot) end
    world = {}
    collectgarbage()
    state.check()
  end
  local at = 0
  for name, slot, size in program:gmatch("(%a+) (%d+) (%d+)") do
    at = at + 1
    slot = tonumber(slot)
    local ok, e = pcall(act[name], slot, tonumber(size))
    if not ok and tostring(e):find("not enough memory$") then  -- make room
      for i = slot % 2, 40, 2 do world[i] = nil end
    elseif not ok then
      error(("action %d (%s): %s"):format(at, name, tostring(e)), 0)
    end
    state.check()
  end
  state.playing()
end

-- Opens a state with these options and runs a program in it. Returns the error, or nil. A memory error is
-- accepted if the options limit memory.
function M.try(program, options)
  local s, opened = states.open(options)
  if opened == "ok" then
    local status, e = s:run(M.play, program)
    if status ~= "ok" and not (options and e == "not enough memory") then
      return status .. ": " .. tostring(e)
    end
    local broken = s:check()
    if broken then return broken end
    s:refuse {}
    status, e = s:run("collectgarbage() return #('x'):rep(100)")
    if status ~= "ok" or e ~= 100 then return "afterwards: " .. tostring(e) end
  elseif not options then
    return "cannot be opened: " .. opened
  end
  local left, wrong = s:close(), s:stats().wrong
  if wrong then return wrong end
  if left ~= 0 then return left .. " bytes left after lua_close" end
end

-- Runs a program in a separate process, because a broken heap may crash. Returns the error, or nil. Tries
-- three times: each state hashes strings with another seed, so that a failure may not occur each time.
local function tryapart(program, options)
  for _ = 1, 3 do
    local status, text = process.code([[
      local text, limit = ...
      local wrong = require "spec.lua.gc.actions".try(text, limit and {limit = tonumber(limit)})
      if wrong then io.write(wrong) os.exit(1) end]],
      program, options and options.limit)
    if status ~= 0 then
      return ("status %d: %s"):format(status, text:sub(-600))
    end
  end
end

-- Removes lines of the program that the failure does not need, first many at a time, then fewer.
local function shorten(program, options)
  local lines = {}
  for line in program:gmatch("[^\n]+") do lines[#lines + 1] = line end
  local part, tries = #lines // 2, 0
  while part >= 1 and tries < 200 do
    local i = 1
    while i <= #lines and tries < 200 do
      local rest = table.move(lines, 1, i - 1, 1, {})
      table.move(lines, i + part, #lines, i, rest)
      tries = tries + 1
      if tryapart(table.concat(rest, "\n"), options) then lines = rest
      else i = i + part end
    end
    part = part // 2
  end
  return table.concat(lines, "\n")
end

-- Checks that the programs of the seeds 'first' to 'last', with n actions each, keep the heap intact.
-- 'limit': bytes that each state may allocate, or nil.
function M.property(first, last, n, limit)
  local options = limit and {limit = limit}
  local status, text = process.code([[
    local first, last, n, limit = ...
    local actions = require "spec.lua.gc.actions"
    for seed = first, last do
      io.write("seed ", seed, "\n"):flush()
      local wrong = actions.try(actions.generate(seed, tonumber(n)),
                                limit and {limit = tonumber(limit)})
      if wrong then io.write(wrong) os.exit(1) end
    end]], first, last, n, limit)
  if status == 0 then return end
  local seed
  for s in text:gmatch("seed (%d+)") do seed = tonumber(s) end
  local short = seed and shorten(M.generate(seed, n), options)
  error(("seed %s, %d actions, limit %s: status %d: %s\nshortened:\n%s\n%s"):format(
    seed, n, limit, status, text:sub(-300), short, short and tryapart(short, options)), 2)
end

return M
