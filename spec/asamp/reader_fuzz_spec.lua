-- SPDX-License-Identifier: MIT
-- A bounded share of the fuzzer of the reader and the converters
-- (spec/fuzz/profiles.c), built against the sources as the variant under test
-- has them. By hand it takes any number of inputs: see doc/debugging.md.

local process = require "spec.support.process"
local shell = require "spec.lua.shell"

local variant = os.getenv "ASAMP_VARIANT" or "fork"
local flags = {
  fork = "-O2",
  debug = "-O1 -g",
  asan = "-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined " ..
         "-fno-sanitize-recover=undefined",
}
local INPUTS = {fork = 15000, debug = 2500, asan = 2500}

describe("the reader and the converters", function()
  -- In the second build every table and every limit is small (asamp/base/bounds.h).
  for about, flag in pairs{["profiles"] = "", ["profiles, with tiny limits"] = " -DASAMP_TINY"} do
    it("survive damaged " .. about .. ", and their sums add up", function()
      local program = os.tmpname()
      shell.output(("spec/fuzz/build '%s' '%s'"):format(program, flags[variant] .. flag))
      local seed = tonumber(os.getenv "ASAMP_SEED") or 21121
      local status, out, err = process.run {program = program, tostring(seed),
                                            tostring(INPUTS[variant])}
      os.remove(program)
      assert(status == 0, ("seed %d: %s%s"):format(seed, out, err))
      assert.equal(INPUTS[variant] .. " inputs\n", out)
    end)
  end
end)
