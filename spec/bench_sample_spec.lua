-- SPDX-License-Identifier: MIT
-- What one allocation sample may cost the program's thread, in instructions: a
-- guard against changes that make it dearer. `bench/sample --instructions` counts
-- them; the same run gives the same number, whatever else the machine does.

local process = require "spec.support.process"

-- Half as much again as was counted when the bound was set. A change that needs
-- more has a reason to give; one that needs much less may lower it.
local MOST = {
  ["same 20 20 1"] = 1500,   -- 954
  ["same 200 20 1"] = 1500,  -- 976
  ["new 20 20 1"] = 5700,    -- 3807
}

describe("bench/sample --instructions #plain", function()
  local root = debug.getinfo(1, "S").source:match("^@(.-)spec/[^/]*$")
  if root == "" then root = "./" end

  if not os.execute "command -v valgrind >/dev/null" then
    pending "counts by valgrind, which is not there: apt-get install valgrind"
    return
  end

  it("finds a sample as cheap as it was", function()
    local status, out, err = process.run{"--instructions", program = root .. "bench/sample"}
    assert.same({0, ""}, {status, err})
    local counted = {}
    for shape, n in out:gmatch "(%l+ %d+ %d+ %d) (%d+)\n" do counted[shape] = tonumber(n) end
    for shape, most in pairs(MOST) do
      local n = counted[shape]
      assert.is_true(n ~= nil and n > 300, out)
      assert.is_true(n <= most, ("%s: %d instructions, at most %d"):format(shape, n, most))
    end
  end)
end)
