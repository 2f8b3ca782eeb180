-- SPDX-License-Identifier: MIT
-- Limits, in instructions, of the cost of an allocation sample in the program's thread, and of a whole
-- session. No change may increase these costs. `bench/sample --instructions` counts the first cost. The
-- counts do not depend on other load of the machine.

local process = require "spec.support.process"
local shell = require "spec.support.shell"

-- The limits, by the arguments of bench/sample. Each is the count at the time it was set, and a few percent
-- more, because another C library may need more. A margin of 50% was too large: several new features used
-- up a fifth of it, and nobody noticed.
local MOST = {
  -- 1,079 instructions were counted; 31 of them are for the separate count of native memory and for two
  -- numbers that each sample copies, which another thread needs at exit.
  ["same 20 20 1"] = 1100,
  ["same 200 20 1"] = 1070,  -- count: 1,044
  -- 4,262 instructions were counted; 122 of them assign new ids to functions in each session
  ["new 20 20 1"] = 4340,
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

  -- Returns the number of instructions that a profiling session adds to a script.
  local function added(script)
    local folder = shell.lines(shell.output "mktemp -d")[1]
    shell.write(folder .. "/short.lua", script)
    local function count(options)
      local _, _, err = shell.run(("LUA_PROFILER=quiet,seed=5,alloc=64K,out=%s/p.vmprof valgrind " ..
        "--tool=callgrind --callgrind-out-file=/dev/null build/bin/lua %s %s/short.lua")
        :format(folder, options, folder))
      return tonumber(err:match "Collected : (%d+)") or error(err)
    end
    local n = count "-l profiler" - count ""
    local written = shell.size(folder .. "/p.vmprof")
    shell.run("rm -r " .. folder)
    assert.is_true(written > 0)
    return n
  end

  -- 5.0 million instructions were counted, of which 1.2 million load libraries. The rest of the limit is a
  -- margin.
  it("finds a session of a short script as cheap as it was", function()
    local n = added [[
      local t = {}
      for i = 1, 6000 do t[i % 100] = {i, name = "x" .. i} end]]
    assert.is_true(n <= 5600000, ("%d instructions"):format(n))
  end)

  -- 13.1 million instructions were counted; the rest of the limit is a margin. It was 23.5 million when
  -- each of two searches for holders visited all objects.
  it("finds a session of a short script that keeps its objects as cheap as it was", function()
    local n = added "local t = {} for i = 1, 20000 do t[i] = {i} end"
    assert.is_true(n <= 14500000, ("%d instructions"):format(n))
  end)
end)
