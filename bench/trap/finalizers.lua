-- SPDX-License-Identifier: MIT
-- Objects that are hard for collectors, for bench/pauses --trap: objects with finalizers, each of which
-- refers to two more objects.

local called = 0
local mt = { __gc = function() called = called + 1 end }

return function(k)
  return setmetatable({ { k }, { -k } }, mt)
end
