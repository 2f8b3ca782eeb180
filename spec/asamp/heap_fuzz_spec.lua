-- SPDX-License-Identifier: MIT
-- A bounded share of the fuzzer of snapshots (spec/fuzz/heaps.c): damaged ones in, no crash;
-- of those that are read, what each object retains is what goes with it. By hand it takes
-- any number of inputs (ASAMP_INPUTS) and any seed (ASAMP_SEED); every limit is tiny here.

local fuzz = require "spec.support.fuzzer"

describe("asamp heap", function()
  it("survives damaged snapshots, and what it reads is whole", function()
    fuzz("heaps", "-O1 -DASAMP_TINY", 1621, {fork = 4000, debug = 4000, asan = 300})
  end)
end)
