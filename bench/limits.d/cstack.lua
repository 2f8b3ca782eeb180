-- SPDX-License-Identifier: MIT
-- Nests C calls to a depth of 40. Each has a buffer on the C stack and a pcall, and every tenth one runs in
-- a new coroutine.
local function nested(n)
  if n == 0 then return "end" end
  return (("."):gsub(".", function()
    local good, text = pcall(n % 10 == 0 and coroutine.wrap(nested) or nested, n - 1)
    return good and text or error(text, 0)
  end))
end
for _ = 1, 20 do assert(nested(40) == "end") end
