-- SPDX-License-Identifier: MIT
-- Big old tables that grow, shrink and lose entries while young values are
-- stored into them: the slots that are remembered follow their values into new
-- vectors (luaN_resized), and weak values are cleared slot by slot.
--
-- A bug that was: the key that made a table grow could find its place in the new
-- array part, which luaH_newkey does not see; nobody remembered its value, and
-- the next minor collection took it for dead.

local child = require "spec.support.child"

local PROGRAM = [[
  local mode, weak, nursery, seed = ...
  math.randomseed(seed)
  collectgarbage(mode)
  collectgarbage("nursery", nursery)
  local mt = weak ~= "" and {__mode = weak} or nil
  local held, t = {}, setmetatable({}, mt)
  local function key()
    local kind = math.random(4)
    return kind == 1 and math.random(500) or kind == 2 and "k" .. math.random(400)
      or kind == 3 and math.random() or math.random(20000)
  end
  for i = 1, 30000 do
    local k = key()
    if math.random(3) == 1 then t[k], held[k] = nil, nil
    else
      local v = {k}
      t[k], held[k] = v, v
      t[-i] = weak:find "v" and {} or nil  -- dies at once
    end
    if i % 7000 == 0 then t, held = setmetatable({}, mt), {} end
    if i % 499 == 0 then
      for at, v in pairs(held) do assert(t[at] == v and v[1] == at, at) end
    end
  end
  collectgarbage()
  for at, v in pairs(t) do assert(held[at] == v, at) end
  for at, v in pairs(held) do assert(t[at] == v, at) end
]]

describe("big tables that are resized while they hold what is young", function()
  for _, mode in ipairs {"generational", "incremental"} do
    for _, weak in ipairs {"", "v", "k", "kv"} do
      it(("lose nothing: %s, mode '%s'"):format(mode, weak), function()
        for seed, nursery in ipairs {2000, 20000, 100000} do
          local status, text = child.run(PROGRAM, mode, weak, nursery, seed)
          assert.equal(0, status, text)
        end
      end)
    end
  end
end)
