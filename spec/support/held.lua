-- SPDX-License-Identifier: MIT
-- A profile that tells who holds what is alive: for the specs of whatever shows that.

local gen = require "profilegen"

local M = {}

--- The paths that it has, in words.
M.PATHS = {
  '_G → upvalue "listeners" of on (app.lua:3) → ["close"] → [1..n]',
  'package.loaded["app"] → ["cache"]',
}

--- Writes it to 'path': samples of 1 MiB. Of 'keep' (app.lua:12) 'listeners' tables are
-- held by the first path, of 'fill' (app.lua:22) below it 'cached' strings by the second,
-- then one more of 'keep' of which no holder is known, and two that died. 'options': file
-- (of the functions and in the paths), moved (lines, by which all are further down).
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
