-- SPDX-License-Identifier: MIT
-- Profiles of daemons, whose stderr is /dev/null: the profile must be complete when a signal ends the
-- process.

local process = require "spec.support.process"
local reader = require "profiler.reader"
local shell = require "spec.support.shell"

describe("a daemon", function()
  -- A former bug: the signal handler wrote the line about the profile by syslog(3), which takes
  -- locks of the C library and allocates. If a SIGTERM had interrupted malloc or localtime, the
  -- process never ended.
  it("ends with SIGTERM while it holds a lock of the C library", function()
    local path, ready, zone = os.tmpname(), os.tmpname(), os.tmpname()
    os.remove(ready)
    os.remove(zone)
    shell.output("mkfifo '%s'", zone)
    -- os.date calls localtime, which takes the lock of tzset and then waits for a writer of its time zone
    -- file, a FIFO
    local script = process.file(([[
      local list = {}
      for i = 1, 20000 do list[i] = {} end
      io.open("%s", "w"):close()
      os.date()
    ]]):format(ready))
    local out = shell.output([[
      TZ=':%s' LUA_PROFILER='out=%s,overwrite=1,alloc=2K' timeout -s KILL 60 %s -l profiler %s 2>/dev/null &
      while ! [ -e %s ]; do sleep 0.02; done
      sleep 0.2
      pkill -TERM -P $!
      wait $!
      echo $?
    ]], zone, path, process.interpreter(), script, ready)
    assert.equal("143\n", out)
    assert.is_true(reader.read(path).complete)
    for _, name in ipairs{path, ready, zone} do
      os.remove(name)
    end
  end)
end)
