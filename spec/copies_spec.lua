-- SPDX-License-Identifier: MIT
-- bench/copies: for each line, the estimate from copy samples must agree with the exact count of copied
-- bytes in the same run.

local shell = require "spec.support.shell"

describe("bench/copies #plain", function()
  -- Lines that copy 13 MB and more have at least 13,000 samples, so that 5% are 5 standard errors; the
  -- seeds are fixed. For line 41 the number of bytes is not given: how much of its array grows in place
  -- depends on the free memory after it.
  it("estimates the copied bytes of lines within 5%, and prints that", function()
    local out = shell.output "timeout 300 bench/copies quadratic rehash 2>&1"
    for line, bytes in pairs{[10] = "119993388", [40] = "24552000", [41] = "%d+"} do
      local ratio = out:match(("\n| %%a+ | %d | %s | %%d+ | ([%%d.]+) | %%d+ |"):format(line, bytes))
      assert.is_true(ratio and math.abs(ratio - 1) <= 0.05, out)
    end
  end)
end)
