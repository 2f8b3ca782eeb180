-- SPDX-License-Identifier: MIT
-- Dumps functions to strings and loads them again.
local parts = {}
for i = 1, 60 do parts[i] = ("local v%d = {%d, 'text %d'}"):format(i, i, i) end
local f = assert(load(table.concat(parts, "\n") .. " return v7[1]"))
for _ = 1, 30 do assert(load(string.dump(f))() == 7) end
