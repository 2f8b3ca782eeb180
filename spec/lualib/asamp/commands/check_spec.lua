-- SPDX-License-Identifier: MIT
-- `asamp check`, which compares a profile or script with limits: limits, baselines, output formats and exit
-- codes.

local check = require "asamp.commands.check"
local commands = require "spec.support.commands"
local gen = require "profilegen"
local host = require "asamp.host"
local merge = require "asamp.commands.merge"
local process = require "spec.support.process"
local reader = require "profiler.reader"
local shell = require "spec.support.shell"

local asamp = commands.of(check, {interpreter = process.interpreter()})
local has = commands.has

local function run(...)
  local code, out, err = asamp(...)
  return code, out .. err
end

local MB = 1 << 20

-- Writes a profile with 'parse' samples at one line of the function parse, 'second' samples at another line
-- of it, and 'main' samples at a line of the main chunk. Each sample represents 1 MiB. 'allocated': the
-- exact total, if given. Returns its path.
local function make(parse, main, allocated, second)
  local path = os.tmpname()
  local p = assert(gen.open{path = path, period = MB, random = true})
  p:name(8, "main chunk", 0, "@app.lua")
  p:name(16, "parse", 10, "@lib/parse.lua")
  for _ = 1, parse do p:sample{16, 12, 8, 3, kind = 0} end
  for _ = 1, second or 0 do p:sample{16, 13, 8, 3, kind = 0} end
  for _ = 1, main do p:sample{8, 4, kind = 3} end
  if allocated then p:allocated(allocated) end
  assert(p:close())
  return path
end

