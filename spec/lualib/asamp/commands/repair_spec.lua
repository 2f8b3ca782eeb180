-- SPDX-License-Identifier: MIT
-- `asamp repair`: arguments, exit codes, messages and the path of the result.

local commands = require "spec.support.commands"
local gen = require "profilegen"
local process = require "spec.support.process"
local repair = require "asamp.commands.repair"
local shell = require "spec.support.shell"

local run = commands.of(repair)

describe("asamp repair", function()
  local path, other, bytes
  before_each(function()
    path, other = os.tmpname(), os.tmpname()
    os.remove(other)
    local p = assert(gen.open{path = path, plain = true, timeperiod = 1000000})
    p:name(8, "f", 1, "@x")
    p:sample{8, 1}
    p:time{8, 1}
    p:time{8, 2, count = 2}
    assert(p:close())
    bytes = process.read(path)
  end)

  local function cut(n)
    shell.write(path, bytes:sub(1, -n - 1))
  end

  it("writes the intact part to another file and describes it", function()
    cut(20)
    local code, out, err = run(path, "-o", other)
    assert.same({0, ""}, {code, err})
    assert.truthy(out:find("^'" .. path .. "': cannot be read after byte %d+ of the log: " ..
                           "the file ends inside a record\n"))
    assert.truthy(out:find("\nrecovered: 1 allocation sample and 3 time samples, " ..
                           "[%d,]+ bytes of the log\n"))
    assert.truthy(out:find "\nlost: 5 bytes after the damage\n")
    local written = ("\nwritten: '%s' (%d bytes)\n"):format(other, #process.read(other))
    assert.truthy(out:find(written, 1, true))
    assert.equal(#bytes - 20, #process.read(path))
  end)

  it("repairs in place only on request", function()
    cut(20)
    local code, out, err = run(path)
    assert.equal(2, code)
    assert.equal("", out)
    assert.equal("asamp repair: no path given for the result: give --out OUT or --in-place; " ..
                 "see asamp repair --help\n", err)
    code, out, err = run(path, "--out", path)
    assert.equal(2, code)
    assert.equal("", out)
    assert.truthy(err:find("is the input '" .. path .. "' itself; give another name or --in-place", 1, true))
    assert.equal(#bytes - 20, #process.read(path))
    assert.equal(2, (run(path, "--out", other, "--in-place")))
    code, out = run("--in-place", path)
    assert.equal(0, code)
    assert.truthy(out:find("\nwritten: '" .. path .. "' (", 1, true))
    code, out = run("--in-place", path)
    assert.equal(0, code)
    assert.truthy(out:find("' is complete (1 allocation sample and 3 time samples): nothing", 1, true))
  end)

  it("counts no sample of copies as one of time", function()
    local p = assert(gen.open{path = path, plain = true, timeperiod = 1000000})
    p:name(8, "f", 1, "@x")
    for kind = 25, 27 do
      p:sample{8, kind, kind = kind, count = 400}
    end
    p:time{8, 1}
    assert(p:close())
    local code, out = run(path, "-o", other)
    assert.equal(0, code)
    assert.truthy(out:find("' is complete (1 time sample): nothing", 1, true), out)
  end)

  it("leaves a whole file alone", function()
    local code, out = run(path, "--in-place")
    assert.equal(0, code)
    assert.truthy(out:find "nothing to repair, nothing written\n$")
    assert.equal(bytes, process.read(path))
    assert.equal(0, (run(path, "-o", other)))
    assert.is_nil(process.read(other))
  end)

  it("ends with 1 when there is nothing to get back", function()
    cut(#bytes - 60)
    local code, out, err = run(path, "-o", other)
    assert.equal(1, code)
    assert.equal("", out)
    assert.equal(("asamp repair: cannot repair '%s': its readable part contains no sample that could be " ..
                  "kept; make a new profile\n"):format(path), err)
    code, out, err = run("/nowhere/x", "-o", other)
    assert.equal(1, code)
    assert.equal("", out)
    assert.equal("asamp repair: cannot read profile '/nowhere/x': No such file or directory\n", err)
    cut(#bytes)
    code, out, err = run(path, "-o", other)
    assert.equal(1, code)
    assert.equal("", out)
    local expected = "asamp repair: cannot read profile '%s': the file is empty; make a new profile\n"
    assert.equal(expected:format(path), err)
    code, out, err = run("/", "-o", other)
    assert.equal(1, code)
    assert.equal("", out)
    assert.equal("asamp repair: cannot read profile '/': Is a directory\n", err)
    cut(20)
    code, out, err = run(path, "-o", "/nowhere/x")
    assert.equal(1, code)
    assert.equal("", out)
    assert.equal("asamp repair: cannot write '/nowhere/x': No such file or directory\n", err)
  end)

  it("ends with 2 on wrong arguments, and explains itself", function()
    for _, args in ipairs{{}, {path, path}, {path, "--inplace"}, {path, "-o"}, {path, "-o", ""}} do
      local code, out, err = run(table.unpack(args))
      assert.equal(2, code)
      assert.equal("", out)
      assert.truthy(err:find "^asamp repair: [^\n]+\n$")
    end
    local code, out = run "--help"
    assert.equal(0, code)
    assert.truthy(out:find("usage: asamp repair", 1, true))
    assert.truthy(out:find("--in-place", 1, true))
  end)

  it("is a command of asamp", function()
    cut(20)
    local status, text = process.code([[
      os.exit(require "asamp".main{...})
    ]], "repair", path, "-o", other)
    assert.equal(0, status, text)
    assert.truthy(text:find "recovered: 1 allocation sample and 3 time samples")
    assert.is_true(assert(require "profiler.reader".read(other)).complete)
  end)
end)
