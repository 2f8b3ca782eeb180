-- SPDX-License-Identifier: MIT
-- Each event refers to the previous one, and no event is ever removed.
-- The code in the next line removes the leaked reference (bench/proofs).
-- cut: log.newest = nil
local log = {newest = nil}

local function record(kind, at)
  log.newest = {kind = kind, at = at, before = log.newest, data = {at, at}}
end

for i = 1, 40000 do record("tick", i) end
print(log.newest.at)