describe("asamp check", function()
  it("compares all and lines with limits", function()
    local path = make(300, 100, 400 * MB)
    local code, out = run(path, "--max-allocated", "400M")
    assert.same({0, "ok    max-allocated: 400 MiB, limit 400 MiB\n"}, {code, out})
    code, out = run(path, "--max-allocated", "399M")
    assert.equal(1, code)
    assert.equal("OVER  max-allocated: 400 MiB, limit 399 MiB; largest part: lib/parse.lua:12 (parse)\n",
                 out)
    -- 300 of 400 samples represent 300 MiB with a standard error of 8.7 MiB
    code, out = run(path, "--max-line", "parse.lua:12=275M,app.lua:4=1G")
    assert.equal(0, code, out)
    code, out = run("--max-line=parse.lua:12=273M", path)
    assert.equal(1, code)
    has(out, "OVER  max-line parse.lua:12: 300 MiB ±8.7 MiB, limit 273 MiB; " ..
        "the check detects a value of 310.2 MiB or more in 9 of 10 runs; largest part: lib/")
    code, out = run("--max-line=parse.lua:99=1M", path)
    assert.equal(0, code)
    has(out, "the profile has no sample of this line")
  end)

  it("compares with a baseline, exactly in sum and by line", function()
    local a, b, c = make(900, 100, 1000 * MB), make(1000, 100, 1100 * MB), make(880, 120, 1000 * MB)
    local code, out = run(b, "--baseline", a)
    assert.equal(1, code, out)
    has(out, "OVER  baseline: 1.1 GiB, baseline 1000 MiB, +10.0% (more than 5% fails); ",
        "largest part: lib/parse.lua:12")
    code, out = run(b, "--baseline", a, "--tolerance", "12")
    assert.equal(0, code, out)
    assert.equal(0, (run(c, "--baseline", a)))
    local d = make(500, 500, 1000 * MB)
    code, out = run(d, "--baseline", a)
    assert.equal(1, code, out)
    has(out, "OVER  baseline: 500 MiB", "baseline 100 MiB, +400.0% (more than 5% fails); ",
        "; only an increase above 4.6 standard errors fails (this one: ", "); largest part: app.lua:4 " ..
          "(main chunk)\n")
  end)

  -- The order of pairs may differ between two runs of a program, so that a table grows at other lines of
  -- the loop. The message must name this possible cause.
  it("names the order of pairs if other lines of the function allocated less", function()
    local baseline = make(900, 100, nil, 100)
    local code, out = run(make(100, 100, nil, 900), "--baseline", baseline)
    assert.equal(1, code)
    has(out, "; other lines of the function allocated less: allocations may have moved between lines, " ..
        "for example if the order of pairs differs; largest part: lib/parse.lua:13 (parse)\n")
    out = select(2, run(make(900, 100, nil, 900), "--baseline", baseline))
    assert.matches("OVER  baseline: .* largest part: lib/parse.lua:13", out)
    assert.is_nil(out:find("pairs", 1, true))
  end)

  it("prints the smallest increases that a comparison finds, and the period that finds less", function()
    local a, b = make(900, 100, 1000 * MB), make(900, 100, 1000 * MB)
    local code, out = run(b, "--baseline", a)
    assert.equal(0, code)
    has(out, "detected in 9 of 10 runs: the total grows by 5% or more\n" ..
        "detected in 9 of 10 runs: lib/parse.lua:12 (parse), with 90% of the bytes, " ..
        "grows by 9% or more\n" ..
        "detected in 9 of 10 runs: app.lua:4 (main chunk), with 10% of the bytes, " ..
        "grows by 93% or more; " ..
        "--alloc 8K detects smaller increases\n")
    out = select(2, run(make(900, 100), "--baseline", make(900, 100)))
    has(out, "detected in 9 of 10 runs: the total grows by 27% or more\n")
    out = select(2, run(a, "--no-leak"))
    assert.is_nil(out:find("detected", 1, true))
  end)

  -- A former bug: the message proposed a sampling period below 64, which `asamp run` rejects.
  it("prints no period that cannot be set", function()
    local path = os.tmpname()
    local p = assert(gen.open{path = path, period = 128, random = true})
    p:name(8, "main chunk", 0, "@app.lua")
    for i = 1, 1000 do p:sample{8, i % 10 == 0 and 4 or 5, kind = 0} end
    p:allocated(128000)
    assert(p:close())
    local code, out = run(path, "--baseline", path)
    assert.equal(0, code, out)
    has(out, "app.lua:4 (main chunk), with 10% of the bytes, grows by ", "% or more\n")
    assert.is_nil(out:find("--alloc", 1, true), out)
  end)

  it("leaves stacks out", function()
    local path = make(300, 100, 400 * MB)
    for text, left in pairs{parse = 100, ["lib/parse.lua"] = 100, nowhere = 400} do
      local _, out = run(path, "--max-allocated", "1G", "--exclude", text)
      has(out, ("max-allocated: %d MiB"):format(left))
    end
    local code, out = run(path, "--max-allocated", "1G", "--exclude", "app")
    assert.same({1, ("asamp check: '%s': --exclude app leaves out all samples; give a longer TEXT\n")
                      :format(path)}, {code, out})
    local more = make(300, 300, 600 * MB)
    assert.equal(1, (run(more, "--baseline", path)))
    assert.equal(1, (run(more, "--baseline", path, "--exclude", "parse")))
    assert.equal(0, (run(make(600, 100, 700 * MB), "--baseline", path, "--exclude", "parse")))
  end)

  it("writes annotations and a JUnit file", function()
    local path, to = make(300, 100, 400 * MB), os.tmpname()
    local code, out = run(path, "--max-allocated", "1M", "--max-line", "app.lua:4=1G", "--github",
                          "--junit", to)
    assert.equal(1, code)
    has(out, "::error file=lib/parse.lua,line=12,title=asamp max-allocated::400 MiB, limit 1 MiB; ")
    local xml = shell.read(to)
    has(xml, '<testsuite name="asamp check ' .. path .. '" tests="2" failures="1">\n',
        '<testcase classname="asamp" name="max-allocated">\n    <failure message="400 MiB, limit 1 MiB;',
        '<testcase classname="asamp" name="max-line app.lua:4"/>')
    code, out = run(path, "--max-allocated", "1G", "--junit", "/nowhere/x")
    assert.equal(1, code)
    has(out, "cannot write '/nowhere/x': No such file or directory\n")
  end)

  -- Former bugs: if the name of a source had the character U+FFFE, no reader could parse the JUnit file.
  -- Characters that change the direction of text were written to the annotation.
  it("writes names without characters that XML or a terminal obeys", function()
    local path, to = os.tmpname(), os.tmpname()
    local p = assert(gen.open{path = path, period = MB, random = true})
    p:name(8, "main chunk", 0, "@a\u{202E}\u{FFFE}\u{FFFF}.lua")
    for _ = 1, 100 do p:sample{8, 4, kind = 3} end
    assert(p:close())
    local _, out = run(path, "--max-allocated", "1M", "--max-line", "\27[31m.lua:4=1G", "--github",
                       "--junit", to)
    has(out, "::error file=a?", "ok    max-line ?[31m.lua:4: ")
    assert.is_nil(out:find "\u{202E}")
    assert.is_nil(out:find "\27")
    has(shell.read(to), "a???.lua:4 (main chunk)")
  end)

  -- A former bug: if nothing could be checked, the JUnit file of an earlier run was left, and showed no
  -- failure.
  it("writes annotations and a JUnit file if nothing could be checked", function()
    local to = os.tmpname()
    shell.write(to, "an earlier run")
    local code, out = run("/nowhere/x.vmprof", "--no-leak", "--github", "--junit", to)
    assert.equal(1, code)
    local message = "cannot read profile '/nowhere/x.vmprof': No such file or directory"
    has(out, "::error title=asamp check::" .. message .. "\n")
    has(shell.read(to), 'asamp check /nowhere/x.vmprof" tests="1" failures="0" errors="1">\n',
        '<testcase classname="asamp" name="run">\n    <error message="' .. message .. '"/>\n')
  end)

  -- By default, `asamp run` limits the number of samples per second. `asamp check` must run a script
  -- without this limit.
  it("takes all samples of a script's default period", function()
    local command, given = require "asamp.commands.run", nil
    local whole = command.run
    command.run = function(args) given = args return 1 end
    local code = run("app.lua", "--no-leak")
    command.run = whole
    assert.equal(1, code)
    assert.matches(" %-%-alloc 32K app.lua$", table.concat(given, " "))
  end)

  it("runs a script", function()
    local script = os.tmpname()
    os.remove(script)
    script = script .. ".lua"
    shell.write(script, 'local t = {} for i = 1, 20000 do t[i] = {i} end os.exit(tonumber((...)) or 0)')
    local code, out = run(script, "--max-allocated", "64M", "--max-peak", "64M", "--alloc", "4K")
    assert.equal(0, code, out)
    code, out = run(script, "--max-allocated", "100K", "--alloc", "4K")
    assert.equal(1, code, out)
    has(out, "OVER  max-allocated: ", (":1 (main chunk)"))
    code, out = run("--no-leak", script, "--", "3")
    assert.equal(1, code)
    has(out, "failed with status 3; nothing is checked")
    -- A former bug: a signal that ended the script ended the command, too, and its temporary folder was
    -- left.
    local temporary, name = shell.folder(), host.temporary
    host.temporary = function() return temporary end
    shell.write(script, "os.execute('kill -9 $PPID') repeat until false")
    code, out = run("--max-allocated", "64M", script)
    host.temporary = function() return "/nowhere" end
    local lone = select(2, run("--max-allocated", "64M", script))
    host.temporary = name
    assert.equal(1, code)
    has(out, ("asamp check: the script '%s' was ended by signal 9; nothing is checked\n"):format(script))
    assert.equal("", shell.output("ls -A %s", temporary))
    assert.equal("asamp check: cannot create a folder in '/nowhere': No such file or directory; " ..
                 "set TMPDIR to a writable folder\n", lone)
    shell.remove(temporary)
    shell.write(script, "return {}")
    code, out = run("--no-leak", "--alloc", "1G", script)
    assert.equal(1, code)
    has(out, ("'%s' has no allocation samples; profile again with a smaller --alloc"):format(script))
    code, out = run("--max-allocated", "1G", "--from", "99", script, "--alloc", "4K")
    assert.equal(1, code)
    has(out, ("'%s': --from 99 s is after the end of the profile, "):format(script))
  end)

  -- A former bug: the check of a script that allocated less than one period failed, whatever the limits
  -- were.
  it("needs no sample where the exact number of bytes decides", function()
    local path = make(0, 0, 600)
    for limits, wanted in pairs{
      ["--max-allocated 600"] = "ok    max-allocated: 600 bytes, limit 600 bytes\n",
      ["--max-alive 600"] = "ok    max-alive: 0 bytes, limit 600 bytes\n",
      ["--max-line app.lua:4=1K"] = "ok    max-line app.lua:4: 0 bytes, limit 1 KiB; the profile has no " ..
                                    "sample of this line\n",
      ["--max-allocated 599"] = "OVER  max-allocated: 600 bytes, limit 599 bytes\n"} do
      local option, value = limits:match "^(%S+) (.*)$"
      local code, out = run(path, option, value)
      assert.same({wanted:find "^OVER" and 1 or 0, wanted}, {code, out})
    end
    for _, limits in ipairs{{"--max-alive", "599"}, {"--max-line", "app.lua:4=599"}, {"--no-leak"},
                            {"--baseline", path}, {"--max-allocated", "1K", "--exclude", "x"}} do
      local code, out = run(path, table.unpack(limits))
      assert.same({1, ("asamp check: '%s' has no allocation samples; profile again with a smaller --alloc\n")
        :format(path)}, {code, out})
    end
    os.remove(path)
  end)

  -- A former bug: asamp check read the profile without its time slices, from which leaks are derived, so that
  -- it never found a likely leak.
  it("fails on a likely leak", function()
    local folder = shell.folder()
    local function script(name, what)
      shell.write(folder .. "/" .. name, ([[
        local last
        list = {}
        for i = 1, 40000 do %s = {i} end]]):format(what))
      return folder .. "/" .. name
    end
    local code, out = run(script("leak.lua", "list[i]"), "--no-leak", "--alloc", "2K", "--github")
    assert.equal(1, code, out)
    has(out, 'OVER  no-leak: 1 likely leak, held by _G → ["list"]; largest part: ',
        "leak.lua:3 (main chunk)\n", "::error file=",
        "title=asamp no-leak::1 likely leak")
    code, out = run(script("none.lua", "last"), "--no-leak", "--alloc", "2K")
    assert.equal(0, code, out)
    has(out, "ok    no-leak: no likely leak")
    shell.write(folder .. "/small.lua", "return {}")
    code, out = run(folder .. "/small.lua", "--no-leak", "--alloc", "64")
    assert.equal(0, code)
    assert.matches("^ok    no%-leak: no likely leak found, because the profile cannot show one: " ..
                   "the run had [%a ]+; profile a longer run\n$", out)
    shell.remove(folder)
  end)

  it("finds equal runs of a real program equal", function()
    local paths, script = {}, process.file [[
      local function item(i) return {id = i, name = "item" .. i} end
      local function list(n)
        local t = {}
        for i = 1, n do t[#t + 1] = item(i) end
        return t
      end
      for _ = 1, 100 do list(300) end]]
    for i = 1, 4 do
      paths[i] = os.tmpname()
      local status, _, err = process.run{script, load = "profiler",
        env = {LUA_PROFILER = ("out=%s,overwrite=1,quiet,alloc=8K,seed=%d"):format(paths[i], i)}}
      assert.equal(0, status, err)
      assert.is_true(reader.read(paths[i]).samples > 100)
    end
    for i = 2, 4 do
      local code, out = run(paths[i], "--baseline", paths[1])
      assert.equal(0, code, out)
    end
  end)

  it("refuses wrong arguments", function()
    local path = make(3, 1)
    for _, case in ipairs{
      {"nothing to check: give --max-allocated or another limit, --no-leak, or --baseline", path},
      {"--tolerance is the allowed increase over the baseline: give --baseline FILE, too", path,
        "--no-leak", "--tolerance", "3"},
      {"--max-line needs FILE:LINE=SIZE, or a comma-separated list of these, got 'x'", path, "--max-line",
       "x"},
      {"--max-peak needs a size, such as 100M, got '1T'", path, "--max-peak", "1T"},
      {"one profile at a time", path, path, "--no-leak"},
      {"--alloc needs a size of at least 64 bytes, such as 64K, got " ..
        "'0K'", "app.lua", "--no-leak", "--alloc", "0K"},
      {"--alloc needs a size of at least 64 bytes, such as 64K, got " ..
        "'x'", "app.lua", "--no-leak", "--alloc", "x"},
      {"--alloc needs a size of at least 64 bytes, such as 64K, got " ..
        "'63'", "app.lua", "--no-leak", "--alloc", "63"},
    } do
      local code, out = run(table.unpack(case, 2))
      assert.equal(2, code, out)
      has(out, case[1])
    end
    local code, out = run(path, "--max-peak", "1M")
    assert.equal(1, code)
    has(out, "--max-peak: the profile records no garbage")
    code, out = run(path, "--max-alive", "1M")
    assert.equal(1, code)
    has(out, "--max-alive: the profile does not record which objects died")
    code, out = run(path, "--no-leak")
    assert.equal(1, code)
    has(out, "--no-leak: the profile does not record which objects survived")
    local merged = os.tmpname()
    assert.equal(0, (commands.of(merge)(path, make(2, 1), "-o", merged)))
    code, out = run(merged, "--no-leak")
    assert.equal(1, code)
    has(out, "--no-leak: the profile was merged from several runs; check the profile of each run")
    assert.equal(1, (run(process.file "text", "--no-leak")))
    assert.equal(1, (run(make(0, 0), "--no-leak")))
  end)
end)
