-- SPDX-License-Identifier: MIT
-- `asamp run`: the script must run as it does without the command, and the session must leave a profile.

local host = require "asamp.host"
local layout = require "asamp.show.layout"
local process = require "spec.support.process"
local reader = require "profiler.reader"
local shell = require "spec.support.shell"
local vmprof = require "spec.support.vmprof"

local folder, script, profile

local function write(text)
  shell.write(script, text)
end

-- Runs `asamp run` in a separate process. Returns its exit status, stdout and stderr.
local function run(words, env)
  local main = process.file [[os.exit(require "asamp".main(arg), true)]]
  local t = {main, "run", env = env, directory = folder, input = words.input}
  table.move(words, 1, #words, 3, t)
  local status, out, err = process.run(t)
  return status, out, err
end

local function exists(path)
  return process.read(path) ~= nil
end

describe("asamp run", function()
  before_each(function()
    folder = shell.folder()
    script, profile = folder .. "/app.lua", folder .. "/p.vmprof"
    write [[
      local t = {}
      for i = 1, 20000 do t[i % 100] = {i, tostring(i)} end
      io.write("words: ", table.concat(arg, "|"), "\n")
      os.exit(3, true)]]
  end)

  it("leaves stdout and exit code to the script, reports on stderr", function()
    local status, out, err = run{"--alloc", "4K", "--out", profile, "app.lua",
                                 "--json", "a b", "--", ""}
    assert.equal(3, status)
    assert.equal("words: --json|a b|--|\n", out)
    assert.truthy(err:find("^profiler: %d+ samples, one every 4 KiB on average, of"), err)
    assert.truthy(err:find("By function", 1, true))
    assert.truthy(err:find("app.lua:2", 1, true))
    assert.truthy(err:find("asamp report " .. profile .. " shows more", 1, true))
    assert.is_nil(err:find("\27", 1, true))
  end)

  it("notes an option of its own that follows the script, and leaves it to the script", function()
    local note = "asamp run: --out after 'app.lua' is passed to the script; options of asamp run " ..
      "come before the script\n"
    for _, words in ipairs{{"--out", "x"}, {"a", "--out=x"}} do
      local status, out, err = run{"-o", profile, "app.lua", table.unpack(words)}
      assert.equal(3, status)
      assert.equal("words: " .. table.concat(words, "|") .. "\n", out)
      assert.equal(note, err:match "^[^\n]*\n")
    end
    for _, words in ipairs{{"--outer", "x"}, {"-o", "x"}, {"--", "--out"}} do
      local _, _, err = run{"-o", profile, "app.lua", table.unpack(words)}
      assert.is_nil(err:find("passed to the script", 1, true))
    end
    assert.equal("", (select(3, run{"--quiet", "-o", profile, "app.lua", "--out", "x"})))
  end)

  it("shows the additional samples that were requested", function()
    local _, _, err = run{"--alloc", "4K", "--copies", "--out", profile, "app.lua"}
    assert.truthy(err:find("\nCopies\n", 1, true), err)
    _, _, err = run({"--alloc", "4K", "--out", profile, "app.lua"}, {LUA_PROFILER = "copies=0"})
    assert.is_nil(err:find("Copies", 1, true))
  end)

  -- A former bug: the command printed tables after the verdict, so that the verdict scrolled off the screen.
  it("leaves the verdict on the screen of a terminal", function()
    write [[
      local held, other = {}, {}
      for i = 1, 120000 do
        held[i] = {name = "item " .. i, n = i}
        for k = 1, 4 do other[k] = {i, k} end
      end
      print(#held)]]
    local main = process.file [[os.exit(require "asamp".main(arg), true)]]
    local function screen(rows)
      local status, out = process.run{program = "script", directory = folder, "-qec",
        ("stty rows %d cols 80; exec '%s' '%s' run -o '%s' app.lua"):format(rows, process.interpreter(), main,
        profile), "/dev/null"}
      assert.equal(0, status, out)
      return (out:gsub("\r\n", "\n"):gsub("[^\n]*\r", ""):gsub("^.-profiler: ", "profiler: "))
    end
    local text = screen(24)
    -- the last row of the screen is for the shell's prompt
    assert.is_true(layout.rows(text, 80) <= 24, text)
    assert.matches("Likely leak: local \"held\" of main chunk", text:gsub("%s+", " "), 1, true)
    assert.matches(" asamp report --show leaks ", text, 1, true)
    assert.is_nil(text:find("By line", 1, true))
    assert.matches("shows more.\n$", text)
    text = screen(100)
    assert.matches("By line", text, 1, true)
  end)

  -- Former bugs: a list in a coroutine or hook grew, but the verdict named the table of coroutines
  -- ("coroutines that never finish are kept") or the registry's table of hooks ("functions are added to a
  -- list").
  it("names the list in a coroutine or hook that grows, not the table of coroutines or hooks", function()
    write [[
      local workers = {}
      local function worker(id)
        local seen = {}
        while true do
          local n = coroutine.yield()
          local reply = {n, id}
          if id == 7 then seen[#seen + 1] = reply end
        end
      end
      for id = 1, 20 do
        workers[id] = coroutine.create(worker)
        coroutine.resume(workers[id], id)
      end
      for n = 1, 200000 do coroutine.resume(workers[n % 20 + 1], n) end]]
    local function report()
      return (select(3, run{"--alloc", "1K", "--seed", "1", "--out", profile, "app.lua"}):gsub("%s+", " "))
    end
    assert.matches('Likely leak: local "workers" of main chunk (app.lua) → [1..n] → local "seen" of ' ..
                   'worker (app.lua:2), coroutine: elements are added to a list', report(), 1, true)
    write [[
      local trace = {}
      debug.sethook(function() trace[#trace + 1] = {#trace} end, "", 100)
      for n = 1, 200000 do for k = 1, 20 do local _ = {n, k} end end]]
    assert.matches('→ upvalue "trace" of app.lua:2: elements are added to a list', report(), 1, true)
  end)

  it("says what to do when there is no sample", function()
    write "local t = {} for i = 1, 100 do t[i] = {i} end"
    local status, _, err = run{"--alloc", "1G", "--time", "1", "-o", profile, "app.lua"}
    assert.equal(0, status)
    local flat = err:gsub("%s+", " ")
    assert.truthy(flat:find(" [%d.]+ KiB allocated in [%d.]+ m?s, but no sample was taken: " ..
      "the period is 1 GiB%. With %-%-alloc 64 there would be about %d+ samples%. " ..
      "No time sample either: the period is 1.00 s of CPU time. Use a longer run"), err)
    assert.is_nil(err:find("shows more", 1, true))
  end)

  it("is quiet on request", function()
    local status, _, err = run{"--quiet", "--alloc=4K", "--out=p.vmprof", "--",
                               "app.lua"}
    assert.same({3, ""}, {status, err})
    assert.is_true(exists(profile))
  end)

  it("finds the profile in its default place", function()
    local _, _, err = run{"--alloc", "4K", "app.lua"}
    local path = err:match "asamp report (app%.lua%.%d+%.vmprof) shows more"
    assert.is_true(path and exists(folder .. "/" .. path), err)
  end)

  -- A profile name such as `-.4711.vmprof` would be read as an option in the command that the last line
  -- suggests.
  it("leaves a profile whose name can be typed, whatever the script's is", function()
    local names = {["-x.lua"] = "%./%-x%.lua%.%d+%.vmprof", ["-"] = "lua%.%d+%.vmprof",
                   ["my app's.lua"] = "'my app'\\''s%.lua%.%d+%.vmprof'"}
    local text = "local t = {} for i = 1, 20000 do t[i % 100] = {i} end"
    for name, pattern in pairs(names) do
      script = folder .. "/" .. name
      write(text)
      local _, _, err = run{"--alloc", "4K", "--", name, input = text}
      local word = err:match("asamp report (" .. pattern .. ") shows more")
      assert.truthy(word, err)
      assert.is_true(os.execute(("cd %s && test -s %s"):format(folder, word)))
    end
  end)

  it("takes defaults from LUA_PROFILER", function()
    local _, _, err = run({"--alloc", "4K", "app.lua"},
                          {LUA_PROFILER = "alloc=64, fixed ,out=" .. profile})
    assert.truthy(err:find("samples, one every 4 KiB, of", 1, true), err)
    assert.truthy(err:find("asamp report " .. profile .. " shows more", 1, true))
  end)

  it("ends by the signal that ended the script, with the saved profile", function()
    write [[
      local t = {}
      for i = 1, 20000 do t[i % 100] = {i} end
      require "profiler".alloc_stop()
      require "profiler".disable()
      os.execute("kill -TERM $PPID")
      while true do end]]
    local status, _, err = run{"--alloc", "4K", "--out", profile, "app.lua"}
    assert.equal(128 + 15, status)
    assert.truthy(err:find("By function", 1, true), err)
  end)

  -- A former bug: `asamp run app.lua | head -1` left no profile, or a profile without an end.
  it("has a whole profile of a script whose output nobody reads to its end", function()
    write "local t = {} for i = 1, 20000 do t[i % 100] = {i} end while true do print(1) end"
    local main = process.file [[os.exit(require "asamp".main(arg), true)]]
    local status, out, err = process.run{program = "/bin/bash", directory = folder, "-c",
      '"$0" "$@" | head -1; exit ${PIPESTATUS[0]}', process.interpreter(), main, "run", "--alloc", "4K",
      "-o", profile, "app.lua"}
    assert.same({128 + 13, "1\n"}, {status, out})
    assert.matches("By function", err, 1, true)
    assert.is_nil(err:find("the samples up to then", 1, true), err)
    assert.is_true(reader.read(profile).complete)
  end)

  -- A former bug: no message stated that child processes are missing in the profile.
  it("says that forked child processes are not profiled, and nothing about programs that it runs", function()
    local message = "profiler: the program forked; its child processes are not profiled; " ..
                    "to profile them, too, set the variable ASAMP\n"
    write(("local peers = package.loadlib(%q, 'luaopen_peers')()\n"):format(
      host.realpath(assert(package.searchpath("peers", package.cpath)))) .. [[
      local pid = peers.fork()
      if pid == 0 then peers._exit(0) end
      peers.wait(pid)]])
    local status, _, err = run{"-o", profile, "app.lua"}
    assert.equal(0, status, err)
    assert.matches(message, err, 1, true)
    assert.equal("", select(3, run{"--quiet", "-o", profile, "app.lua"}))
    write [[os.execute "true" io.popen("true"):close()]]
    status, _, err = run{"--prove-leaks", "-o", profile, "app.lua"}
    assert.equal(0, status, err)
    assert.is_nil(err:find("forked", 1, true), err)
  end)

  -- Former bugs: after a syntax error of the script, the command gave advice about --alloc and --exact, and
  -- left an empty profile. It named a profile that it then removed.
  it("has no report about a script that did not start, and no profile", function()
    write "local t = ( end"
    local status, _, err = run{"app.lua"}
    assert.equal(1, status)
    assert.matches("app.lua:1: unexpected symbol near 'end'\n" ..
                   "asamp run: no report: the script ended with status 1 before the first sample; its " ..
                   "profile, which was empty, is removed\n$", err)
    assert.is_false(exists(folder .. "/app.vmprof"))
  end)

  -- Former bugs: if the disk was full, the report gave a short run as the reason why there are no samples; if
  -- the script also failed, the profile was removed as one that is empty.
  it("says that no sample could be read if none was written", function()
    for _, status in ipairs{0, 3} do
      write(("local t = {} for i = 1, 200000 do t[i %% 100] = {i} end os.exit(%d, true)"):format(status))
      local main = process.file [[os.exit(require "asamp".main(arg), true)]]
      local code, out = process.run{program = "/bin/sh", directory = folder, "-c", [[
        { (ulimit -f 1; "$@" 2>&1); echo $?; } | cat]], "sh", process.interpreter(), main, "run", "--alloc",
        "1K", "-o", profile, "app.lua"}
      assert.equal(0, code)
      assert.matches("File too large; %d+ samples are lost\nasamp run: '[^\n]*': cannot be read after " ..
                     "byte %d+ of the log: the file ends inside compressed data; no sample could be read; " ..
                     "make a new profile\n" .. status .. "\n$", out)
      assert.is_true(exists(profile))
      os.remove(profile)
    end
  end)

  -- A former bug: when two runs with the same --out ended at the same time, each reported the profile as
  -- its own.
  it("says so if another run has replaced the profile", function()
    write(([[
      require "profiler".disable()
      os.execute "%s/build/bin/asamp run --quiet --out p.vmprof --overwrite /dev/null"
    ]]):format(shell.output "pwd":gsub("\n", "")))
    local status, _, err = run{"-o", "p.vmprof", "app.lua"}
    assert.equal(1, status)
    assert.matches("asamp run: no profile: another run has overwritten 'p.vmprof' with its profile; " ..
                   "%-%-out app.%%p.vmprof gives each run its own file", err)
  end)

  it("says so if a signal ended the script before a sample was written", function()
    write [[os.execute("kill -9 " .. io.open "/proc/self/stat":read "n")]]
    local status, _, err = run{"-o", profile, "app.lua"}
    assert.equal(128 + 9, status)
    assert.matches("no profile: signal 9 ended the program before a sample was written to '", err, 1, true)
    assert.is_nil(err:find("No sample", 1, true))
  end)

  -- A former bug: if a signal ended the script before the file had a header, the message stated only that
  -- the file is empty.
  it("says so if a signal ended the script before the file had a header", function()
    write([[require "profiler".disable() io.open("]] .. profile .. [[", "w"):close()
      os.execute("kill -9 " .. io.open "/proc/self/stat":read "n")]])
    local status, _, err = run{"-o", profile, "app.lua"}
    assert.equal(128 + 9, status)
    assert.matches("no profile: signal 9 ended the program before a sample was written to '", err, 1, true)
  end)

  -- Former bugs: the exit code of the command was 0. For a program, the message stated that it had created no
  -- Lua state.
  it("fails if the profile cannot be written, unless the script or program itself fails", function()
    local main, lua = process.file [[os.exit(require "asamp".main(arg), true)]], process.interpreter()
    local message = "asamp run: no profile: the %s cannot be written; --out FILE writes the profile to " ..
                    "another place\n"
    write "print 'ran' os.exit(tonumber(arg[1]), true)"
    for code, expected in pairs{[0] = 1, [7] = 7} do
      for _, words in ipairs{{"run"}, {"run", "--", lua}, {"run", "--quiet", "--", lua},
                             {"run", "--out", "no/p.vmprof", "--", lua}} do
        local command = {program = "/bin/sh", directory = folder, "-c",
          "mkdir gone && cd gone && rmdir ../gone && exec \"$@\"", "sh", lua, main, table.unpack(words)}
        table.move({script, tostring(code)}, 1, 2, #command + 1, command)
        local status, out, err = process.run(command)
        assert.same({expected, "ran\n"}, {status, out}, err)
        assert.equal(message:format(words[2] == "--out" and "folder 'no/'" or "current folder"),
                     err:match "([^\n]*\n)$")
      end
      -- with these options, only the session reports the reason
      for _, option in ipairs{"--copies", "--quiet"} do
        local status, out, err = run{option, "--out", "no/p.vmprof", "app.lua", tostring(code)}
        assert.same({expected, "ran\n", "profiler: cannot write profile 'no/p.vmprof': No such file or " ..
          "directory\n"}, {status, out, err})
      end
    end
  end)

  it("knows the options of lua", function()
    local status, _, err = run{"-e", "print(1)"}
    assert.same({2, "asamp run: '-e' is an option of lua, not of asamp run: give a script, or - to read " ..
      "a script from standard input; see asamp run --help\n"}, {status, err})
  end)

  -- A former bug: for `asamp run lua app.lua` with Debian's lua5.1, the message was "made no state of
  -- liblua5.4.so.0", instead of the reason.
  it("recognizes programs with a Lua of their own", function()
    local programs = require "asamp.cli.programs"
    for text, own in pairs{["$Lua: Lua 5.1.5 Copyright"] = true, ["$LuaVersion: Lua 5.4.4"] = true,
                           ["LuaJIT 2.1.0"] = true, ["Lua 5"] = false,
                           ["$LuaVersion: Lua 5.4.9 profiler: ASAMP is set"] = false} do
      shell.write(folder .. "/own", "\127ELF", text)
      assert.equal(own, programs.hasown(folder .. "/own"), text)
    end
  end)

  it("passes the script's error through", function()
    write [[error "no such luck"]]
    local status, _, err = run{"--alloc", "4K", "--out", profile, "app.lua"}
    assert.equal(1, status)
    assert.truthy(err:find("no such luck", 1, true))
  end)

  it("replaces a profile that --out names, for a repeated command, and no other file", function()
    local _, _, first = run{"--alloc", "4K", "--out", "p.vmprof", "app.lua"}
    local _, _, second = run{"--alloc", "4K", "--out", "p.vmprof", "app.lua"}
    for _, err in ipairs{first, second} do
      assert.truthy(err:find("asamp report p.vmprof shows more", 1, true), err)
    end
    assert.is_false(exists(folder .. "/p.2.vmprof"))
    shell.write(folder .. "/notes", "mine")
    local status, _, err = run{"--alloc", "4K", "--out", "notes", "app.lua"}
    assert.equal(3, status)
    assert.truthy(err:find("'notes': a text file exists at this path and would be replaced; give another " ..
                           "path, or the option overwrite\n", 1, true), err)
    assert.equal("mine", process.read(folder .. "/notes"))
    _, _, err = run{"--alloc", "4K", "--overwrite", "--out", "notes", "app.lua"}
    assert.truthy(err:find("asamp report notes shows more", 1, true), err)
  end)

  it("finds the profile under the name that it got", function()
    local env = {LUA_PROFILER = "alloc=4K,out=p.vmprof"}
    for n, name in ipairs{"p.vmprof", "p.2.vmprof", "p.3.vmprof"} do
      local _, _, err = run({"app.lua"}, env)
      assert.truthy(err:find("asamp report " .. name .. " shows more", 1, true), err)
      assert.equal(n > 1, err:find("is an existing profile", 1, true) ~= nil)
    end
  end)

  -- A profile name with %t contains the time of the start. A former bug: at the end the command computed
  -- the name again, with the time of the end.
  it("finds the profile by the time of its start", function()
    write "local t = {} for i = 1, 20000 do t[i % 100] = {i} end os.execute 'sleep 1.1'"
    local _, _, err = run{"--alloc", "4K", "-o", "p.%t.vmprof", "app.lua"}
    assert.matches("asamp report p%.%d+T%d+%.vmprof shows more", err)
  end)

  -- A former bug: after the session's own message, the command added "no profile: cannot read profile '…':
  -- No such file or directory".
  it("leaves the message to the session if it could not start, and to Lua if it has failed", function()
    local _, _, first = run{"--alloc", "4K", "--out", profile, "app.lua"}
    assert.truthy(first:find("By function", 1, true))
    os.execute(("rm %s; mkdir %s"):format(profile, profile))
    shell.write(folder .. "/notes", "mine")
    for path, why in pairs{[profile] = "Is a directory", ["no/x.vmprof"] = "No such file or directory",
                           notes = "a text file exists at this path and would be replaced; give another " ..
                                   "path, or the option overwrite"} do
      local status, _, err = run{"--alloc", "4K", "--out", path, "app.lua"}
      assert.equal(3, status)
      assert.equal(("profiler: cannot write profile '%s': %s\n"):format(path, why), err)
    end
    local status, _, err = run({"app.lua"}, {LUA_INIT = "error('not today', 0)"})
    assert.equal(1, status)
    assert.matches(": not today\n", err, 1, true)
    assert.is_nil(err:find("asamp run", 1, true), err)
  end)

  it("reports no profile that another run left", function()
    run{"--quiet", "--alloc", "4K", "--out", profile, "app.lua"}
    local status, text = process.code([[
      local time = os.time
      os.time = function() return time() + 60 end
      os.exit(require "asamp.commands.run".run({"--out", arg[1], arg[2]}, {
        interpreter = "/bin/true", read = require "profiler.reader".read,
        err = function(s) io.stderr:write(s) end}))]], profile, script)
    assert.equal(1, status)
    assert.equal(("asamp run: no profile: this run did not write the file '%s'; it is from an earlier run\n")
                 :format(profile), text)
  end)

  it("reports wrong arguments on one line, exit code 2", function()
    for what, words in pairs{
      ["no script given"] = {"--alloc", "4K"},
      ["--alloc needs a number of bytes such as 65536 or 64K, got '4Q'"] =
        {"--alloc", "4Q", "app.lua"},
      ["--time needs a whole number of samples a second, got 'x'"] =
        {"--time=x", "app.lua"},
      ["--out needs a path without commas, got 'a,b'"] =
        {"--out", "a,b", "app.lua"},
      ["--format needs stock or extended, got 'x'"] = {"--format=x", "app.lua"},
      ["unknown option '--aloc', did you mean --alloc?"] =
        {"--aloc", "4K", "app.lua"},
      ["nothing to sample: --alloc and --time are 0, and --malloc is not given; set one of them"] =
        {"--alloc", "0K", "--time", "0", "app.lua"},
      ["--alloc is given twice"] = {"--alloc", "4K", "--alloc=8K", "app.lua"},
      ["option 'alloc' must be a period of 64 to 2^62 bytes, or 0 for none, got \"3\""] =
        {"--alloc", "3", "app.lua"},
      ["option 'time' must be 1 to 30000 samples a second, or 0 for none, got \"30001\""] =
        {"--time", "30001", "app.lua"},
      -- A former bug: the command wrote a file named "-", and then read standard input.
      ["a profile cannot be written to stdout, which the script uses: give --out a path (./- for a file with "
       .. "the name -)"] =
        {"-o", "-", "app.lua"},
      ["--out './app.lua' is the input 'app.lua' itself; give another name"] =
        {"-o", "./app.lua", "app.lua"},
    } do
      local status, out, err = run(words)
      assert.equal(2, status)
      assert.equal("", out)
      assert.equal("asamp run: " .. what .. "; see asamp run --help\n", err)
    end
    assert.truthy(process.read(script):find "words:")
    assert.equal("app.lua\n", shell.output("ls " .. folder))
  end)

  it("reports errors in LUA_PROFILER before the script starts", function()
    for text, what in pairs{
      ["alloc=1K,alloc=2K"] = "LUA_PROFILER: option 'alloc' is given twice",
      ["alloc=0,time=0"] = "nothing to sample: --alloc and --time are 0, and --malloc is not given; set " ..
        "one of them",
      ["wall=2"] = "LUA_PROFILER: option 'wall' must be true or false, 1 or 0, got \"2\"",
    } do
      local status, out, err = run({"app.lua"}, {LUA_PROFILER = text})
      assert.equal(2, status)
      assert.equal("", out)
      assert.equal("asamp run: " .. what .. "; see asamp run --help\n", err)
    end
  end)

  it("says when the script cannot be read, and leaves no profile of it", function()
    for name, reason in pairs{["no.lua"] = "No such file or directory", ["."] = "Is a directory"} do
      local status, out, err = run{name}
      assert.equal(1, status)
      assert.equal("", out)
      assert.equal(("asamp run: cannot read script '%s': %s\n"):format(name, reason), err)
    end
    assert.equal("app.lua\n", shell.output("ls " .. folder))
  end)

  -- A former bug: the message was "made no state of liblua5.4.so.0", although the program had created a
  -- state of another library with this name.
  it("says why the loader does not take our library", function()
    shell.write(folder .. "/lib.c", "int luaL_newstate(void) { return 1; }")
    shell.write(folder .. "/main.c", "int luaL_newstate(void); int main(void) { return !luaL_newstate(); }")
    shell.output([[cd %s && mkdir lib && ln -s liblua5.4.so.0 lib/liblua5.4.so &&
      cc -shared -fPIC -Wl,-soname,liblua5.4.so.0 -o lib/liblua5.4.so.0 lib.c &&
      cc -o app main.c -Llib -llua5.4 -Wl,--disable-new-dtags,-rpath,'$ORIGIN/lib' &&
      cc -o late main.c -Llib -llua5.4 -Wl,--enable-new-dtags,-rpath,'$ORIGIN/lib']], folder)
    local status, _, err = run{"./app"}
    assert.same({1, ("asamp run: the Lua states of './app' cannot be profiled: the program's DT_RPATH, " ..
      "which precedes LD_LIBRARY_PATH, links it to %s/./lib/liblua5.4.so.0; remove that entry " ..
      "(chrpath -d)\n"):format(folder)}, {status, err})
    -- the loader searches DT_RUNPATH after LD_LIBRARY_PATH, so that it finds the profiler's library
    _, _, err = run{"./late"}
    assert.falsy(err:find("DT_RPATH", 1, true), err)
    if shell.output "id -u" ~= "0\n" then return end
    shell.output("cd %s && cp late raised && chown 65534 raised && chmod u+s raised && chmod 755 .", folder)
    _, _, err = run{"./raised"}
    assert.equal("asamp run: the Lua states of './raised' cannot be profiled: the program is setuid, " ..
      "setgid or has capabilities, and so ignores LD_LIBRARY_PATH and ASAMP; profile a copy without " ..
      "these rights\n", err)
  end)

  -- A former bug: for a Lua script in a folder of PATH, the message stated that no program of that name is
  -- in PATH.
  it("runs a Lua script that is found in PATH", function()
    shell.output("mkdir %s/tools && mv %s %s/tools/tool && mkdir %s/tool", folder, script, folder, folder)
    shell.write(folder .. "/tools/tool", "#!/usr/bin/env lua\n" .. process.read(folder .. "/tools/tool"))
    local path = os.getenv "PATH"
    for _, words in ipairs{{"tool"}, {"--", "tool"}} do
      table.insert(words, 1, profile)
      table.insert(words, 1, "--out")
      words[#words + 1] = "x"
      local status, out, err = run(words, {PATH = folder .. "/tools:" .. path})
      assert.same({3, "words: x\n"}, {status, out}, err)
      assert.truthy(err:find("/tools/tool:3", 1, true), err)
    end
  end)

  it("says that there is neither a script nor a program of a name", function()
    for name, where in pairs{nosuch = " in PATH", ["./nosuch"] = ""} do
      local status, _, err = run{"--", name}
      assert.equal(1, status)
      assert.equal(("asamp run: there is no script '%s' and no program of that name%s\n"):format(name, where),
                   err)
    end
  end)

  it("takes nothing out of a pipe that is the script", function()
    write "print 'from the pipe'"
    -- the command must open the pipe only once, because the pipe is empty when it is opened again
    assert.is_true(os.execute(([[cd %s && mkfifo pipe &&
      { { cat app.lua >pipe; timeout 5 sh -c ': >pipe'; } >/dev/null 2>&1 & }]]):format(folder)))
    local status, out = run{"--quiet", "pipe"}
    assert.equal(0, status)
    assert.equal("from the pipe\n", out)
  end)

  it("hands switches on to the profiler", function()
    local status = run{"--quiet", "--plain", "--fixed", "--no-native", "-o", profile, "app.lua"}
    assert.equal(3, status)
    local bytes, packed = vmprof.load(profile)
    local log = vmprof.decode(bytes)
    assert.is_false(packed)
    assert.equal("0", log.metas["asamp.random"])
    -- in the header of the file, mode 2 means that stacks have no native frames
    assert.equal(2, log.mode)
  end)

  -- A former bug: before the script started, the command loaded all modules of the report and those of a
  -- session.
  it("loads the report after the run, and no module of a session", function()
    local status, text = process.code [[
      require "asamp.commands.run"
      for name in pairs(package.loaded) do
        if name == "profiler.core" or name:find "^asamp%.sums" then print(name) end
      end]]
    assert.same({0, ""}, {status, text})
  end)

  it("has its modules compiled", function()
    local sources = shell.lines(shell.output "cd lualib && find . -name '*.lua' | sort")
    assert.is_true(#sources > 100)
    for _, path in ipairs(sources) do
      local code = assert(process.read("build/share/asamp/" .. path .. "c"), path)
      assert.equal("\27Lua", code:sub(1, 4), path)
    end
    assert.matches("?.luac;", assert(process.read "build/bin/asamp"), 1, true)
  end)

  it("says when the interpreter is not there", function()
    local status, text = process.code([[
      local code = require "asamp.commands.run".run({arg[1]}, {interpreter = "/nowhere/lua",
        err = function(s) io.stderr:write(s) end})
      os.exit(code)]], script)
    assert.equal(1, status)
    assert.equal("asamp run: cannot run '/nowhere/lua': No such file or directory\n",
                 text)
  end)
end)
