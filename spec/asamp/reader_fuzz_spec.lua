-- SPDX-License-Identifier: MIT
-- Runs the fuzzer of the reader and the converters (spec/fuzz/profiles.c) with a limited number of
-- inputs, built with the variant under test. doc/debugging.md describes longer runs.

local fuzz = require "spec.support.fuzzer"

local OPTIONS = (os.getenv "ASAMP_VARIANT" or "fork") == "fork" and "-O2" or "-O1 -g"

describe("the reader and the converters", function()
  -- In the second build, every table and every limit of the reader has a small size (asamp/base/bounds.h).
  for about, flag in pairs{["profiles"] = "", ["profiles, with tiny limits"] = " -DASAMP_TINY"} do
    it("survive damaged " .. about .. ", and their sums add up", function()
      fuzz("profiles", OPTIONS .. flag, 21121, {fork = 10000, debug = 1000, asan = 400})
    end)
  end
end)
