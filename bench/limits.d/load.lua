-- SPDX-License-Identifier: MIT
-- Compiles chunks of 100 functions and drops them.
local parts = {}
for i = 1, 100 do parts[i] = ("function t.f%d(a, b) return a + b * %d end"):format(i, i) end
local source = "local t = {} " .. table.concat(parts, "\n") .. " return t"
for i = 1, 6 do assert(load(source)().f7(i, 1) == i + 7) end
