-- SPDX-License-Identifier: MIT
-- bench/limits, which searches for the smallest memory limits in which scripts succeed. The spec runs it
-- for one script and few limits, with both interpreters.

local shell = require "spec.support.shell"

describe("bench/limits", function()
  it("prints the least limits of a script, and counts those in which the fork fails", function()
    local status, out, err = shell.run "bench/limits --only gsub --step 8 --upto 2"
    assert.is_true(status == 0 or status == 1, err)
    assert.truthy(out:find "\n| gsub | %d+ | %d+ | %d+%.%d%d | %d+ | %d+ | [%d.]* | %d+ | [^|]*|\n", out)
    assert.truthy(out:find "\n[01] of 1 scripts fail on the fork", out)
  end)

  it("explains itself, and refuses unknown arguments", function()
    local status, out = shell.run "bench/limits --help"
    assert.equal(0, status)
    assert.truthy(out:find("bench/limits [--only LIST]", 1, true), out)
    local code, _, err = shell.run "bench/limits --only none"
    assert.equal(2, code)
    assert.truthy(err:find('--only has no script "none"; see bench/limits.d', 1, true), err)
  end)
end)
