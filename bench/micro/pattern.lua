-- SPDX-License-Identifier: MIT
-- A program that repeats a pattern of allocations, for bench/sites: lua pattern.lua size|small|tiny. Each
-- iteration allocates 256 bytes in all, at four lines. With fixed sampling intervals, whose length is a
-- power of two from 256 on, all samples fall on the same line, as long as nothing else is allocated. With
-- random intervals, each line gets its share.

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
