-- SPDX-License-Identifier: MIT
-- Dropped tables have a finalizer in Lua that refers to their contents.
local count = 0
local Class = { __gc = function(object) count = count + #object.name end }
for i = 1, 2000 do setmetatable({ name = "object " .. i, { i } }, Class) end
collectgarbage()
assert(count > 2000)
