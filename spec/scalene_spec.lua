-- SPDX-License-Identifier: MIT
-- bench/scalene, a benchmark of the accuracy of profilers, at a tiny size. Values that do not depend on the
-- speed of the machine must be the known ones.

local shell = require "spec.support.shell"

describe("bench/scalene #plain", function()
  local out
  setup(function()
    out = shell.output "timeout 300 bench/scalene 10 tiny 1 2>&1"
  end)

  local function column(what)
    local list = {}
    for value in out:gmatch("\n| " .. what .. " | %d+ | [^|]+ | [^|]+ | ([^|]+) |") do
      list[#list + 1] = tonumber(value)
    end
    return list
  end

  it("gives bytes and copies to the lines that are known to have made them", function()
    local bytes, copied = column "bytes allocated", column "bytes copied"
    assert.equal(2, #bytes, out)
    assert.equal(1, #copied, out)
    -- these values have at least 350 samples, so that 27% are 5 standard errors
    for _, ratio in ipairs(bytes) do assert.is_true(math.abs(ratio - 1) < 0.27, out) end
    assert.is_true(math.abs(copied[1] - 1) < 0.05, out)
  end)

  -- 100 MB have 1,500 samples, so that 16% are 6 standard errors.
  it("reports native memory whether it was written to or not", function()
    for _, what in ipairs{"touched", "untouched"} do
      local ratio = out:match("\n| " .. what .. " | %d+ | 100000000 | %d+ | ([%d.]+) | %d+ |")
      assert.is_true(ratio and math.abs(ratio - 1) < 0.16, out)
    end
  end)

  it("prints the cost of each program's full profile, next to the paper's", function()
    for _, name in ipairs{"json", "strings", "binary_trees", "nbody"} do
      assert.matches("\n| " .. name .. " | %d+%.%d%d%d | ", out)
    end
    assert.matches("| paper, Scalene %(full%) | 1.26 to 1.53 |", out)
  end)
end)
