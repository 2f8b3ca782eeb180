-- SPDX-License-Identifier: MIT
-- Runs the fuzzer of the flight recorder (spec/fuzz/rings.c) with a limited number of events. The release
-- build has normal limits, and its output must be readable. The other builds have tiny limits, which are
-- reached within a few events. The environment variables ASAMP_INPUTS and ASAMP_SEED set other numbers of
-- events and seeds.

local fuzz = require "spec.support.fuzzer"

local LIMITS = (os.getenv "ASAMP_VARIANT" or "fork") == "fork" and "" or " -DASAMP_TINY"

describe("a flight recorder", function()
  it("takes all events, and writes files that can be read", function()
    fuzz("rings", "-O0" .. LIMITS, 2217, {fork = 20000, debug = 20000, asan = 5000})
  end)
end)
