-- SPDX-License-Identifier: MIT
-- Conversions that a signal ends must leave no file, and the process must end by that signal. Conversions
-- that reach the limit on file sizes must report it; its signal, SIGXFSZ, ends a process that does not
-- ignore it. The profile is read from a pipe that stops in the middle, so that the signal always interrupts
-- the conversion.

local convert = require "profiler.convert"
local gen = require "profilegen"
local process = require "spec.support.process"
local reader = require "profiler.reader"
local runs = require "spec.support.runs"
local shell = require "spec.support.shell"

-- The program that converts; its arguments are the paths of the profile and of the result.
local WORK = [[
  require "asamp.host".interruptible()
  local convert = require "profiler.convert"
  print(convert.vmprof(arg[1], arg[2], {format = 7}))
]]

describe("a file that is not whole yet", function()
  local folder
  before_each(function()
    folder = shell.folder()
    shell.output("mkfifo %s/in", folder)
    runs.write(folder .. "/whole", {seed = 3, plain = true})
  end)

  -- Starts the conversion, and sends it the signals one after the other when its temporary file exists.
  -- Returns its exit status as in the shell, and the names of the files that are left.
  local function interrupted(signals, how)
    local script = process.file(WORK)
    local status, out = process.run{program = "/bin/sh", "-c", [[
      cd "$1" || exit
      { head -c 20000 whole; exec sleep 60; } >in & feeder=$!
      env $5 "$2" "$3" in out >/dev/null 2>&1 & work=$!
      i=0
      until ls out.*.tmp >/dev/null 2>&1 || [ $i = 2000 ]; do sleep 0.01; i=$((i + 1)); done
      for signal in $4; do kill -"$signal" $work; done
      wait $work
      echo $?
      kill $feeder
      rm in whole
      ls
    ]], "sh", folder, process.interpreter(), script, signals, how or "--default-signal=INT,TERM,HUP"}
    assert.equal(0, status)
    return out
  end

  for name, number in pairs{INT = 2, TERM = 15, HUP = 1} do
    it("goes when SIG" .. name .. " ends the process", function()
      assert.equal(128 + number .. "\n", interrupted(name))
    end)
  end

  it("stays while a signal is ignored", function()
    assert.equal("143\n", interrupted("HUP TERM", "--default-signal=INT,TERM --ignore-signal=HUP"))
  end)

  it("goes, and says so, at the limit of a file's size", function()
    local script = process.file(WORK)
    local status, out = process.run{program = "/bin/sh", "-c", [[
      cd "$1" || exit
      head -c 20000 whole >cut
      { (ulimit -f 1; env --default-signal=XFSZ "$2" "$3" cut out 2>&1); echo $?; } | cat
      rm in cut whole
      ls
    ]], "sh", folder, process.interpreter(), script}
    assert.equal(0, status)
    assert.truthy(out:find "File too large\n", out)
    assert.truthy(out:find "\n%d\n$", out)
  end)

  it("remains after SIGKILL, as out.PID.NUMBER.tmp", function()
    assert.truthy(interrupted("KILL"):find "^137\nout%.%d+%.%d+%.tmp\n$")
  end)

  -- A former bug: a result replaced a profile that a running program was still writing, so that its
  -- later samples were written to a file without a name.
  it("does not replace a profile that is being written", function()
    local whole, path = folder .. "/whole", folder .. "/written"
    local writer = assert(gen.open{path = path, format = 7})
    writer:sample{8, 1}
    shell.write(folder .. "/cut", shell.read(whole):sub(1, 20000))
    local results = {
      function() return convert.vmprof(whole, path, {format = 7}) end,
      function() return convert.merge({whole}, path, {}) end,
      function() return convert.write(path, "text") end,
      function() return reader.repair(folder .. "/cut", path) end,
    }
    for i, result in ipairs(results) do
      local done, message = result()
      assert.same({nil, ("cannot write '%s': another process is writing this file; wait until that " ..
                         "process has ended, or give another path"):format(path)}, {done, message}, i)
    end
    assert(writer:close())
    assert.equal("cut\nin\nwhole\nwritten\n", shell.output("ls " .. folder))
    local status, message = results[1]()
    assert.truthy(status, message)
  end)
end)
