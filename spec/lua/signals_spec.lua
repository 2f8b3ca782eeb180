-- SPDX-License-Identifier: MIT
--
-- Signal handlers that read or change a state (lua/tick.h, N2 of lua/gc/alloc/nursery.h).

local shell = require "spec.support.shell"

local variant = os.getenv "ASAMP_VARIANT" or "fork"
local prefix = variant == "fork" and "build" or "build/" .. variant

-- Runs spec/support/hosts/NAME.c with an argument. Returns its output.
local function host(name, argument)
  local program = os.tmpname()
  local flags = variant == "asan" and "-fsanitize=address,undefined" or ""
  shell.output("gcc -std=gnu99 -g %s -I%s/include/lua5.4 -Ilua spec/support/hosts/%s.c " ..
    "-o %s %s/lib/liblua.a -lm -ldl -lpthread", flags, prefix, name, program, prefix)
  local status, out, err = shell.run(program .. " " .. (argument or ""))
  os.remove(program)
  assert.same({0, ""}, {status, err}, name)
  return out
end

describe("a tick of a state on an OS thread", function()
  -- A former bug: the signal handler tested whether its OS thread runs the state, and then changed the state.
  -- Between the two steps, another OS thread could start to run it.
  it("ends before another OS thread runs the state", function()
    assert.equal("after\n", host "entering")
  end)

  -- A former bug: lua_close did not wait.
  it("ends before another OS thread closes the state", function()
    assert.equal("after\n", host("entering", "close"))
  end)

  it("does not stop a child that another OS thread forks", function()
    assert.equal("child 7\n", host("entering", "fork"))
  end)
end)

describe("a signal after any instruction", function()
  -- A former bug: while the nursery changed its hole, the bytes were those between the two holes, up
  -- to 2^64.
  if variant ~= "asan" and io.popen("uname -m"):read() == "x86_64" then
    it("reads the allocated bytes, except those of a hole or block", function()
      local n, bytes, difference = host("stepping"):match "^(%d+) (%d+) (%d+)\n$"
      assert.is_true(tonumber(n) > 10000, n)
      assert.is_true(tonumber(bytes) > 32768, bytes)
      assert.is_true(tonumber(difference) <= 2 * 32768, difference)
    end)
  end
end)
