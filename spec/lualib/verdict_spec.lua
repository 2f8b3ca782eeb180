-- SPDX-License-Identifier: MIT
-- The verdict at default settings, on programs with one problem each (spec/planted) and on
-- programs without one (spec/innocent). `build/bin/lua spec/support/judge.lua 10` has the rates.

local judge = require "spec.support.judge"

-- A verdict is of samples: of 20 programs one may be missed.
local MISSED = 1

describe("the verdict #plain", function()
  it("names the line, the reason and the holder of planted problems", function()
    local missed, programs = {}, judge.programs "planted"
    assert.equal(20, #programs)
    for _, program in ipairs(programs) do
      if not judge.found(judge.run(program), judge.expected(program)) then
        missed[#missed + 1] = program
      end
    end
    assert.is_true(#missed <= MISSED, table.concat(missed, " "))
  end)

  it("accuses no innocent program of a leak", function()
    local accused, programs = {}, judge.programs "innocent"
    assert.equal(20, #programs)
    for _, program in ipairs(programs) do
      if judge.accused(judge.run(program)) then
        accused[#accused + 1] = program
      end
    end
    assert.same({}, accused)
  end)
end)
