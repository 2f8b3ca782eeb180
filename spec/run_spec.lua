-- SPDX-License-Identifier: MIT
-- spec/run with SPEC_AGAIN, which runs the file of a failed spec again, alone. It does not repeat a crash.
-- Without this, a run of five thousand specs failed because of one expectation about CPU time, which fails
-- if other specs run at the same time.

local shell = require "spec.support.shell"

-- Runs spec/run with SPEC_AGAIN=n on a spec file whose code is 'body'. Returns its output and exit status.
local function run(body, n)
  local dir = shell.folder()
  local f <close> = assert(io.open(dir .. "/that_spec.lua", "w"))
  f:write(("local DIR = %q\n"):format(dir), [[
    -- Returns the number of calls of this function in all runs so far.
    local function times()
      local f <close> = assert(io.open(DIR .. "/times", "a+"))
      f:write("x")
      f:flush()
      f:seek("set")
      return #f:read("a")
    end
  ]], body)
  f:close()
  local p <close> = assert(io.popen(("SPEC_AGAIN=%d spec/run fork -- %s 2>&1; echo $?"):format(n, dir)))
  local out, status = p:read("a"):match("^(.*\n)(%d+)\n$")
  shell.remove(dir)
  return out, tonumber(status)
end

describe("spec/run #plain", function()
  local ONCE = [[
    describe("a spec", function()
      it("fails once", function() assert.is_true(times() ~= 1) end)
      it("passes", function() end)
    end)]]

  it("looks again, twice, at a file in which an expectation did not hold", function()
    local out, status = run(ONCE, 5)
    assert.matches("failed in parallel, passed twice alone: fork [^\n]*that_spec.lua\nfork: Failure", out)
    assert.matches("\n2 passed, 0 failed\n$", out)
    assert.equal(0, status)
  end)

  it("fails when it fails again, the second time too", function()
    local out, status = run(ONCE:gsub("~= 1", "%% 2 == 0"), 5)
    assert.matches("\n1 passed, 1 failed\n$", out)
    assert.equal(1, status)
    assert.not_matches("passed twice alone", out)
  end)

  it("does not without the setting", function()
    local out, status = run(ONCE, 0)
    assert.matches("\n1 passed, 1 failed\n$", out)
    assert.equal(1, status)
  end)

  it("does not after a crash or a sanitizer's word", function()
    for _, body in ipairs{
      ONCE:gsub("assert.is_true%b()", 'if times() == 1 then os.exit(3) end'),
      ONCE:gsub("assert", 'print("==1==ERROR: AddressSanitizer: heap-use-after-free") assert', 1)} do
      local out, status = run(body, 5)
      assert.matches("\n%d passed, 1 failed\n$", out)
      assert.equal(1, status)
      assert.not_matches("passed twice alone", out)
    end
  end)
end)

describe("spec.support.fewer #plain", function()
  -- A former bug: fewer(n) was n on the asan build, too, so that nothing was left out.
  it("returns its second number on the asan build, or nil", function()
    for variant, expected in pairs{fork = "3\t3\n", asan = "2\tnil\n"} do
      assert.equal(expected, shell.output("ASAMP_VARIANT=%s build/bin/lua -e 'package.path = \"./?.lua\" " ..
        "local fewer = require \"spec.support.fewer\" print(fewer(3, 2), (fewer(3)))'", variant))
    end
  end)
end)
