-- SPDX-License-Identifier: MIT
-- The module asamp.host, with which a command such as `asamp run` starts a program: the program's arguments
-- and environment, the way it ends, and the signals that the command passes on to it.

local host = require "asamp.host"
local process = require "spec.support.process"
local shell = require "spec.support.shell"

local SH = "/bin/sh"

describe("names of files", function()
  it("may be of one file, by a detour or a link, if it is there", function()
    local path = os.tmpname()
    assert.is_true(os.execute(("ln -s %s %s.link"):format(path, path)))
    for _, other in ipairs{path, "/tmp/.." .. path, path .. ".link"} do
      assert.is_true(host.samefile(path, other), other)
      assert.is_true(host.samefile(other, path), other)
    end
    assert.is_false(host.samefile(path, "/tmp"))
    os.remove(path)
    assert.is_false(host.samefile(path, path))
  end)
end)

describe("the files of a folder", function()
  it("are the regular ones, as they are now", function()
    local folder = shell.folder()
    shell.output("cd %s && printf 12345 >a && : >.b && ln -s a c && mkfifo d && mkdir e && "
      .. "touch -d @1000000000.123456789 a", folder)
    local files, byname = host.files(folder), {}
    for _, f in ipairs(files) do byname[f.name] = f end
    assert.equal(2, #files)
    assert.equal(0, byname[".b"].size)
    local inode = tonumber(shell.output("stat -c %%i %s/a", folder))
    assert.same({name = "a", size = 5, inode = inode, changed = 1000000000123456789}, byname.a)
    shell.remove(folder)
  end)

  it("are none of a folder that is not there", function()
    local files, message = host.files "/nowhere"
    assert.is_nil(files)
    assert.equal("/nowhere: No such file or directory", message)
  end)
end)

describe("running a program", function()
  it("returns its exit status", function()
    for _, status in ipairs{0, 1, 77, 255} do
      local how, n, pid = host.run{SH, "-c", "exit " .. status}
      assert.equal("exit", how)
      assert.equal(status, n)
      assert.is_true(pid > 1)
    end
  end)

  it("returns the signal that ended it", function()
    for _, signal in ipairs{9, 15, 6, 2} do
      local how, n = host.run{SH, "-c", "ulimit -c 0; kill -" .. signal .. " $$"}
      assert.equal("signal", how)
      assert.equal(signal, n)
    end
  end)

  it("passes words unchanged, and the environment with the given variables", function()
    local path = os.tmpname()
    local how, n = host.run({SH, "-c", 'printf "%s|" "$@" "$ASAMP_X" "$HOME" >"$0"',
      path, "a b", "", "$(x)'\"", "é"}, {ASAMP_X = "1,2=3"})
    assert.equal("exit", how)
    assert.equal(0, n)
    assert.equal("a b||$(x)'\"|é|1,2=3|" .. os.getenv "HOME" .. "|",
                 process.read(path))
    host.run({SH, "-c", 'printf "%s" "$HOME" >"$0"; env | grep -c ^HOME= >>"$0"',
              path}, {HOME = "/x"})
    assert.equal("/x1\n", process.read(path))
  end)

  it("that is not there is an error", function()
    local how, message = host.run{"/nowhere/lua"}
    assert.is_nil(how)
    assert.equal("cannot run '/nowhere/lua': No such file or directory", message)
  end)

  it("refuses arguments that are not words", function()
    for _, words in ipairs{{}, {1}, {SH, false}} do
      assert.is_false(pcall(host.run, words))
    end
    assert.is_false(pcall(host.run, {SH, "-c", ":"}, {"x"}))
    assert.is_false(pcall(host.run, {SH, "-c", ":"}, {x = {}}))
  end)

  it("passes SIGTERM on and waits for the program's reaction", function()
    local path = os.tmpname()
    local status = process.code([[
      local host = require "asamp.host"
      local how, n = host.run({"/bin/sh", "-c",
        'trap "echo got >>$0; exit 5" TERM; echo up >>$0; kill -TERM $PPID; ' ..
        'for i in $(seq 100); do sleep 0.05; done; exit 9', arg[1]})
      os.exit(how == "exit" and n or 99)]], path)
    assert.equal(5, status)
    assert.equal("up\ngot\n", process.read(path))
  end)

  it("leaves the keyboard's signals to the program", function()
    local status = process.code([[
      local host = require "asamp.host"
      local how, n = host.run{"/bin/sh", "-c",
        'trap "exit 6" INT; kill -INT $PPID; kill -QUIT $PPID; kill -INT $$; exit 7'}
      os.exit(how == "exit" and n or 99)]])
    assert.equal(6, status)
  end)

  -- A former bug: a SIGINT sent only to the command (kill -INT) did not reach the program.
  it("passes SIGINT and SIGQUIT on that the terminal has not sent, a second later", function()
    for _, signal in ipairs{"INT", "QUIT"} do
      local status = process.code([[
        local host = require "asamp.host"
        local how, n = host.run{"/bin/sh", "-c", ("trap 'exit 6' %s; kill -%s $PPID; " ..
          "for i in $(seq 200); do sleep 0.05; done; exit 7"):format(arg[1], arg[1])}
        os.exit(how == "exit" and n or 99)]], signal)
      assert.equal(6, status)
    end
  end)

  it("passes no SIGINT on that the terminal has sent: the program has had it", function()
    local script = process.file([[
      local host = require "asamp.host"
      host.run{"/bin/sh", "-c", 'trap "echo got >>$0" INT; echo up >>$0; ' ..
        'for i in $(seq 50); do sleep 0.05; done; echo end >>$0', arg[1]}]])
    local path = os.tmpname()
    os.execute(("{ until test -s %s; do sleep 0.1; done; sleep 0.2; printf '\\003'; sleep 4; } | " ..
      "env LUA_PATH='%s' LUA_CPATH='%s' script -qec '\"%s\" \"%s\" \"%s\"' /dev/null >/dev/null"):format(
      path, package.path, package.cpath, process.interpreter(), script, path))
    assert.equal("up\ngot\nend\n", process.read(path))
  end)

  -- The utility timeout sends its signal to the command, and then to the command's whole process group. A
  -- former bug: if the program had ended by the first signal before the second one arrived, the second
  -- signal ended the command, which then did not return the program's exit status.
  it("ignores a signal that has ended the program and comes again", function()
    -- SIGUSR1 is the signal by which servers reopen their log files
    for _, signal in ipairs{"TERM", "HUP", "INT", "QUIT", "USR1", "USR2"} do
      local status = process.code([[
        local host = require "asamp.host"
        local function run()
          return host.run{"/bin/sh", "-c", ("trap 'exit 5' %s; kill -%s $PPID; " ..
            "for i in $(seq 200); do sleep 0.05; done; exit 9"):format(arg[1], arg[1])}
        end
        local how, n = run()
        os.execute(("kill -%s $PPID"):format(arg[1]))
        local _, again = run()  -- the next program receives its own signal
        os.exit(how == "exit" and n == again and n or 99)]], signal)
      assert.equal(5, status, signal)
    end
  end)

  it("takes the signals back afterwards", function()
    local status = process.code([[
      local host = require "asamp.host"
      host.run{"/bin/sh", "-c", ":"}
      os.execute "kill -TERM $PPID"
      os.exit(7)]])
    assert.equal(128 + 15, status)
    status = process.code [[require "asamp.host".raise(10)]]
    assert.equal(128 + 10, status)
  end)
end)

describe("the terminal", function()
  it("has columns and rows only where there is one", function()
    local path = os.tmpname()
    local status = process.code([[
      local host = require "asamp.host"
      assert(host.terminal(1) == nil and host.terminal(99) == nil)
      os.exit(8)]])
    assert.equal(8, status)
    local lua = process.interpreter()
    local code = process.file(([[package.path, package.cpath = %q, %q
      io.open(arg[1], "w"):write(table.concat({require "asamp.host".terminal(1)}, " ")):close()]])
      :format(package.path, package.cpath))
    os.execute(("script -qec 'stty cols 93 rows 31; \"%s\" \"%s\" \"%s\"' /dev/null >/dev/null </dev/null")
               :format(lua, code, path))
    assert.equal("93 31", process.read(path))
  end)
end)
