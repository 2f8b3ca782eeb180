-- SPDX-License-Identifier: MIT
-- Files that the commands read and write. Inputs: profiles that a session is still writing, standard input,
-- and files that are no profiles. Results keep the mode of the file that they replace, and a link to it.

local convert = require "profiler.convert"
local gen = require "profilegen"
local process = require "spec.support.process"
local reader = require "profiler.reader"
local runs = require "spec.support.runs"
local shell = require "spec.support.shell"

local folder, path, main

-- Runs the command `asamp` in a separate process. Returns its exit status, stdout and stderr.
local function asamp(...)
  return process.run{main, directory = folder, ...}
end

-- Returns the text of stderr without the message that the profile does not follow all surviving samples; the
-- profiles of this spec cause that message.
local function clean(err)
  return (err:gsub("[^\n]*reached the limit of 131,072 live samples[^\n]*\n", ""))
end

-- Runs the command as asamp() does, with a file as standard input. If 'piped' is true, the input is a pipe
-- with the file's contents.
local function fed(file, piped, ...)
  local words = {...}
  for i, w in ipairs(words) do words[i] = "'" .. w .. "'" end
  local command = ([["$0" "$1" %s]]):format(table.concat(words, " "))
  command = piped and ("cat '%s' | %s"):format(file, command) or ("%s <'%s'"):format(command, file)
  local status, out, err = process.run{program = "/bin/sh", "-c", command, process.interpreter(), main,
                                       directory = folder}
  return status, out, clean(err)
end

local function setup_()
  folder = shell.folder()
  path = folder .. "/p.vmprof"
  main = process.file [[table.insert(arg, 1, table.remove(arg, 1)) os.exit(require "asamp".main(arg), true)]]
end
local function teardown_()
  os.remove(main)
  shell.remove(folder)
end

describe("a profile that is still being written", function()
  local live
  before_each(function()
    setup_()
    live = assert(gen.open{path = path, native = true, resolve = "plain"})
    for i = 1, 50 do live:sample{8, i} end
    live:collection{fates = ("01"):rep(25)}
    -- waits until the profile is complete
    for _ = 1, 12000 do
      local p = reader.read(path)
      if p and p.samples == 50 then break end
      gen.sleep(0.01)
    end
  end)
  after_each(function()
    if live then live:close() end
    teardown_()
  end)

  it("is read as far as possible, and its writer is named", function()
    local p = assert(reader.read(path))
    local pid = tonumber(shell.output "echo $PPID")
    assert.is_true(p.live)
    assert.is_false(p.complete)
    assert.equal(50, p.samples)
    assert.equal(pid, p.pid)
    local still = "'" .. path .. "': still being written by process " .. pid .. ", read up to byte "
    for command, words in pairs{report = {path}, diff = {path, path},
                                convert = {"--to", "pprof", "-o", "out", path}} do
      local status, _, err = asamp(command, table.unpack(words))
      assert.equal(0, status, err)
      assert.truthy(err:find("^asamp " .. command .. ": "), err)
      assert.truthy(err:find(still, 1, true), err)
    end
    live:close()
    live = nil
    p = assert(reader.read(path))
    assert.is_false(p.live)
    assert.is_true(p.complete)
  end)

  it("is never replaced by its repair, of which the writer would know nothing", function()
    local pid = shell.output "echo $PPID":match "%d+"
    local inode = shell.output("stat -c %%i %s", path)
    local status, out, err = asamp("repair", "--in-place", path)
    assert.same({1, ""}, {status, out})
    assert.equal(("asamp repair: '%s' is still being written by process %s; repair the file when the "
      .. "process has ended (asamp report reads the file at any time)\n"):format(path, pid), err)
    assert.equal(inode, shell.output("stat -c %%i %s", path))
    status, out = asamp("repair", "-o", "copy", path)
    assert.equal(0, status)
    assert.truthy(out:find("still being written; these are its contents so far", 1, true))
    assert.equal(50, assert(reader.read(folder .. "/copy")).samples)
    for i = 1, 100 do live:sample{8, i} end
    assert(live:close())
    live = nil
    assert.equal(150, reader.read(path).samples)
  end)
end)

