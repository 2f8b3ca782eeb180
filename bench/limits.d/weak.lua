-- SPDX-License-Identifier: MIT
-- Stores short-lived objects in a table with weak values and as keys in a table with weak keys.
local cache, registry = setmetatable({}, { __mode = "v" }), setmetatable({}, { __mode = "k" })
for i = 1, 3000 do
  local object = { i }
  cache[i % 100], registry[object] = object, { object }
end
