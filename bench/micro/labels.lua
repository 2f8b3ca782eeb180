-- SPDX-License-Identifier: MIT
-- Programs that use labels of the profiler, for instruction counts (bench/instructions --labels):
--   lua labels.lua none|table|label|with COUNT
--     Calls an empty function COUNT times. 'table' also creates a table each time; 'label' and 'with' also
--     pass this table to profiler.label or profiler.with.
--   lua labels.lua switch|same COUNT PROFILE
--     Resumes a coroutine COUNT times in an open session. With 'switch', the coroutine has another label
--     than its caller, with 'same' the same one.
--   lua labels.lua plain|labelled ROUNDS PROFILE
--     A profiled server. Its three routes run in coroutines, allocate in the ratio 1:2:4, and with
--     'labelled' each has a label.

local profiler = require "profiler"

local ROUTES = {"/a", "/b", "/c"}

local function work() end

local CALLS = {
  none = function(n) for _ = 1, n do work() end end,
  table = function(n)
    local t
    for i = 1, n do t = {route = ROUTES[i % 3 + 1]} work() end
    return t
  end,
  label = function(n) for i = 1, n do profiler.label{route = ROUTES[i % 3 + 1]} work() end end,
  with = function(n) for i = 1, n do profiler.with({route = ROUTES[i % 3 + 1]}, work) end end,
}

local function server(labelled, rounds)
  local kept, live = {}, {}
  local function serve(route, n)
    if labelled then profiler.label{route = route} end
    for i = 1, n do
      kept[i], kept[-i] = {i, i, i}, "x" .. i
      if i % 50 == 0 then coroutine.yield() end
    end
  end
  for _ = 1, rounds do
    for i, route in ipairs(ROUTES) do
      live[#live + 1] = coroutine.wrap(function() serve(route, 500 << i) return true end)
    end
    for i = #live, 1, -1 do
      if live[i]() then table.remove(live, i) end
    end
  end
  for i = #live, 1, -1 do while not live[i]() do end end
  return kept
end

-- Resumes a coroutine n times; it yields each time. If 'label' is not nil, the coroutine has the label "/a"
-- and its caller has 'label'. If these differ, the label of the running code changes 2n times.
local function switching(label, n)
  if label then profiler.label{route = "/a"} end
  -- yield is a local variable, because the cost of a table lookup would depend on the seed of string hashes
  local yield = coroutine.yield
  local co = coroutine.wrap(function() while true do yield() end end)
  if label then profiler.label{route = label} end
  for _ = 1, n do co() end
end

local what, n = arg[1], math.tointeger(tonumber(arg[2]))
if CALLS[what] then return CALLS[what](n) end
if what == "switch" or what == "same" then
  assert(profiler.enable{alloc = 1 << 40, seed = 5, out = arg[3], overwrite = true, quiet = true})
  return switching(what == "switch" and "/b" or "/a", n)
end
assert(profiler.enable{alloc = 16384, seed = 5, out = arg[3], overwrite = true, quiet = true})
server(what == "labelled", n)
assert(profiler.disable())
