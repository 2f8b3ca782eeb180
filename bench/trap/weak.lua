-- SPDX-License-Identifier: MIT
-- Objects that are hard for collectors, for bench/pauses --trap: a table with weak values and a table with
-- weak keys, which both contain all objects. All objects die at the same time.

local byid, numbers = setmetatable({}, { __mode = "v" }), setmetatable({}, { __mode = "k" })

return function(k)
  local object = { k }
  byid["object " .. k], numbers[object] = object, { k }
  return object
end
