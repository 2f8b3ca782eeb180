-- SPDX-License-Identifier: MIT
-- Objects that are hard for some collectors (a trap), and steady garbage, for bench/pauses --trap.
-- bench/pauses.c runs this file with
--   size       largest number of live objects of the trap
--   batches    number of batches of the run
--   survivors  not used
--   path       a file of bench/trap. It returns make, a function that creates object number i. Or, if it
--              keeps its objects itself, it returns a table with
--                build(i, n)  creates the objects i to i + n - 1 and keeps them
--                drop()       drops all of them
--                shrink(n)    optional: drops the n newest ones
-- and receives the functions fill, batch and idle, as from churn.lua. During the run all objects are
-- created, stay for some batches, and are dropped (step by step if there is a function shrink). Then all of
-- this happens again, but they are dropped at once. Each batch also creates garbage.

local GARBAGE = 16

local size, batches, _, path = ...
local trap = dofile(path)

-- Turns a function make(i), which creates object number i, into a trap with 'build' and 'drop'. Keeps the
-- objects in many tables of PAGE elements, because one big table would itself be hard for collectors.
local PAGE = 1024

local function paged(make)
  local pages = {}
  return {
    build = function(i, n)
      for k = i, i + n - 1 do
        local page = pages[k // PAGE]
        if not page then
          page = {}
          pages[k // PAGE] = page
        end
        page[#page + 1] = make(k)
      end
    end,
    drop = function() pages = {} end,
  }
end

if type(trap) == "function" then trap = paged(trap) end
local made, count = 0, 0

-- The phases of the run: the end of each, in tenths of the number of batches, and its name.
local PHASES = { { 4, "build" }, { 4.5, "stay" }, { 5, "shrink" }, { 9, "build" }, { 9.2, "stay" },
  { 10, "gone" } }

local per_build = math.max(1, math.ceil(size / (batches * 0.39)))
local per_shrink = math.max(1, math.ceil(size / (batches * 0.05)))

local records = 0
local function garbage()
  for i = 1, GARBAGE do
    local record = { id = i, name = "record " .. count * GARBAGE + i, links = { i, -i } }
    record.hits = #record.name
    records = records + record.hits % 2
  end
end

local function phase()
  local at = count / batches * 10
  for _, each in ipairs(PHASES) do
    if at < each[1] then return each[2] end
  end
  return "gone"
end

local function batch()
  count = count + 1
  local what = phase()
  if what == "build" then
    local n = math.min(per_build, size - made)
    if n > 0 then trap.build(made + 1, n) end
    made = made + n
  elseif what == "shrink" and trap.shrink then
    local n = math.min(per_shrink, made)
    if n > 0 then trap.shrink(n) end
    made = made - n
  elseif what ~= "stay" and made > 0 then
    trap.drop()
    made = 0
  end
  garbage()
end

local function idle()
  local sum = 0
  for i = 1, 2000 do sum = sum + i end
  return sum
end

return function() end, batch, idle
