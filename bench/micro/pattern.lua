-- SPDX-License-Identifier: MIT
-- Allocates in a pattern whose length divides every power of two from 256 on, for bench/sites: lua
-- pattern.lua size|small|tiny. Each iteration allocates 256 bytes at four lines. With fixed sampling
-- intervals, all samples of a run are on the same line, as long as nothing else is allocated.

local TURNS = { size = 400000, small = 40000, tiny = 10 }

local function turn(previous)
  local head = { previous and previous.value }
  local pair = { head.value, 2 }
  local record = { value = 1, next = pair }
  record.next = {}
  return record
end

local turns = TURNS[arg[1]]
if not turns then
  io.stderr:write(('pattern.lua: size must be size, small or tiny, got "%s"\n'):format(tostring(arg[1])))
  os.exit(2)
end

local last
for _ = 1, turns do last = turn(last) end
print("pattern " .. turns .. ": " .. last.value)
