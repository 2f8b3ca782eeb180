-- SPDX-License-Identifier: MIT
-- The event queue, writer thread and file of a profile: the times at which data are written, the effects of
-- an error of the file, and the rule that nothing is lost without a message (P4 in profile.h).

local gen = require "profilegen"
local process = require "spec.support.process"
local reader = require "profiler.reader"
local shell = require "spec.support.shell"
local vmprof = require "spec.support.vmprof"

local function size(path)
  local f = assert(io.open(path, "rb"))
  local n = f:seek "end"
  f:close()
  return n
end

describe("a profile", function()
  local path
  before_each(function() path = os.tmpname() end)

  it("replaces the contents of the file", function()
    shell.write(path, ("x"):rep(100000))
    local p = assert(gen.open{path = path})
    local ok, totals = p:close()
    assert.is_true(ok)
    assert.equal(totals.bytes, size(path))
    assert.truthy(vmprof.read(path).ended)
  end)

  it("reports why a file cannot be made", function()
    local cases = {
      {"/nowhere/x.vmprof", "No such file or directory", 2},
      {"/", "Is a directory", 21},
      {"", "No such file or directory", 2},
    }
    for _, case in ipairs(cases) do
      local p, message, errno = gen.open{path = case[1]}
      assert.is_nil(p)
      assert.equal("cannot write profile '" .. case[1] .. "': " .. case[2],
                   message)
      assert.equal(case[3], errno)
    end
  end)

  it("counts its events", function()
    local p = assert(gen.open{path = path})
    p:sample{8, 1}
    p:sample{8, 1, count = 9}
    assert.equal(10, p:totals().samples)
    local ok, totals = p:close()
    assert.is_true(ok)
    assert.same({samples = 10, timesamples = 0, lost = 0, bytes = size(path),
                 error = 0}, totals)
  end)

  -- A former bug: a host with several threads that was ended by SIGTERM always reported lost samples,
  -- because its threads had taken samples between the end of the profile and their own end.
  it("counts nothing that is reported after its end", function()
    local p = assert(gen.open{path = path, period = 100, timeperiod = 1000000})
    p:sample{1, 10}
    p:time{1, 10}
    assert.is_true(p:finish())
    p:flood(5, {1, 10})
    p:time{1, 10}
    local ok, totals = p:close()
    assert.is_true(ok)
    assert.same({1, 1, 0}, {totals.samples, totals.timesamples, totals.lost})
  end)

  it("keeps order and number of far more samples than its buffers", function()
    for format = 6, 7 do
      local p = assert(gen.open{path = path, format = format})
      local stack = {}
      for i = 1, 200 do
        stack[2 * i - 1], stack[2 * i] = 8 * i, i
      end
      -- these samples are 20 MB of events, which pass through a queue of 4 MB
      local n = 6000
      for i = 1, n do
        stack[2] = i
        p:sample(stack)
      end
      local ok = p:close()
      assert.is_true(ok)
      local log = vmprof.read(path)
      assert.equal(n, #log.stacks)
      -- in version 6 of the format, the first word of a stack is the kind of the sample
      local first = format == 6 and 3 or 1
      for i, s in ipairs(log.stacks) do
        assert.equal(i, s.words[first])
      end
    end
  end)

  it("applies fates in order across batches and collections", function()
    local p = assert(gen.open{path = path, format = 7})
    local expected, open = {}, {}
    local state = 12345
    local function random(n)
      state = (state * 1103515245 + 12345) % 2147483648
      return state // 65536 % n
    end
    for i = 1, 30000 do
      p:sample{8, 1}
      open[#open + 1] = random(4) == 0 and "1" or "0"
      if random(500) == 0 or i == 30000 then
        local fates = table.concat(open)
        expected[#expected + 1] = fates
        p:collection{fates = fates}
        open = {}
      end
    end
    assert.is_true(p:close())
    local fates = {}
    for i, o in ipairs(vmprof.checkextended(vmprof.read(path))) do
      fates[i] = o.survived
    end
    assert.equal(table.concat(expected), table.concat(fates))
  end)

  it("passes over fates of samples that it never had", function()
    local p = assert(gen.open{path = path, format = 7})
    p:collection{fates = "111"}
    p:sample{8, 1}
    p:collection{fates = "1111"}
    p:sample{8, 1}
    p:collection{fates = "0"}
    assert.is_true(p:close())
    local objects = vmprof.checkextended(vmprof.read(path))
    assert.equal(2, #objects)
    assert.equal(1, objects[1].survived)
    assert.equal(0, objects[2].survived)
  end)

  it("objects beyond a million are given up, later ones get their fates", function()
    local p = assert(gen.open{path = path, format = 7})
    local n = (1 << 20) + 4
    -- all samples have the same time; different times would contain the text "\nf "
    p:flood(n, {8, 1, time = gen.now()})
    p:collection{fates = ("1"):rep(1 << 20) .. "0100", inuse = 4711}
    assert.is_true(p:close())
    -- the details records in the file have the outcomes of all samples
    local lines = assert(io.popen("gzip -dc '" .. path .. "' | grep -a '^f '"))
    local fates = {0, 0}
    for line in lines:lines() do
      local survived = 1
      for run in line:gmatch "%d+" do
        fates[survived] = fates[survived] + tonumber(run)
        survived = 3 - survived
      end
    end
    lines:close()
    assert.same({3, n - 3}, fates)
    -- searches the last object record: four objects, newest first, and the statistics of the collection
    local tail = shell.output("gzip -dc '" .. path .. "' | tail -c 300000")
    local at = tail:find(string.pack("<i8i8i8i8i8i8", 8, 0, 0, 1, 0, 4711), 1,
                         true)
    assert.truthy(at)
    assert.equal("\10", tail:sub(at - 9, at - 9))
  end)

  it("a fork's child leaves the file alone", function()
    local p = assert(gen.open{path = path})
    for i = 1, 1000 do
      p:sample{8, i}
    end
    assert.equal(7, p:forked())
    for i = 1, 1000 do
      p:sample{8, i}
    end
    assert.is_true(p:close())
    assert.equal(2000, #vmprof.read(path).stacks)
  end)
end)

-- Lua code for a child process. Its function flushed(p, before) waits until the writer thread has written
-- more than the first 'before' bytes of the file. The spec tests that the thread flushes by itself, but not
-- how soon.
local FLUSHED = [[
  local gen = require "profilegen"
  local function flushed(p, before)
    for _ = 1, 12000 do
      if p:totals().bytes > before then
        return p:totals().bytes
      end
      gen.sleep(0.05)
    end
    error "nothing was flushed"
  end
]]

describe("a killed process", function()
  local path
  before_each(function() path = os.tmpname() end)

  for format = 6, 7 do
    it("leaves the flushed data, version " .. format, function()
      local status, text = process.code(FLUSHED .. [[
        local p = assert(gen.open{path = ..., format = tonumber((select(2, ...))),
                                  resolve = "plain"})
        local head = flushed(p, 0)
        p:name(8, "f", 1, "@x.lua")
        for i = 1, 100 do
          p:sample{0x7f0001, 0, 8, i, size = i}
        end
        p:collection{fates = ("01"):rep(50)}
        local first = flushed(p, head)
        p:sample{8, 101}
        flushed(p, first)  -- this flush started after the 100 samples were taken
        p:sample{8, 102}
        gen.kill()
      ]], path, format)
      assert.equal(128 + 9, status, text)
      local profile = assert(reader.read(path))
      assert.is_false(profile.complete)
      assert.truthy(profile.message:find "inside compressed data")
      assert.is_true(profile.samples >= 100 and profile.samples <= 102)
      assert.equal(50, profile.survived)
      assert.equal(0, profile.undetailed)
      local names = {}
      for _, f in ipairs(profile.functions) do
        names[f.name] = true
      end
      assert.is_true(names.f and names.sym_7f0000)
    end)
  end
end)

describe("a file that takes no more", function()
  it("costs samples that are counted, not the program", function()
    for _, plain in ipairs{true, false} do
      local p = assert(gen.open{path = "/dev/full", plain = plain})
      p:flood(100000, {8, 1, count = 2})
      local ok, totals = p:close()
      assert.is_false(ok)
      assert.equal(28, totals.error)  -- errno ENOSPC
      assert.equal(200000, totals.lost)
      assert.equal(0, totals.samples)
      assert.equal(0, totals.bytes)
    end
  end)

  it("keeps the data before it readable", function()
    local path = os.tmpname()
    local status, text = process.code(FLUSHED .. [[
      local p = assert(gen.open{path = ...})
      local head = flushed(p, 0)
      for i = 1, 1000 do
        p:sample{8, i}
      end
      local first = flushed(p, head)
      p:sample{8, 1001}
      flushed(p, first)
      gen.filelimit(p:totals().bytes + 5000)
      local n = 0
      repeat
        for i = 1, 2000 do
          p:sample{8 * i, n + i, 16 * i, i}
        end
        n = n + 2000
      until p:totals().error ~= 0
      p:sample{8, 1}
      local taken = 1001 + n + 1
      local ok, t = p:close()
      assert(not ok and t.error == 27, t.error)
      assert(t.samples + t.lost == taken)
      assert(t.samples >= 1000 and t.lost > 0)
      print(t.samples)
    ]], path)
    assert.equal(0, status, text)
    local profile = assert(reader.read(path))
    assert.is_false(profile.complete)
    assert.is_true(profile.samples >= tonumber(text))
  end)

  it("may be a pipe that nobody reads any more", function()
    local path = os.tmpname()
    os.remove(path)
    assert(os.execute("mkfifo " .. path))
    assert(os.execute("head -c 20 " .. path .. " >/dev/null &"))
    local p
    -- gen.open fails until a reader has opened the pipe
    repeat p = gen.open{path = path, plain = true} until p
    p:flood(200000, {8, 1})
    local ok, totals = p:close()
    assert.is_false(ok)
    -- the error is EPIPE; the signal SIGPIPE is not raised
    assert.equal(32, totals.error)
    assert.equal(200000, totals.samples + totals.lost)
    assert.is_true(totals.lost > 0)
  end)
end)
