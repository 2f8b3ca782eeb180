-- SPDX-License-Identifier: MIT
-- Commands that read or write a named pipe must print a message while they wait for the other
-- program, and continue when it opens the pipe.

local shell = require "spec.support.shell"

describe("a command with a named pipe", function()
  local folder

  setup(function()
    folder = shell.folder()
    shell.write(folder .. "/s.lua", "local t = {} for i = 1, 1e5 do t[i % 9] = {} end")
    shell.output("mkfifo %s/pipe; build/bin/asamp run --out %s/p.vmprof %s/s.lua >%s/out 2>&1",
                 folder, folder, folder, folder)
  end)

  teardown(function()
    shell.remove(folder)
  end)

  -- Runs a command that uses the pipe. The shell command 'late' starts 1.5 s later. Returns the output of
  -- both.
  local function run(command, late)
    return shell.output("cd %s; asamp=$OLDPWD/build/bin/asamp; " ..
                        "{ timeout 20 $asamp %s; echo status $?; } >out 2>&1 " ..
                        "</dev/null & sleep 1.5; cat out >first; timeout 15 sh -c '%s' >other 2>&1; " ..
                        "wait; cat first; echo -; cat out",
                        folder, command, late)
  end

  -- A former bug: a command that reads a pipe waited for ever for a writer, without a message.
  for _, command in ipairs{"report pipe", "view pipe -o page.html", "diff p.vmprof pipe"} do
    it("waits for its writer, and says so: " .. command, function()
      local out = run(command, "cat p.vmprof >pipe")
      assert.matches("^profiler: waiting for a program that writes to the pipe 'pipe'\n%-\n", out)
      assert.matches("\nstatus 0\n$", out)
    end)
  end

  -- A former bug: asamp serve waited for ever for the writer of the pipe from which it reads its access
  -- token, without a message.
  it("waits for the writer of a token, and says so", function()
    local out = run("serve --token @pipe 4194305", "echo 0123456789abcdef >pipe")
    assert.matches("^profiler: waiting for a program that writes to the pipe 'pipe'\n%-\n", out)
    assert.is_nil(out:find("at least 16", 1, true))
    assert.matches("\nstatus 1\n$", out)
  end)

  it("waits for the writer of a baseline of asamp.budget, and says so", function()
    shell.write(folder .. "/b.lua", [[print(require "asamp.budget".open "pipe".data.tests.a.bytes)]])
    local out = run("run --quiet b.lua", "echo \"return {tests = {a = {bytes = 7}}}\" >pipe")
    assert.matches("^profiler: waiting for a program that writes to the pipe 'pipe'\n%-\n", out)
    assert.matches("\n7\nstatus 0\n$", out)
  end)

  for _, command in ipairs{"convert --to pprof p.vmprof -o pipe",
                           "check p.vmprof --max-peak 1G --junit pipe"} do
    it("waits for its reader, and says so: " .. command, function()
      local out = run(command, "cat pipe >got; [ -s got ] && echo some")
      assert.matches("profiler: waiting for a program that reads from the pipe 'pipe'\n.*%-\n", out)
      assert.matches("\nstatus 0\n$", out)
      assert.equal("some\n", shell.read(folder .. "/other"))
    end)
  end

  -- These commands must read their input twice, which a pipe does not allow. Former bugs: the message "the
  -- file is empty", a result that lacked the profile, or an endless wait.
  for _, command in ipairs{"merge pipe p.vmprof -o m.vmprof", "convert --to vmprof pipe",
                           "report --at peak pipe", "convert --to firefox --from 0 pipe"} do
    it("refuses one that it would read twice: " .. command, function()
      local out = shell.output("cd %s; timeout 20 $OLDPWD/build/bin/asamp %s 2>&1; echo status $?; " ..
                               "ls m.vmprof 2>&1; true", folder, command)
      assert.matches("'pipe' is a pipe and can be read only once.*status 2\n.*No such file", out)
    end)
  end

  it("reads a pipe whose writer is already there without a message", function()
    local out = shell.output("cd %s; (cat p.vmprof >pipe) & $OLDPWD/build/bin/asamp report pipe 2>&1; wait",
                             folder)
    assert.matches("allocated in", out)
    assert.is_nil(out:find("waiting", 1, true))
  end)
end)
