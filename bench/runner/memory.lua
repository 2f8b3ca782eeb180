-- SPDX-License-Identifier: MIT
-- Prints a row of the table of bench/memory: lua memory.lua NAME SAID PROFILE. SAID is the file with the
-- output of the program. Exit status 1: the sum of the rows of asamp memory differs by more than LIMIT from
-- the resident memory that the system reported.

local reader = require "profiler.reader"
local resident = require "asamp.sums.resident"

local LIMIT = 0.02

local name, said, path = arg[1], arg[2], arg[3]
local rss, count, native = io.lines(said)():match "^(%d+) (%d+) (-?%d+)$"
local now = resident.ofprofile(assert(reader.read(path))).last
local rows = {}
for _, row in ipairs(now.rows) do
  rows[row.what] = row
end

local function bytes(what)
  return rows[what] and rows[what].bytes or 0
end

local function mib(n)
  return ("%.2f"):format(n / (1 << 20))
end

local off = now.sum / rss - 1
print(("| %s | %s | %s | %+.2f%% | %s / %s | %s | %s / %s | %s |"):format(name, mib(rss),
  mib(now.sum), 100 * off, mib(bytes "lua.old" + bytes "lua.new"), mib(count),
  mib(bytes "lua.free"), mib(bytes "native"),
  native == "-1" and "-" or mib(native),
  rows.native and #rows.native.parts > 0 and mib(rows.native.known) or "-"))
os.exit(math.abs(off) <= LIMIT and 0 or 1)
