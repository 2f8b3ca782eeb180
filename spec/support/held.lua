-- SPDX-License-Identifier: MIT
-- Writes a profile that contains the holders of live objects (the paths of references that keep them
-- alive), for specs of the commands that print them.

local gen = require "profilegen"

local M = {}

-- The paths of references to the live objects in the profile.
M.PATHS = {
  '_G → upvalue "listeners" of on (app.lua:3) → ["close"] → [1..n]',
  'package.loaded["app"] → ["cache"]',
}

-- Writes the profile to 'path'. Each sample represents 1 MiB. Three groups of objects are alive:
--   - 'listeners' tables, allocated by the function keep (app.lua:12) and held by the first path
--   - 'cached' strings, allocated by the function fill (app.lua:22) and held by the second path
--   - one table of keep, whose holder is unknown
-- Two more tables of keep have died. 'options': file (name of the source file in functions and paths;
-- default app.lua) and moved (a number that is added to all line numbers; default 0).
function M.write(path, listeners, cached, options)
  local file, moved = options and options.file or "app.lua", options and options.moved or 0
  local p = assert(gen.open{path = path, period = 1 << 20, followed = 100000, random = true})
  p:name(8, "main chunk", 0, "@" .. file)
  p:name(16, "keep", 10 + moved, "@" .. file)
  p:name(24, "fill", 20 + moved, "@" .. file)
  local ids, fates = {}, {}
  for i = 1, listeners + cached + 3 do
    local dead, cache = i > listeners + cached + 1, i > listeners and i <= listeners + cached
    if cache then
      p:sample{24, 22 + moved, 16, 13 + moved, 8, 1, kind = 3, size = 100}
    else
      p:sample{16, 12 + moved, 8, 1, kind = 0, size = 64}
    end
    fates[i] = dead and "0" or "1"
    ids[i] = not dead and (cache and 6 or i <= listeners and 4 or 0) or nil
  end
  p:collection{fates = table.concat(fates), major = true}
  for id, step in ipairs{"_G", ('upvalue "listeners" of on (%s:%d)'):format(file, 3 + moved), '["close"]',
                         "[1..n]", 'package.loaded["app"]', '["cache"]'} do
    p:holderpath(id, id == 5 and 0 or id - 1, step)
  end
  p:holders(ids)
  assert(p:close())
end

return M
