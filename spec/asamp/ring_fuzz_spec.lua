-- SPDX-License-Identifier: MIT
-- A bounded share of the fuzzer of the flight recorder (spec/fuzz/rings.c): on the release build
-- with limits as they are, where what it tells must be read whole, on the others with tiny ones,
-- where all is full within a few events. By hand it takes any number of events (ASAMP_INPUTS) and
-- any seed (ASAMP_SEED).

local process = require "spec.support.process"
local shell = require "spec.lua.shell"

local variant = os.getenv "ASAMP_VARIANT" or "fork"
local FLAGS = {
  fork = "-O0",
  debug = "-O0 -DASAMP_TINY",
  asan = "-O0 -g -DASAMP_TINY -fsanitize=address,undefined -fno-sanitize-recover=undefined",
}
local EVENTS = tonumber(os.getenv "ASAMP_INPUTS") or variant == "asan" and 5000 or 20000

describe("a flight recorder", function()
  it("takes all events, and tells what can be read", function()
    local program = os.tmpname()
    shell.output(("spec/fuzz/build '%s' '%s' rings"):format(program, FLAGS[variant]))
    local seed = tonumber(os.getenv "ASAMP_SEED") or 2217
    local status, out, err = process.run{program = program, tostring(seed), tostring(EVENTS)}
    os.remove(program)
    assert(status == 0, ("seed %d: %s%s"):format(seed, out, err))
    assert.equal(EVENTS .. " inputs\n", out)
  end)
end)
