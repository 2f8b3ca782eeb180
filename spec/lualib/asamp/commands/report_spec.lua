-- SPDX-License-Identifier: MIT
-- `asamp report`: arguments, exit codes, stdout and stderr.

local asamp = require "asamp"
local commands = require "spec.support.commands"
local gen = require "profilegen"
local process = require "spec.support.process"
local report = require "asamp.commands.report"
local shell = require "spec.support.shell"
local vmprof = require "spec.support.vmprof"

local run = commands.of(report)

describe("asamp report", function()
  local path
  before_each(function()
    path = os.tmpname()
    local p = assert(gen.open{path = path, period = 1 << 20,
                              command = "lua app.lua"})
    p:name(8, "main chunk", 0, "@app.lua")
    p:name(16, "parse", 10, "@lib/parse.lua")
    p:flood(30, {16, 12, 8, 3, kind = 0})
    p:flood(10, {8, 4, kind = 3})
    p:collection{fates = ("1"):rep(20) .. ("0"):rep(20), inuse = 1 << 20}
    assert(p:close())
  end)

  it("reports a profile", function()
    local code, out, err = run(path)
    assert.same({0, ""}, {code, err})
    assert.truthy(out:find("40 MiB allocated", 1, true))
    assert.truthy(out:find(
      "30.0M  75.0%  30.0M  75.0%  561,737   56B    67%  parse  lib/parse.lua:10\n", 1, true))
    assert.truthy(out:find(
      "10.0M  25.0%  40.0M 100.0%  187,246   56B     0%  main chunk  app.lua\n", 1, true))
    assert.truthy(out:find("lib/parse.lua:12  parse\n", 1, true))
    assert.truthy(out:find("  table\n", 1, true))
    assert.truthy(out:find("  string\n", 1, true))
  end)

  it("limits the rows", function()
    for _, args in ipairs{{"--top", "1"}, {"--top=1"}} do
      local code, out = run(args[1], args[2] or path, args[2] and path)
      assert.equal(0, code)
      assert.truthy(out:find("parse", 1, true))
      assert.is_nil(out:find("main chunk", 1, true))
    end
  end)

  describe("--own", function()
    it("charges the work of other files to the user's line that ran it", function()
      local code, out = run("--own", "app.lua", path)
      assert.equal(0, code)
      assert.truthy(out:find("  40.0M 100.0%  748,983 ", 1, true), out)
      assert.is_nil(out:find("parse", 1, true))
      assert.truthy(out:find("app.lua:3  main chunk\n", 1, true), out)
      assert.truthy(out:find("The code in app.lua, with ", 1, true))
    end)

    it("leaves code that no such line ran in its place, and reports the charged amount", function()
      for _, name in ipairs{"lib", "./lib/", "x/../lib", "none:lib/parse.lua"} do
        local code, out = run("--own", name, "--json", path)
        assert.equal(0, code, name)
        assert.truthy(out:match('"own": {[^}]*"samples": 30,[^}]*}'), out:match '"own".-}')
        assert.truthy(out:find("main chunk", 1, true))
      end
    end)

    it("names files of the profile when it has nothing there", function()
      for _, name in ipairs{"li", "lib/parse", "/lib", "app.lua2"} do
        local code, _, err = run("--own", name, path)
        assert.equal(1, code)
        assert.equal(("asamp report: '%s': no sampled code lies in %s; the profile has files such as "
                      .. "'app.lua', 'lib/parse.lua'\n"):format(path, name), err)
      end
      assert.same({2, "", "asamp report: --own needs a value, got ''; see asamp report --help\n"},
                  {run("--own", "", path)})
    end)
  end)

  describe("--source", function()
    local file
    before_each(function()
      file = os.tmpname()
      shell.write(file, "one\n\tlocal two = 2\n  three()\nfour()\nfive\nsix\nseven\n")
      os.remove(path)
      local p = assert(gen.open{path = path, period = 1 << 20})
      p:name(8, "main chunk", 0, "@" .. file)
      p:flood(30, {8, 4, kind = 0})
      p:flood(10, {8, 1, kind = 3})
      p:flood(1, {8, 100, kind = 3})
      assert(p:close())
    end)

    it("shows lines with their cost, and the lines around them", function()
      local code, out = run("--source", file, path)
      assert.equal(0, code, out)
      for _, line in ipairs{" 10.0M  24.4%      -  1  one\n", "  2    local two = 2\n",
                            " 30.0M  73.2%      -  4  four()\n", "6  six\n"} do
        assert.truthy(out:find(line, 1, true), line .. out)
      end
      assert.is_nil(out:find("seven", 1, true))
      assert.truthy(out:find("1 line of the profile is after the end of the file", 1, true))
    end)

    -- A former bug: a source file whose lines do not end with "\n" counted as one line, and the report
    -- stated that the file had "changed since".
    it("counts lines as Lua does", function()
      for _, last in ipairs{"\r", "\r\n", "\n\r"} do
        shell.write(file, ("one\ntwo\nthree\nfour()\nfive\nsix\nseven\n"):gsub("\n", last))
        local code, out = run("--source", file, path)
        assert.equal(0, code, out)
        for _, line in ipairs{" 1  one\n", " 30.0M  73.2%      -  4  four()\n", " 6  six\n"} do
          assert.truthy(out:find(line, 1, true), line .. out)
        end
      end
    end)

    it("says that a file is too long for it, not that it has changed", function()
      shell.write(file, ("one\n"):rep(98) .. ("-"):rep(8 << 20) .. "\nlast\n")
      local code, out = run("--source", file, path)
      assert.equal(0, code, out)
      assert.matches("1 line of the profile cannot be shown: the file is longer than the limit, 8 MiB.",
                     (out:gsub("%s+", " ")))
    end)

    it("knows the file by the end of its path, and reports errors", function()
      local name = file:match "[^/]*$"
      assert.equal(0, (run("--source", file, path)))
      assert.same({1, "", ("asamp report: '%s': the code of '%s' lies outside the current "
                           .. "folder: give its path with --source FILE\n"):format(path, file)},
                  {run("--source", name, path)})
      assert.same({1, "", ("asamp report: '%s': no line of 'none.lua' has a sample; give a file that " ..
        "asamp report --top 1000 lists\n"):format(path)},
                  {run("--source", "none.lua", path)})
      os.remove(file)
      assert.same({1, "", ("asamp report: '%s': the code of '%s' was not found: give its path with "
                           .. "--source FILE\n")
                          :format(path, file)}, {run("--source", file, path)})
    end)
  end)

  it("speaks JSON", function()
    local code, out = run("--json", path)
    assert.equal(0, code)
    local flat = out:gsub("%s+", " ")
    assert.truthy(flat:find('"samples": 40,', 1, true))
    assert.truthy(flat:find('"bytes": 41943040,', 1, true))
    assert.truthy(flat:find('"name": "parse"', 1, true))
    assert.truthy(flat:find('"name": "main chunk"', 1, true))
    assert.truthy(flat:find('"complete": true', 1, true))
    local _, short = run("--json", "--top", "1", path)
    assert.is_nil(short:find('"name": "main chunk", "native"', 1, true))
    assert.is_true(#short < #out)
  end)

  it("has the call tree in JSON on request", function()
    local cjson = require "cjson"
    local _, out = run("--json", path)
    assert.is_nil(cjson.decode(out).tree)
    for _, words in ipairs{{"--tree"}, {"--show", "tree"}, {"--tree", "--by", "bytes"}} do
      words[#words + 1], words[#words + 2] = "--json", path
      _, out = run(table.unpack(words))
      local tree = cjson.decode(out).tree
      assert.equal(1, #tree.bytes)
      local root = tree.bytes[1]
      assert.same({"main chunk", 10 << 20, 40 << 20, "app.lua"},
                  {root.name, root.self, root.total, root.file})
      assert.same({{name = "parse", file = "lib/parse.lua", line = 10, native = false,
                    self = 30 << 20, total = 30 << 20}}, root.children)
    end
    _, out = run("--json", "--tree", "--min", "80", path)
    local cut = cjson.decode(out).tree.bytes[1]
    assert.same({"main chunk"}, {cut.name})
    assert.is_nil(cut.children)
  end)

  it("helps", function()
    for _, flag in ipairs{"--help", "-h"} do
      local code, out, err = run(flag)
      assert.equal(0, code)
      assert.truthy(out:find("^usage: asamp report"))
      assert.equal("", err)
    end
  end)

  it("reports wrong arguments on one line, exit code 2", function()
    local cases = {
      [{}] = "no file given",
      [{"--nonsense", "x"}] = "unknown option '--nonsense'",
      [{"-x", "x"}] = "unknown option '-x'",
      [{"--tpo", "3", "x"}] = "unknown option '--tpo', did you mean --top?",
      [{"--json=1", "x"}] = "--json takes no value, got '1'",
      [{"--by", "size", "x"}] = "--by needs bytes, samples, survived, alive, time, state " ..
        "or thread, got 'size'",
      [{"--line", "x.lua", "x"}] = "--line needs FILE:LINE, got 'x.lua'",
      [{"--min", "101", "x"}] = "--min needs a number from 0 to 100, " ..
        "got '101'",
      [{"--show", "lines,linse", "x"}] = "--show needs a comma-separated " ..
        "list of functions, lines, callers, types, trends, copies, native, labels, scripts, states, " ..
        "threads, leaks, holders, lifetimes, tree, collections or " ..
        "marks, got 'lines,linse'",
      [{"--top", "0", "x"}] = "--top needs a whole number of at least 1, got '0'",
      [{"--top", "x"}] = "--top needs a whole number of at least 1, got 'x'",
      [{"--top=1.5", "x"}] = "--top needs a whole number of at least 1, got '1.5'",
      [{"--top=99999999999999999999", "x"}] = "--top needs a whole number " ..
        "of at least 1, got '99999999999999999999'",
      [{"--top"}] = "--top needs a whole number of at least 1, got nothing",
    }
    for args, what in pairs(cases) do
      local code, out, err = run(table.unpack(args))
      assert.equal(2, code)
      assert.equal("", out)
      assert.equal("asamp report: " .. what .. "; see asamp report --help\n",
                   err)
    end
  end)

  it("takes a file whose name looks like an option", function()
    local code, _, err = run("--", "--json")
    assert.equal(1, code)
    assert.truthy(err:find("'--json': No such file", 1, true))
  end)

  it("reports unreadable files on one line, exit code 1", function()
    local code, out, err = run("/nowhere/x.vmprof")
    assert.equal(1, code)
    assert.equal("", out)
    assert.equal("asamp report: cannot read profile '/nowhere/x.vmprof': " ..
                 "No such file or directory\n", err)
  end)

  it("reports the data of a cut file, and that it is cut", function()
    local bytes = vmprof.load(path)
    shell.write(path, bytes:sub(1, #bytes - 10))
    local code, out, err = run(path)
    assert.equal(0, code)
    assert.truthy(out:find("40 MiB allocated", 1, true))
    assert.equal(("asamp report: '%s': cannot be read after byte %d of the log: the file " ..
                  "ends inside a record; the report covers only the readable part\n")
                 :format(path, #bytes - 25), err)
    shell.write(path, bytes:sub(1, 60))
    code, out, err = run(path)
    assert.equal(1, code)
    assert.equal("", out)
    assert.truthy(err:find("; no sample could be read; make a new profile\n$"))
  end)

  it("reports several files, and fails if one yields nothing", function()
    local code, out, err = run(path, "/nowhere/x.vmprof", path)
    assert.equal(1, code)
    assert.equal(2, select(2, out:gsub("40 MiB allocated", "")))
    assert.truthy(err:find("'/nowhere/x.vmprof': No such file", 1, true))
    code, out = run("--json", path, path)
    assert.equal(0, code)
    assert.equal(2, select(2, out:gsub('"path": ', "")))
  end)

  it("shows the requested sections", function()
    local _, out = run("--show", "types,collections", path)
    assert.truthy(out:find("By type", 1, true))
    assert.truthy(out:find("Collections", 1, true))
    assert.is_nil(out:find("By function", 1, true))
    _, out = run("--tree", path)
    assert.truthy(out:find("Call tree", 1, true))
    assert.is_nil(out:find("By type", 1, true))
  end)

  it("restricts itself to a function or a line", function()
    local code, out = run("--function", "pars", path)
    assert.equal(0, code)
    assert.truthy(out:find("30 MiB allocated", 1, true))
    assert.truthy(out:find("Called from\n.-  30.0M 100.0%%  main chunk  app.lua:3\n"))
    code, out = run("--line", "parse.lua:12", "--color=always", path)
    assert.equal(0, code)
    assert.truthy(out:find("only samples with parse.lua:12", 1, true))
    assert.truthy(out:find("\27[", 1, true))
    local err
    code, out, err = run("--line", "arse.lua:12", path)
    assert.equal(1, code)
    assert.equal("", out)
    assert.equal(("asamp report: '%s': no sample has arse.lua:12 on its stack; give a name or line that " ..
      "asamp report --top 1000 lists\n"):format(path),
                 err)
  end)

  it("leaves out samples by a function or a file on their stack", function()
    for _, text in ipairs{"pars", "lib/parse.lua"} do
      local code, out, err = run("--exclude", text, path)
      assert.same({0, ""}, {code, err})
      assert.truthy(out:find("without samples with " .. text .. " on their stack\n", 1, true), out)
      assert.truthy(out:find("10 MiB allocated", 1, true), out)
      assert.truthy(out:find("estimated from 10 samples", 1, true), out)
      assert.truthy(out:find("  10.0M 100.0%  10.0M 100.0%  187,246 ", 1, true), out)
      assert.is_nil(out:find("lib/parse.lua:12", 1, true))
    end
    local _, out = run("--exclude", "nothing has this", path)
    assert.truthy(out:find("estimated from 40 samples", 1, true), out)
    _, out = run("--line", "app.lua:8", "--exclude", "parse", path)
    assert.is_nil(out:find("parse", 1, true) and out:find("lib/parse.lua", 1, true))
    _, out = run("--exclude", "parse", "--json", path)
    assert.truthy(out:find("\"exclude\": ?\"parse\""), out)
  end)

  it("refuses an --exclude that leaves no sample, or that goes with a table of states", function()
    local code, out, err = run("--exclude", "main", path)
    assert.same({1, ""}, {code, out})
    assert.equal(("asamp report: '%s': --exclude main leaves out all samples; give a longer TEXT\n")
                 :format(path), err)
    code, out, err = run("--exclude", "x", "--by", "state", path)
    assert.same({2, ""}, {code, out})
    assert.truthy(err:find("leave --exclude or --by state out", 1, true), err)
  end)

  it("sorts by the data that the file has", function()
    local code, out = run("--by", "survived", path)
    assert.equal(0, code)
    assert.truthy(out:find("By function, by bytes that survived\n", 1, true))
    local err
    code, out, err = run("--by", "time", path)
    assert.equal(1, code)
    assert.equal("", out)
    assert.truthy(err:find("nothing to sort by: 'time' is 0 in the whole profile", 1, true))
  end)

  -- The search for leaks needs several samples. A former bug: if the heap grew by fewer sampling periods,
  -- the report stated that the heap hardly grew, or that no line kept anything.
  it("names the period with enough samples of the growth", function()
    local p = assert(gen.open{path = path, period = 1 << 20})
    p:name(8, "main chunk", 0, "@app.lua")
    local now = gen.now()
    for i = 1, 64 do
      local at = now + i * 1000000
      p:flood(2, {8, 5, kind = 0, time = at})
      p:collection{time = at + 1000, fates = i <= 8 and "11" or "00",
                   inuse = (1 << 20) + (i << 17), duration = 500000}
    end
    assert(p:close())
    local _, out = run("--show", "leaks", path)
    assert.matches("None: the heap grew from [%d.]+ MiB to [%d.]+ MiB, too little to find the cause with " ..
                   "so few samples; a run with %-%-alloc 128K takes enough samples", (out:gsub("%s+", " ")))
    _, out = run(path)
    assert.matches("too little to find the cause with one sample every 1 MiB; use %-%-alloc 128K",
                   (out:gsub("%s+", " ")))
  end)

  it("shows a leak that goes on through the session", function()
    local p = assert(gen.open{path = path, period = 1 << 20})
    p:name(8, "main chunk", 0, "@app.lua")
    local now = gen.now()
    for i = 1, 64 do
      local at = now + i * 1000000
      p:flood(2, {8, i % 2 == 0 and 5 or 6, kind = 0, time = at})
      p:collection{time = at + 1000, fates = i % 2 == 0 and "11" or "00",
                   inuse = i << 20, duration = 500000}
    end
    assert(p:close())
    local code, out = run("--show", "leaks,collections", path)
    assert.equal(0, code)
    assert.truthy(out:find("Likely leaks\n.-  64.0M     100%%  %d+ of %d+   table  app.lua:5"), out)
    assert.is_nil(out:find("app.lua:6", 1, true))
    assert.truthy(out:find("Pauses, in wall time: 32ms together", 1, true), out)
  end)

  it("adds up time of periods and clocks that were set again", function()
    local p = assert(gen.open{path = path, timeperiod = 1000000})
    p:name(8, "main chunk", 0, "@app.lua")
    p:name(16, "wait", 10, "@app.lua")
    for _ = 1, 30 do p:time{8, 4, count = 4} end
    p:timeperiod(0)
    p:timeperiod(10000000, true)
    for _ = 1, 30 do p:time{16, 12} end
    assert(p:close())
    local _, out = run(path)
    local flat = out:gsub("%s+", " ")
    -- The line sums are 120 ms and 300 ms. With 30 samples of 4 ms and 30 of 10 ms, the variance is that of
    -- 420^2 / (30 * 16 + 30 * 100) = 50.7 equal samples.
    assert.truthy(flat:find("420 ms of CPU and wall time, from 51 samples of 8.24 ms on average:",
                            1, true), out)
    assert.truthy(out:find(" 300ms  71.4%  300ms  71.4%  wait  app.lua:10\n", 1, true), out)
    assert.truthy(out:find(" 120ms  28.6%  120ms  28.6%  main chunk  app.lua\n", 1, true), out)
  end)

  it("takes shares of bytes, not of samples, where the period was set again", function()
    local p = assert(gen.open{path = path, period = 1 << 20, followed = 100})
    -- changes the period before the first sample
    p:period(1 << 10)
    p:name(8, "main chunk", 0, "@app.lua")
    p:flood(30, {8, 4, kind = 0})
    p:period(1 << 20)
    p:flood(10, {8, 4, kind = 0})
    p:collection{fates = ("0"):rep(30) .. ("1"):rep(10)}
    assert(p:close())
    local _, out = run(path)
    local flat = out:gsub("%s+", " ")
    assert.truthy(flat:find("0.3% died young, ", 1, true), out)
    assert.truthy(flat:find("The period was 1 KiB at first, and was changed 1 time during the run.",
      1, true), out)
    assert.truthy(out:find("   100%   100%  main chunk  app.lua\n", 1, true), out)
    assert.truthy(out:find("\n       alive  10.0M  99.7%   100%  app.lua:4", 1, true), out)
  end)

  it("reports a run without samples", function()
    local p = assert(gen.open{path = path})
    assert(p:close())
    local code, out, err = run(path)
    assert.same({0, ""}, {code, err})
    assert.truthy(out:find("No samples", 1, true))
  end)
end)

describe("asamp", function()
  local function main(...)
    return process.code([[os.exit(require "asamp".main(arg), true)]], ...)
  end

  it("lists its commands", function()
    for _, flag in ipairs{"--help", "-h", "help"} do
      local code, text = main(flag)
      assert.equal(0, code)
      assert.truthy(text:find("^usage: asamp COMMAND"))
      assert.truthy(text:find("  report   " .. report.summary, 1, true))
    end
  end)

  -- A former bug: `asamp help run` printed the list of commands.
  it("prints the help of a command after the word help", function()
    assert.same({main("report", "--help")}, {main("help", "report")})
    assert.equal(2, (main("help", "nosuch")))
  end)

  it("prints its release and that of its Lua", function()
    local code, text = main("--version")
    local lua = select(2, process.run{"-v"}):match "^Lua [%d.]+"
    assert.same({0, ("asamp %s (%s)\n"):format(shell.read("VERSION"):match "^%S+", lua)}, {code, text})
  end)

  it("reports a missing or unknown command", function()
    local code, text = main()
    assert.equal(2, code)
    assert.is_truthy(text:find("\n  run      profiles a script", 1, true), text)
    code, text = main("reprot", "x")
    assert.equal(2, code)
    assert.equal("asamp: unknown command 'reprot', did you mean " ..
                 "report?; see asamp --help\n", text)
    assert.same({2, "asamp: '/nowhere/a.vmprof' is neither a command nor an existing file; " ..
                    "see asamp --help\n"},
                {main "/nowhere/a.vmprof"})
    for name, command in pairs{["lua"] = "run", ["vmprof"] = "report", ["heap"] = "heap"} do
      local path = shell.folder() .. "/a." .. name
      shell.write(path, "")
      local expected = "asamp: unknown command '%s', did you mean asamp %s %s?\n"
      assert.same({2, expected:format(path, command, path)}, {main(path)})
    end
  end)

  it("reports that its output cannot be written", function()
    local code, text = process.code([[
      io.output(assert(io.open("/dev/full", "w")))
      io.stdout = io.output()
      os.exit(require "asamp".main(arg), true)]], "report", "--help")
    assert.equal(1, code)
    assert.equal("asamp: cannot write the output: No space left on device\n",
                 text)
  end)

  it("runs the command with the arguments after it", function()
    local code, text = main("report", "--help")
    assert.equal(0, code)
    assert.equal(report.usage(), text)
    for _, name in ipairs{"run", "diff"} do
      code, text = main(name, "--help")
      assert.equal(0, code)
      assert.equal(require("asamp.commands." .. name).usage(), text)
    end
    code = main("report")
    assert.equal(2, code)
    assert.equal("function", type(asamp.main))
  end)
end)
