-- SPDX-License-Identifier: MIT
--
-- A weak table becomes strong while the sweep still has to remove entries with dead keys from it
-- (luaN_isdoomed of lua/gc/mark/weak.h). The verifier of the debug build must ignore these entries, and so
-- must snapshots.

local process = require "spec.support.process"

describe("a weak table that becomes strong during the sweep", function()
  for _, mode in ipairs {"k", "kv"} do
    it("has no dead keys for the verifier or the program: " .. mode, function()
      local status, text = process.code([[
        local core = require "profiler.core"
        local mt, none = {__mode = ...}, {}
        for round = 1, 3 do
          local t, keys = setmetatable({}, mt), {}
          for i = 1, 20000 do
            local key = {i}
            keys[i] = key
            t[key] = {i}
          end
          collectgarbage()
          keys = nil
          for i = 1, 120000 do
            local garbage = {i}
            if i % 300 == 0 then
              setmetatable(t, none)
              local whole, fault = core.check()
              if not whole then error(fault) end
              for key, value in next, t do
                assert(key[1] == value[1])
                break
              end
              setmetatable(t, mt)
            end
          end
        end
        io.write "ok"]], mode)
      assert.same({0, "ok"}, {status, text})
    end)
  end
end)
