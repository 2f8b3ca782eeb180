-- SPDX-License-Identifier: MIT
-- Profiles in a process whose resource limits (ulimit) are too low for the profiler: a message must name
-- the limit, no file may remain, and the program must run without a profile. Former bugs: a program failed
-- with "cannot open app.lua: Too many open files", because the profiler had taken the last descriptors.
-- Without memory for the writer thread the message was "Resource temporarily unavailable", and an empty
-- file was left.

local process = require "spec.support.process"

-- Runs a small program with the profiler under a limit in a new folder. Returns its standard error, and the
-- names of the files that are in the folder afterwards.
local function limited(limit)
  local script = process.file "print 'ran' io.open(arg[0]):close()"
  local status, out, err = process.run{"-c", [[
    set -e; folder=$(mktemp -d); cd "$folder"
    (ulimit $1; exec "$2" -l profiler "$3")
    ls "$folder"; rm -r "$folder"]], "sh", limit, process.interpreter(), script,
    -- leak detection is off, because luaL_loadfilex leaks its FILE if freopen finds no descriptor
    program = "sh",
    env = {LUA_PROFILER = "out=app.vmprof,alloc=64K", ASAN_OPTIONS = "detect_leaks=0"}}
  assert.equal(0, status, err)
  assert.equal("ran\n", out:sub(1, 4))
  return err, out:sub(5)
end

describe("a profile", function()
  it("is refused where it would leave the program few file descriptors", function()
    for n = 4, 9 do
      assert.same({"profiler: cannot write profile 'app.vmprof': fewer than 6 file descriptors would be " ..
                   "left for the program; raise the limit (ulimit -n, now " .. n .. ")\n", ""},
        {limited("-n " .. n)})
    end
    local err, files = limited "-n 16"
    assert.matches("^profiler: %d+ samples?", err)
    assert.equal("app.vmprof\n", files)
  end)

  it("is refused where there is no memory for it", function()
    if os.getenv "ASAMP_VARIANT" == "asan" then
      pending "the sanitizer maps terabytes, under no such limit"
      return
    end
    local refused, written = 0, 0
    for kib = 10000, 60000, 2500 do
      local err, files = limited("-v " .. kib)
      if files == "" then
        refused = refused + 1
        local message = err:match "^profiler: cannot write profile 'app.vmprof': ([^\n]*)\n$"
        assert.is_truthy(message, err)
        assert.matches("ulimit -v, now " .. kib, message, 1, true)
        assert.matches("raise", message, 1, true)
      else
        written = written + 1
        assert.equal("app.vmprof\n", files)
      end
    end
    assert.is_true(refused > 0 and written > 0, refused .. " refused, " .. written .. " written")
  end)
end)
