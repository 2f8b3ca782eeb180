-- SPDX-License-Identifier: MIT
-- A bounded share of the fuzzer of snapshots (spec/fuzz/heaps.c): damaged ones in, no crash;
-- of those that are read, what each object retains is what goes with it. By hand it takes
-- any number of inputs (ASAMP_INPUTS) and any seed (ASAMP_SEED); every limit is tiny here.

local process = require "spec.support.process"
local shell = require "spec.lua.shell"

local variant = os.getenv "ASAMP_VARIANT" or "fork"
local FLAGS = {
  fork = "-O1",
  debug = "-O1",
  asan = "-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined",
}
local INPUTS = tonumber(os.getenv "ASAMP_INPUTS") or variant == "asan" and 300 or 4000

describe("asamp heap", function()
  it("survives damaged snapshots, and what it reads is whole", function()
    local program = os.tmpname()
    shell.output(("spec/fuzz/build '%s' '%s -DASAMP_TINY' heaps"):format(program, FLAGS[variant]))
    local seed = tonumber(os.getenv "ASAMP_SEED") or 1621
    local status, out, err = process.run{program = program, tostring(seed), tostring(INPUTS)}
    os.remove(program)
    assert(status == 0, ("seed %d: %s%s"):format(seed, out, err))
    assert.equal(INPUTS .. " inputs\n", out)
  end)
end)
