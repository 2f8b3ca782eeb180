-- SPDX-License-Identifier: MIT
-- bench/instructions, which counts instructions by valgrind. Between two samples, sampling must cost
-- nothing. The count must include only the program's own thread, not the writer thread of the profile.
-- Former bugs: the counts included the writer's work in runs of over a second, and a run read the profile
-- of the previous run. Because of them the counts differed by 1 in 475.

local command = require "runner.command"
local process = require "spec.support.process"
local shell = require "spec.support.shell"

describe("bench/instructions #plain", function()
  if not os.execute "command -v valgrind >/dev/null" then
    pending "counts by valgrind, which is not there: apt-get install valgrind"
    return
  end

  it("finds an allocation equal with sampling off and on", function()
    local status, out, err = process.run{"--check", program = "bench/instructions"}
    assert.same({0, ""}, {status, err}, out)
    assert.matches("^Largest difference of sampling on from off: [^:]+: equal %(limit 1 in 2000%)%.\n$", out)
  end)

  it("refuses unknown options", function()
    local status, out, err = process.run{"table", program = "bench/instructions"}
    assert.same({2, "", 'bench/instructions: "table" is not an option; see --help\n'}, {status, out, err})
    status, out, err = process.run{"--rounds", "3", program = "bench/instructions"}
    assert.same({2, "", 'bench/instructions: unknown option "--rounds"; see --help\n'}, {status, out, err})
  end)

  it("counts the program's own thread apart from the profile's writer", function()
    -- this call builds the variants that the count needs
    process.run{"--help", program = "bench/instructions"}
    local work = shell.folder()
    local function counted(start)
      local runner = command.new("./build/bench", work)
      local program = start .. " for i = 1, 3000 do local t = {i} end"
      return assert(runner:count({"./build/bin/lua", "-e", program}, {}))
    end
    local off = counted ""
    assert.equal(off.instructions, off.own)
    local start = "require 'profiler'.alloc_start(64, {out = '%s/p.vmprof', quiet = true})"
    local on = counted(start:format(work))
    assert.is_true(on.own > off.own and on.instructions > on.own + 100000,
      ("%d of %d, %d without samples"):format(on.own, on.instructions, off.own))
  end)
end)
