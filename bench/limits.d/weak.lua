-- SPDX-License-Identifier: MIT
-- A cache with weak values and a registry with weak keys, of objects that die.
local cache, registry = setmetatable({}, { __mode = "v" }), setmetatable({}, { __mode = "k" })
for i = 1, 3000 do
  local object = { i }
  cache[i % 100], registry[object] = object, { object }
end
