-- SPDX-License-Identifier: MIT
-- The options --from and --until of the commands report and convert, on a profile with known times.

local commands = require "spec.support.commands"
local convert = commands.of((require "asamp.commands.convert"))
local gen = require "profilegen"
local report = commands.of((require "asamp.commands.report"))

describe("the range of --from and --until", function()
  local path
  before_each(function()
    path = os.tmpname()
    local p = assert(gen.open{path = path, period = 1 << 20, timeperiod = 10000})
    p:name(8, "main chunk", 0, "@app.lua")
    local now = gen.now()
    for i = 1, 9 do
      -- line i allocates i MiB, half a second after second i
      local at = now + i * 1000000000 + 500000000
      p:flood(i, {8, i, kind = 0, time = at})
      p:collection{time = at + 1000, fates = ("0"):rep(i), inuse = 1 << 20}
    end
    assert(p:close())
  end)
  after_each(function() os.remove(path) end)

  -- Returns the numbers of the lines that have samples in the report, as one string.
  local function lines(...)
    local code, out, err = report("--show", "lines", ...)
    assert.same({0, ""}, {code, err})
    local list = {}
    for line in out:gmatch "app%.lua:(%d)" do list[#list + 1] = line end
    table.sort(list)
    return table.concat(list), out
  end

  it("selects the samples of a report", function()
    assert.equal("123456789", (lines(path)))
    local list, out = lines("--from", "4", "--until", "7", path)
    assert.equal("456", list)
    assert.truthy(out:find("only samples from 4 s to 7 s\n", 1, true), out)
    assert.truthy(out:find("15 MiB allocated in 3.00 s (5 MiB/s), estimated from 15 samples", 1, true), out)
    assert.equal("89", (lines("--from", "8s", path)))
    assert.equal("12", (lines("--until", "3", path)))
  end)

  -- A former bug: the report of a range showed the copied bytes of the whole run, divided by the duration
  -- of the range.
  it("selects the copies", function()
    local p = assert(gen.open{path = path, period = 1 << 20, copies = true})
    p:name(8, "main chunk", 0, "@app.lua")
    local now = gen.now()
    for i = 1, 9 do
      local at = now + i * 1000000000 + 500000000
      p:sample{8, i, kind = 0, time = at}
      p:sample{8, i, kind = 25, count = i, time = at}
    end
    assert(p:close())
    local code, out = report("--show", "copies", "--from", "4", "--until", "7", path)
    assert.equal(0, code)
    assert.truthy(out:find("15 MiB copied (5 MiB/s)", 1, true), out)
  end)

  it("splits a profile without a rest", function()
    local sum = 0
    for _, args in ipairs{{"--until", "3.5"}, {"--from", "3.5", "--until", "6"}, {"--from", "6"}} do
      args[#args + 1] = path
      local _, out = lines(table.unpack(args))
      sum = sum + tonumber(out:match "estimated from (%d+) samples")
    end
    assert.equal(45, sum)
  end)

  it("selects the samples of pprof and collapsed stacks", function()
    local name = os.tmpname()
    os.remove(name)
    local code, _, err = convert("--to", "collapsed", "--from", "4", "--until", "6", "--out", name, path)
    assert.same({0, ""}, {code, err})
    local file <close> = assert(io.open(name))
    local stacks = file:read "a"
    assert.equal("main chunk (app.lua);[table] 4194304\nmain chunk (app.lua);[table] 5242880\n", stacks)
    os.remove(name)
    code = convert("--to", "pprof", "--from", "4", "--out", name, path)
    assert.equal(0, code)
    assert(os.remove(name))
  end)

  it("refuses a range without samples", function()
    for _, run in ipairs{report, function(...) return convert("--to", "pprof", "--out", "-", ...) end} do
      local code, out, err = run("--from", "90", path)
      assert.same({1, ""}, {code, out})
      assert.truthy(err:find("': --from 90 s is after the end of the profile, at 9.5", 1, true), err)
      code, out, err = run("--until", "0.5", path)
      assert.same({1, ""}, {code, out})
      assert.truthy(err:find("': no sample was taken from 0 s to 0.5 s; the profile ends at 9.5", 1, true),
                    err)
      code, out, err = run("--from", "5", "--until", "3", path)
      assert.same({2, ""}, {code, out})
      assert.truthy(err:find("--from 5 (seconds) must be less than --until 3", 1, true), err)
      code, out, err = run("--from", "x", path)
      assert.same({2, ""}, {code, out})
      assert.truthy(err:find("--from needs a number of seconds since the start of the run, " ..
                              "such as 12.5, got 'x'", 1, true), err)
    end
  end)

  it("refuses options and formats of the whole run", function()
    local code, _, err = report("--from", "1", "--at", "peak", path)
    assert.equal(2, code)
    assert.truthy(err:find("cannot be combined with --at: leave one out", 1, true), err)
    code, _, err = convert("--to", "vmprof", "--from", "1", path)
    assert.equal(2, code)
    assert.truthy(err:find("--from has no effect on vmprof", 1, true), err)
  end)
end)
