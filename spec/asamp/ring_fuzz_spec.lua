-- SPDX-License-Identifier: MIT
-- A bounded part of the fuzzer of the flight recorder (spec/fuzz/rings.c): on the release build with
-- normal limits, where its output must be readable, on the others with tiny ones, which are reached
-- within a few events. Run directly, it takes any number of events (ASAMP_INPUTS) and any seed
-- (ASAMP_SEED).

local fuzz = require "spec.support.fuzzer"

local LIMITS = (os.getenv "ASAMP_VARIANT" or "fork") == "fork" and "" or " -DASAMP_TINY"

describe("a flight recorder", function()
  it("takes all events, and writes files that can be read", function()
    fuzz("rings", "-O0" .. LIMITS, 2217, {fork = 20000, debug = 20000, asan = 5000})
  end)
end)
