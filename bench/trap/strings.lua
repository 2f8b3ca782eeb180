-- SPDX-License-Identifier: MIT
-- Trap: short strings, no two alike.

return function(k)
  return "string " .. k
end
