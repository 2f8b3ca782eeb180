-- SPDX-License-Identifier: MIT
-- Prints the table of bench/garbage: instructions per short-lived object. callgrind counts those of the
-- loops in micro/garbage.lua, with the collector stopped (only allocation) and running (allocation and
-- collection). The heap is nearly empty. The cost of a loop that creates no object is subtracted; for
-- strings, this loop computes strings that exist already.

local start = dofile(arg[1] .. "/bench/runner/start.lua") "bench/garbage"
local root, fail, runner = start.root, start.fail, start.runner

local machine = require "runner.machine"
local slope = require "runner.slope"

-- Numbers of iterations in the short and in the long run of a loop, by pace. With the collector running,
-- the difference must be large enough for many collections, so that one more or less does not matter.
local TURNS = { stop = { 30000, 90000 }, run = { 60000, 360000 } }

-- Each kind of object: its name in micro/garbage.lua, its title, and the kind whose cost is subtracted.
local KINDS = {
  { "fields", "table `{x=1, y=2}`", "nothing" },
  { "array", "table `{1, 2}`", "nothing" },
  { "empty", "table `{}`", "nothing" },
  { "closure", "closure, upvalue shared", "nothing" },
  { "own_upvalue", "closure with its upvalue", "nothing" },
  { "string", "short string", "interned" },
  { "coroutine", "coroutine, never resumed", "nothing" },
}

-- Instructions per iteration of the loops that were counted before, so that no loop runs twice.
local known = {}
local function turn(lua, pace, kind)
  local key = lua .. "\0" .. pace .. "\0" .. kind
  known[key] = known[key] or slope.of(function(turns)
    local usage, message = runner:count(
      { lua, root .. "/bench/micro/garbage.lua", pace, kind, tostring(turns) }, {})
    if not usage then fail(("%s, %s under %s: %s"):format(kind, pace, lua, message)) end
    return usage.instructions
  end, TURNS[pace][1], TURNS[pace][2])
  return known[key]
end

local function cost(lua, kind, control)
  return slope.cost(turn(lua, "stop", kind), turn(lua, "run", kind),
    turn(lua, "stop", control), turn(lua, "run", control))
end

local wanted = start.options "plain fork"
local plain = wanted.plain or "build/plain/bin/lua"
local fork = wanted.fork or "build/bin/lua"

print(machine.line())
print("Instructions per object; see bench/README.md.\n")
print("| dies | plain: allocation | garbage | both | fork: allocation | garbage | both "
  .. "| garbage, plain/fork | both, plain/fork |")
print("|" .. (" --- |"):rep(9))
for _, entry in ipairs(KINDS) do
  local kind, title, control = table.unpack(entry)
  local theirs, ours = cost(plain, kind, control), cost(fork, kind, control)
  print(("| %s | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f | %.2f | %.2f |"):format(title,
    theirs.allocation, theirs.garbage, theirs.both, ours.allocation, ours.garbage, ours.both,
    theirs.garbage / ours.garbage, theirs.both / ours.both))
end
