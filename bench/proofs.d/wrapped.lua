-- SPDX-License-Identifier: MIT
-- Each reload wraps the handler of the previous reload.
-- The code in the next line removes the leaked reference (bench/proofs).
-- cut: app.handler = nil
local app = {handler = function(x) return x end}

local function reload(version)
  local before, settings = app.handler, {version = version, names = {"a", "b"}}
  app.handler = function(x)
    if settings.version < 0 then return before(x) end
    return x + 1
  end
end

local n = 0
for i = 1, 30000 do
  reload(i)
  n = n + app.handler(i)
end
print(n)