describe("the result of a command", function()
  before_each(function()
    setup_()
    runs.write(path, {seed = 5})
  end)
  after_each(teardown_)

  local function cut()
    shell.output("head -c 2000 %s >%s/cut && cat %s/cut >%s", path, folder, folder, path)
  end

  it("is its owner's alone", function()
    for _, words in ipairs{{"convert", "--to", "collapsed", path}, {"convert", "--to", "vmprof", path},
                           {"convert", "--to", "firefox", path}} do
      local status, out = asamp(table.unpack(words))
      assert.equal(0, status)
      assert.equal("600\n", shell.output("stat -c %%a %s", out:match "[^\n]+"))
    end
    assert.is_true(convert.write(folder .. "/page", "text"))
    assert.equal("600\n", shell.output("stat -c %%a %s/page", folder))
  end)

  it("has mode and link of the file that it replaces: 0600 became 0644, and a link a file", function()
    cut()
    shell.output("mkdir %s/b; mv %s %s/b/real; chmod 640 %s/b/real; ln -s b/real %s", folder, path, folder,
          folder, path)
    local status, _, err = asamp("repair", "--in-place", path)
    assert.equal(0, status, err)
    assert.equal("b/real\n", shell.output("readlink %s", path))
    assert.equal("640\n", shell.output("stat -c %%a %s/b/real", folder))
    assert.is_true(reader.read(path).complete)
    assert.equal("real\n", shell.output("ls %s/b", folder))
  end)

  if shell.output "id -u" == "0\n" then
    it("has the owner of the file that it replaces", function()
      cut()
      shell.output("chown 65534:65533 %s; chmod 604 %s", path, path)
      assert.equal(0, (asamp("repair", "--in-place", path)))
      assert.equal("65534 65533 604\n", shell.output("stat -c '%%u %%g %%a' %s", path))
    end)

    it("is nothing that a foreign link in a folder for all names", function()
      shell.output("chmod 1777 %s; ln -s mine %s/out; chown -h 65534 %s/out; chown 65533 %s", folder, folder,
            folder, folder)
      shell.write(folder .. "/mine", "kept")
      local status, _, err = asamp("convert", "--to", "collapsed", "-o", "out", path)
      assert.equal(1, status)
      assert.equal("asamp convert: cannot write 'out': Too many levels of symbolic links\n", err)
      assert.equal("kept", process.read(folder .. "/mine"))
    end)
  else
    pending "owners and foreign links need root"
  end

  it("takes a name that nobody gave only from a result of its kind", function()
    local stem = folder .. "/p"
    for format, ending in pairs{pprof = ".pb.gz", collapsed = ".collapsed", speedscope = ".speedscope.json",
                                firefox = ".firefox.json.gz", vmprof = ".extended.vmprof"} do
      for _ = 1, 2 do assert.equal(0, (asamp("convert", "--to", format, path)), format) end
      shell.write(stem .. ending, "mine")
      local status, _, err = asamp("convert", "--to", format, path)
      assert.equal(1, status)
      assert.equal(("asamp convert: '%s' is a text file and would be replaced; give another path with " ..
        "--out\n")
        :format(stem .. ending), err)
      assert.equal("mine", process.read(stem .. ending))
      assert.equal(0, (asamp("convert", "--to", format, "-o", stem .. ending, path)))
      assert.is_true(#process.read(stem .. ending) > 100)
    end
    shell.write(path .. ".html", "<!doctype html><p>mine")
    local status, _, err = asamp("view", path)
    assert.equal(1, status)
    assert.equal(("asamp view: '%s.html' is an HTML file and would be replaced; give another path with " ..
      "--out\n")
      :format(path), err)
  end)

  it("is not written through a link under its temporary name, whose owner could guess it", function()
    -- The script creates a link at the name of the command's temporary file, a name that it can predict
    -- from its process id. The command must not write to the target of the link.
    shell.write(folder .. "/victim", "kept")
    local status, _, err = process.run{code = [[
      local convert, lfs = require "profiler.convert", require "lfs"
      local pid = lfs.symlinkattributes("/proc/self", "target")
      local planted = ("%s/out.%s.tmp"):format(arg[1], pid)
      assert(lfs.link(arg[1] .. "/victim", planted, true))
      assert(convert.write(arg[1] .. "/out", "written"))]], folder}
    assert.equal(0, status, err)
    assert.equal("kept", process.read(folder .. "/victim"))
    assert.equal("written", process.read(folder .. "/out"))
  end)

  -- A former bug: a path in /dev/shm counted as a device, which the command does not create.
  it("goes to /dev/shm as to any folder", function()
    local file = ("/dev/shm/%s.collapsed"):format(folder:match "[^/]+$")
    local _, _, err = asamp("convert", "--to", "collapsed", "-o", file, path)
    local written = process.read(file)
    assert.equal("", clean(err))
    asamp("convert", "--to", "collapsed", "-o", "out", path)
    assert.equal(process.read(folder .. "/out"), written)
  end)

  it("goes to standard output, whose name a file once took", function()
    local link = shell.output "readlink /dev/stdout"
    assert.equal("/proc/self/fd/1\n", link)
    local _, expected = asamp("convert", "--to", "collapsed", "-o", "out", path)
    local status = process.run{program = "/bin/sh", "-c",
      [[{ echo first; "$0" "$1" convert --to collapsed -o - "$2"; echo last; } >"$3"]],
      process.interpreter(), main, path, folder .. "/all"}
    assert.equal(0, status)
    assert.equal("out\n", expected)
    assert.equal("first\n" .. process.read(folder .. "/out") .. "last\n", process.read(folder .. "/all"))
    assert.equal(link, shell.output "readlink /dev/stdout")
  end)
end)

describe("an input file", function()
  before_each(setup_)
  after_each(teardown_)

  it("may be standard input, packed or not, from a file or a pipe", function()
    for _, plain in ipairs{false, true} do
      runs.write(path, {seed = 9, plain = plain})
      local expected = {}
      for _, words in ipairs{{"report"}, {"convert", "--to", "collapsed", "-o", "-"},
                             {"convert", "--to", "vmprof", "-o", "-"}} do
        local t = table.move(words, 1, #words, 1, {})
        t[#t + 1] = path
        expected[words] = select(2, asamp(table.unpack(t)))
        t[#t] = "-"
        for _, piped in ipairs{false, true} do
          local status, out, err = fed(path, piped, table.unpack(t))
          assert.same({0, ""}, {status, err})
          assert.equal((expected[words]:gsub(path:gsub("%p", "%%%0"), "-")), out)
        end
      end
      local _, same = asamp("diff", path, path)
      for _, piped in ipairs{false, true} do
        for _, words in ipairs{{"-", path}, {path, "-"}} do
          local status, out = fed(path, piped, "diff", table.unpack(words))
          assert.equal(0, status)
          assert.equal(select(2, same:gsub("\n", "")), select(2, out:gsub("\n", "")))
        end
        assert.equal(0, (fed(path, piped, "repair", "-o", folder .. "/whole", "-")))
      end
    end
    local status, _, err = fed(path, true, "repair", "--in-place", "-")
    assert.equal(2, status)
    assert.truthy(err:find("--in-place needs a file, and FILE is standard input: give --out OUT", 1, true))
  end)

  it("is named by its type if it is no profile", function()
    runs.write(path, {seed = 9})
    for _, format in ipairs{"pprof", "collapsed", "speedscope", "firefox"} do
      assert.equal(0, (asamp("convert", "--to", format, "-o", format, path)))
      assert.equal(0, (asamp("convert", "--to", format, "-o", format .. ".gz", path)))
    end
    shell.write(folder .. "/page", "<!doctype html>\n<title>Asamp</title>")
    shell.write(folder .. "/html", "<!DOCTYPE HTML>\n<title>x</title>")
    shell.write(folder .. "/perf.data", "PERFILE2" .. ("\0"):rep(100))
    shell.write(folder .. "/empty", "")
    shell.write(folder .. "/app.lua", "print 'hello'\n")
    shell.write(folder .. "/zst", "\x28\xb5\x2f\xfd" .. ("x"):rep(50))
    shell.write(folder .. "/chunk", string.dump(function() end))
    local expected = {
      page = "; this is a page of asamp view (open it in a browser)",
      html = "; this is an HTML file (open it in a browser)",
      ["perf.data"] = "; this is a recording of perf (`perf report` reads it)",
      ["app.lua"] = "; this is a text file",
      chunk = "; this is a script (`asamp run` profiles it)",
      zst = "; this is a compressed file (unpack it first: only gzip can be read)",
      empty = ": the file is empty; make a new profile", ["."] = ": Is a directory",
    }
    for name, what in pairs{pprof = "a pprof profile (`go tool pprof` reads it)",
                            collapsed =
        "a file of collapsed stacks (flamegraph.pl and speedscope.app read it)",
                            speedscope = "a speedscope profile (speedscope.app reads it)",
                            firefox = "a profile for the Firefox Profiler (profiler.firefox.com reads it)"} do
      expected[name], expected[name .. ".gz"] = "; this is " .. what, "; this is " .. what
    end
    expected[process.interpreter()] = "; this is a program or library"
    for file, what in pairs(expected) do
      for _, words in ipairs{{"report", file}, {"convert", "--to", "pprof", "-o", "new", file},
                             {"repair", "-o", "new", file}, {"diff", file, path}} do
        local status, out, err = asamp(table.unpack(words))
        err = clean(err)
        assert.equal(1, status, err)
        assert.equal("", out)
        assert.equal(1, select(2, err:gsub("\n", "")))
        assert.equal(what, err:sub(-#what - 1, -2))
        assert.is_nil(process.read(folder .. "/new"))
      end
    end
  end)
end)
