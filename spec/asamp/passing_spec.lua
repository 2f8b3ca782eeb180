-- SPDX-License-Identifier: MIT
-- States whose time is sampled on the OS threads that run them, and which another thread closes. Where
-- `make tsan` has built the profiler with ThreadSanitizer, also checks that the threads have no data race.

local hosts = require "asamp.host"
local process = require "spec.support.process"
local reader = require "profiler.reader"
local shell = require "spec.support.shell"

local here = shell.lines(shell.output "pwd")[1]
local own = process.interpreter():match "^(.*)/bin/[^/]+$"
local TSAN = here .. "/build/tsan"

-- Runs the host with the library of the build in folder 'prefix', compiled with 'flags'. Returns the
-- profile and stderr.
local function run(prefix, flags, threads, states)
  local folder = shell.folder()
  shell.output("gcc -g%s -I%s/include/lua5.4 spec/support/hosts/passing.c -o %s/host -L%s/lib " ..
    "-l:liblua5.4.so.0 -Wl,-rpath,%s/lib -lpthread", flags, prefix, folder, prefix, prefix)
  local code, out, err = process.run{program = folder .. "/host", threads, states, env = {
    ASAMP = "alloc=4K,time=1000,quiet,out=" .. folder .. "/p.vmprof", LUA_PATH = "", LUA_CPATH = "",
    TSAN_OPTIONS = "report_thread_leaks=0"}}
  assert.same({0, ("%d\n"):format(threads * states), ""}, {code, out, err})
  local p = assert(reader.read(folder .. "/p.vmprof"))
  shell.remove(folder)
  return p
end

describe("states that another thread closes", function()
  it("are all in the profile", function()
    local flags = own:find "asan" and " -fsanitize=address,undefined" or ""
    local p = run(own, flags, 4, 20)
    assert.is_true(p.complete)
    assert.equal(84, #p.states)
    assert.is_true(p.timesamples > 0)
  end)

  -- Former data races: lua_close on another thread changed the clock of the state's timer while signal
  -- handlers used it.
  it("are closed without a data race with ticks (if build/tsan is there)", function()
    if not hosts.samefile(TSAN .. "/lib/liblua5.4.so.0", TSAN .. "/lib/liblua5.4.so.0") then return end
    assert.is_true(run(TSAN, " -fsanitize=thread", 3, 20).timesamples > 0)
  end)
end)
