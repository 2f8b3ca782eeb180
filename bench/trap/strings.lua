-- SPDX-License-Identifier: MIT
-- Objects that are hard for collectors, for bench/pauses --trap: short strings, all of which differ.

return function(k)
  return "string " .. k
end
