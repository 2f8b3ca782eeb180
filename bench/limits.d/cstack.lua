-- SPDX-License-Identifier: MIT
-- C calls are nested to a depth of 40, each with a buffer and a pcall; every tenth call is in a new
-- coroutine.
local function nested(n)
  if n == 0 then return "end" end
  return (("."):gsub(".", function()
    local good, text = pcall(n % 10 == 0 and coroutine.wrap(nested) or nested, n - 1)
    return good and text or error(text, 0)
  end))
end
for _ = 1, 20 do assert(nested(40) == "end") end
