-- SPDX-License-Identifier: MIT
-- What one allocation sample may cost the program's thread, in instructions: a
-- guard against changes that make it dearer. `bench/sample --instructions` counts
-- them; the same run gives the same number, whatever else the machine does.

local process = require "spec.support.process"

-- What was counted when the bound was set, and a few in a hundred for another C library:
-- once there was room for half as much again, holders, labels, copies and rings took a
-- fifth of it together, each too little to be seen, and all of them when nobody asked.
local MOST = {
  ["same 20 20 1"] = 985,   -- 941
  ["same 200 20 1"] = 1005,  -- 962
  ["new 20 20 1"] = 3900,    -- 3775
}

describe("bench/sample --instructions #plain", function()
  if not os.execute "command -v valgrind >/dev/null" then
    pending "counts by valgrind, which is not there: apt-get install valgrind"
    return
  end

  it("finds a sample as cheap as it was", function()
    local status, out, err = process.run{"--instructions", program = "bench/sample"}
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
