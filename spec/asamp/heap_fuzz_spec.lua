-- SPDX-License-Identifier: MIT
-- Runs the fuzzer of heap snapshots (spec/fuzz/heaps.c) with a limited number of inputs. Damaged snapshots
-- must cause no crash. If a snapshot can be read, the retained bytes of each object must be the bytes that
-- become free if it is removed. The environment variables ASAMP_INPUTS and ASAMP_SEED set the number of
-- inputs and the seed. The build option ASAMP_TINY makes all limits of the reader tiny.

local fuzz = require "spec.support.fuzzer"
local shell = require "spec.support.shell"

describe("asamp heap", function()
  it("survives damaged snapshots, and reads only consistent graphs", function()
    fuzz("heaps", "-O1 -DASAMP_TINY", 1621, {fork = 4000, debug = 4000, asan = 300})
  end)

  -- A former bug: the name of the fuzzer's input file contained only the seed. Two runs of these specs at
  -- the same time, of two builds or two clones, overwrote each other's file and failed.
  it("is tried by two processes of one seed at once", function()
    local folder = shell.folder()
    shell.output("spec/fuzz/build '%s/heaps' '-O0 -DASAMP_TINY' heaps", folder)
    local out = shell.output("cd '%s' && for i in 1 2 3; do ./heaps 5 400 . >$i 2>&1 & done; wait; cat 1 2 3",
                             folder)
    assert.equal(("400 inputs\n"):rep(3), out)
    assert.equal("1\n2\n3\nheaps\n", shell.output("ls '%s'", folder))
    shell.remove(folder)
  end)
end)
