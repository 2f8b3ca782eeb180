-- SPDX-License-Identifier: MIT
-- bench/longrun, which measures profiles of long runs. The spec runs it with few loads and collections, and
-- checks its output.

local shell = require "spec.support.shell"

describe("bench/longrun #plain", function()
  it("finds the totals of long profiles right", function()
    local out = shell.output "bench/longrun --loads 20000 --names 20000 --collections 2000 --lines 20000"
    for _, what in ipairs{"20000 loads", "2000 collections", "a file of 20000 collections"} do
      assert.truthy(out:find("\n| " .. what .. " | ", 1, true), out)
    end
    assert.truthy(out:find("| 1.0000 | 19800 of 19800 | 200 of 200 |", 1, true), out)
  end)
end)
