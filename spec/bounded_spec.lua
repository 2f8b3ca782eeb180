-- SPDX-License-Identifier: MIT
-- spec/bounded, which ends a spec that hangs, and prints its name. Without it, one such spec made a whole
-- run of .ci/run fail after an hour and a half, and nobody knew which spec it was.

local process = require "spec.support.process"

-- Runs a command under spec/bounded with a limit in seconds. Returns its output and exit status.
local function bounded(seconds, command)
  local f <close> = assert(io.popen(("spec/bounded %d sh -c '%s' 2>&1; echo $?"):format(seconds, command)))
  local said, status = f:read("a"):match("^(.*\n)(%d+)\n$")
  return said, tonumber(status)
end

describe("spec/bounded #plain", function()
  it("passes on the output and the exit status of a command", function()
    local out, status = bounded(60, "echo said; exit 3")
    assert.equal("said\n", out)
    assert.equal(3, status)
  end)

  it("lists the running processes of a command that does not end, and ends them", function()
    -- The output of the command ends without a newline, like the dots of busted. spec/bounded must start a
    -- new line: spec/one searches for a line that starts with "spec/bounded".
    local out, status = bounded(1, "sleep 7654 & printf started; wait")
    assert.equal(124, status)
    assert.matches("^started\n", out)
    assert.matches("\nspec/bounded: after 1 s these still run", out)
    assert.matches("%d+ sleep 7654 \n  State:%s+S %(sleeping%), waits in %w+", out)
    local sleeper = out:match("(%d+) sleep 7654")
    -- the process ends soon after the signal; then it is a zombie until its parent waits for it
    process.await(function()
      local stat <close> = io.open("/proc/" .. sleeper .. "/stat")
      return not stat or (stat:read "a" or ""):find(") Z ", 1, true) ~= nil
    end)
  end)
end)
