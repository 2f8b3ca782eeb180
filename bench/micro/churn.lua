-- SPDX-License-Identifier: MIT
-- A large live heap and steady garbage. bench/pauses.c runs this file with three numbers:
--   records    number of live records. Each record is a table of four fields, a table of three elements and a
--              string: three objects, about 320 bytes
--   page       number of records per array; another array contains all these arrays
--   survivors  how many of the 16 records of a batch replace a live one
-- The file returns three functions without parameters:
--   fill   creates the live heap
--   batch  creates 16 records, 'survivors' of which each replace a random live record. For each of these,
--          also stores a new string in another live record. All other new records become garbage
--   idle   takes about as long as 'batch', but creates no objects
-- Records do not refer to each other, so that a replaced record becomes garbage immediately.

local BATCH = 16

local records, page_size, survivors = ...
local random = math.random
local pages, made = {}, 0

local function record()
  made = made + 1
  return { id = made, name = "record " .. made, links = { made, -made, made * 2 }, hits = 0 }
end

local function fill()
  for first = 1, records, page_size do
    local page = {}
    for i = 1, math.min(page_size, records - first + 1) do page[i] = record() end
    pages[#pages + 1] = page
  end
end

-- Returns a random array of records, and a random index in it.
local function pick()
  local page = pages[random(#pages)]
  return page, random(#page)
end

local function batch()
  for i = 1, BATCH do
    local fresh = record()
    if i <= survivors then
      local page, place = pick()
      page[place] = fresh
      page, place = pick()
      local seen = page[place]
      seen.hits = seen.hits + 1
      seen.name = "seen by " .. made
    end
  end
end

local function idle()
  local sum = 0
  for i = 1, 2000 do sum = sum + i end
  return sum
end

math.randomseed(42)
return fill, batch, idle
