-- SPDX-License-Identifier: MIT
-- Tables with a finalizer, a Lua function that reads their contents, are created and dropped.
local count = 0
local Class = { __gc = function(object) count = count + #object.name end }
for i = 1, 2000 do setmetatable({ name = "object " .. i, { i } }, Class) end
collectgarbage()
assert(count > 2000)
