-- SPDX-License-Identifier: MIT
-- bench/copies: for each line, the bytes estimated from copy samples must agree with the exact count in the
-- same run.

local shell = require "spec.support.shell"

describe("bench/copies #plain", function()
  -- These lines copy at least 13 MB. With 13,000 samples or more, an error of 5% is 5 standard errors, and
  -- the seeds are fixed. The bytes of line 41 vary: its array can grow in place if the memory after it is
  -- free.
  it("estimates the copied bytes of lines within 5%, and prints that", function()
    local out = shell.output "timeout 300 bench/copies quadratic rehash 2>&1"
    for line, bytes in pairs{[10] = "119993388", [40] = "24552000", [41] = "%d+"} do
      local ratio = out:match(("\n| %%a+ | %d | %s | %%d+ | ([%%d.]+) | %%d+ |"):format(line, bytes))
      assert.is_true(ratio and math.abs(ratio - 1) <= 0.05, out)
    end
  end)
end)
