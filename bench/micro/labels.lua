-- SPDX-License-Identifier: MIT
-- Uses labels of the profiler, for instruction counts (bench/instructions --labels):
--   lua labels.lua none|table|label|with COUNT    COUNT calls of a function: alone, with a new table, or
--                                  with that table as argument of profiler.label or profiler.with
--   lua labels.lua switch|same COUNT PROFILE      COUNT resumes of a coroutine that has another label
--                                  than its caller, or the same one, in an open session
--   lua labels.lua plain|labelled ROUNDS PROFILE  a profiled server with three routes in coroutines,
--                                  which allocate in the ratio 1:2:4, without or with labels

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

-- Resumes a coroutine n times; it yields each time. If 'label' is not nil, the coroutine has this label, so
-- that the label of the running code changes 2n times.
local function switching(label, n)
  if label then profiler.label{route = "/a"} end
  -- yield is a local variable, because the cost of a lookup depends on the seed of string hashes
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
