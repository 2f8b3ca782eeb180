-- SPDX-License-Identifier: MIT
-- Userdata of up to 2,000 bytes with a finalizer in C are created; 20 of them are alive at a time.
local live = {}
for i = 1, 1500 do live[i % 20] = newdata(i * 37 % 2000 + 1) end -- luacheck: ignore 113
assert(live[0])
