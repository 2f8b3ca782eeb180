-- SPDX-License-Identifier: MIT
-- Repair of a damaged profile. The result must be a complete log that a strict decoder accepts, with every
-- sample before the damage.

local fewer = require "spec.support.fewer"
local gen = require "profilegen"
local reader = require "profiler.reader"
local samples = require "spec.support.samples"
local shell = require "spec.support.shell"
local vmprof = require "spec.support.vmprof"

-- The slower builds check only every fifth or 15th cut and damaged byte.
local STEP = ({debug = 5, asan = 15})[os.getenv "ASAMP_VARIANT"] or 1

-- Returns the bytes of a small profile with records of every kind.
local function small(format, plain)
  local path = os.tmpname()
  local p = assert(gen.open{path = path, format = format, plain = plain, resolve = "plain",
                            timeperiod = 1000000, command = "lua x.lua"})
  p:name(8, "main chunk", 0, "@x.lua")
  p:sample{8, 1, kind = 3, size = 40}
  p:time{8, 2, count = 2}
  p:name(16, "é", 7, "@x.lua")
  p:sample{16, 9, 0x7f0001, 0, 8, 3, kind = 0, size = 99999, count = 3, outside = true}
  p:class(1, "Point")
  p:mark("here", "5")
  p:collection{fates = "01", classes = {0, 1}, inuse = 10, held = 20, rss = 30, state = 1}
  p:sample{16, 9, 8, 4, kind = 5}
  p:time{57, 0, 8, 4}
  p:sample{8, 5, kind = 11}
  assert(p:close())
  local bytes = shell.read(path)
  return bytes
end

describe("repair", function()
  local from, to
  before_each(function()
    from, to = os.tmpname(), os.tmpname()
    os.remove(to)
  end)
  after_each(function()
    assert.equal("", shell.output("ls " .. to .. "*.tmp 2>/dev/null || true"))
    os.remove(from)
    os.remove(to)
  end)

  -- Decodes the repaired file. Raises an error at any deviation from the format.
  local decoded = {}
  local function check(path)
    local packed = shell.read(path)
    if not decoded[packed] then
      local log = vmprof.decode((vmprof.load(path)))
      assert.equal(0, log.left)
      if log.version == 7 then vmprof.checkextended(log) else vmprof.checkperiod(log) end
      decoded[packed] = log
    end
    return decoded[packed]
  end

  -- Returns true if the stacks of 'log' are the first stacks of 'whole'.
  local function prefix(log, whole)
    for i, s in ipairs(log.stacks) do
      if s.lead ~= whole.stacks[i].lead or
         table.concat(s.words, " ") ~= table.concat(whole.stacks[i].words, " ") then
        error("stack " .. i .. " is another")
      end
    end
    return #log.stacks
  end

  for format = 6, 7 do
    describe("of version " .. format, function()
      it("gets back every whole sample, wherever a plain file was cut", function()
        local bytes = small(format, true)
        local whole = vmprof.decode(bytes)
        for cut = (#bytes - 1) % STEP, #bytes - 1, STEP do
          local expected = 0
          for i, s in ipairs(whole.stacks) do
            if s.last <= cut then expected = i end
          end
          shell.write(from, bytes:sub(1, cut))
          os.remove(to)
          local r, message = reader.repair(from, to)
          if expected == 0 then
            assert.is_nil(r)
            assert.truthy(message:find("^cannot r[%l ]+'" .. from:gsub("%p", "%%%0") .. "': "))
            assert.is_nil(shell.read(to))
          else
            assert.equal(expected, r.samples + r.timesamples)
            assert.is_false(r.whole)
            assert.equal(cut, r.kept + r.cut)
            assert.equal(#shell.read(to), r.size)
            assert.equal(expected, prefix(check(to), whole))
            assert.truthy(r.message:find "^cannot be read after byte %d+ of the log: ")
          end
        end
      end)

      it("recovers the part of a compressed file that can be unpacked", function()
        local bytes = small(format, false)
        shell.write(from, bytes)
        local whole, most = vmprof.read(from), 0
        for cut = (#bytes - 1) % STEP, #bytes - 1, STEP do
          shell.write(from, bytes:sub(1, cut))
          local r = reader.repair(from, to)
          if r then
            assert.is_false(r.whole)
            assert.is_true(r.samples + r.timesamples >= most)
            most = prefix(check(to), whole)
            assert.equal(most, r.samples + r.timesamples)
          end
        end
        assert.equal(#whole.stacks, most)
      end)

      it("leaves a whole file alone", function()
        for _, plain in ipairs{true, false} do
          shell.write(from, small(format, plain))
          local r = assert(reader.repair(from, to))
          assert.is_true(r.whole)
          assert.equal(6, r.samples)
          assert.equal(3, r.timesamples)
          assert.equal(0, r.cut)
          assert.equal("", r.message)
          assert.is_nil(shell.read(to))
        end
      end)

      it("writes a complete file", function()
        shell.write(from, small(format, true):sub(1, -30))
        assert(reader.repair(from, to))
        assert.is_true(assert(reader.repair(to, from)).whole)
      end)

      it("has the samples of the damaged file, wherever a bit was flipped", function()
        local bytes = small(format, true)
        local back, details, rounds = 0, 0, fewer(700, 40)
        for round = 1, rounds do
          local at = math.random(50, #bytes)
          shell.write(from, bytes:sub(1, at - 1) .. string.char(bytes:byte(at) ~ 1 << round % 8)
                            .. bytes:sub(at + 1))
          local before = reader.read(from)
          os.remove(to)
          local r = reader.repair(from, to)
          if r and not r.whole then
            local where = ("byte %d, round %d, %s: "):format(at, round, before.message)
            local p = assert(reader.read(to))
            assert.is_true(p.complete, where .. (p.message or ""))
            for _, field in ipairs{"samples", "timesamples", "bytes", "survivedbytes"} do
              assert.equal(before[field], p[field], where .. field)
            end
            assert.same({p.samples, p.timesamples}, {r.samples, r.timesamples}, where)
            assert.is_true(assert(reader.repair(to, from)).whole, where)
            back = back + 1
            details = details + (before.message:find "are malformed" and 1 or 0)
          end
        end
        assert.is_true(back > rounds // 20 and (details > 0 or rounds < 700))
      end)

      it("keeps the details of flushed data, and counts undecided samples", function()
        local bytes = small(format, true)
        local at = bytes:find("asamp.undecided", 1, true)
        -- cuts the file before the record of this metadata
        shell.write(from, bytes:sub(1, at - 10))
        assert(reader.repair(from, to))
        local list = samples.of_log(check(to))
        assert.equal("Point", list[2].class)
        assert.is_true(list[2].survived)
        assert.equal("here", list.marks[1].name)
        assert.equal(2, list.undecided)
        local profile = assert(reader.read(to))
        assert.is_true(profile.complete)
        assert.equal(6, profile.samples)
      end)

      it("survives damage of compressed data", function()
        local seed = 4711 + format
        math.randomseed(seed)
        local bytes = small(format, false)
        shell.write(from, bytes)
        local head, back = vmprof.load(from):sub(1, 49), 0
        for _ = 1, 200, STEP do
          local at = math.random(12, #bytes)
          shell.write(from, bytes:sub(1, at - 1) .. string.char(bytes:byte(at) ~ 1 << math.random(0, 7))
                      .. bytes:sub(at + 1))
          local r = reader.repair(from, to)
          if r and not r.whole then
            local log = vmprof.load(to)
            -- if the damage is in the header, the file may be of another version, or no log
            if log:sub(1, 49) == head then
              assert.is_true(assert(reader.read(to)).complete)
              back = back + 1
            end
          end
        end
        assert.is_true(back > 20 // STEP)
      end)
    end)
  end

  it("repairs logs of other writers, too", function()
    local function log(version, mode)
      local lead = version >= 7 and 100.5 or 1
      return vmprof.head() .. vmprof.header(version, mode) .. vmprof.time(1700000000)
        .. vmprof.meta("os", "linux") .. vmprof.stack(1, lead, {16, 8}, {1})
        .. vmprof.stack(1, lead, {24, 8}, {1}) .. vmprof.name(8, "py:a:1:x.py")
    end
    for version = 5, 7 do
      local bytes = log(version, 0)
      shell.write(from, bytes .. "\1\1")
      local r = assert(reader.repair(from, to))
      assert.equal(2, r.timesamples)
      assert.equal(0, r.samples)
      assert.equal(2, r.cut)
      local out = vmprof.load(to)
      assert.equal(bytes, out:sub(1, #bytes))
      assert.equal("\3", out:sub(#bytes + 1, #bytes + 1))
      assert.is_true(assert(reader.read(to)).complete)
    end
  end)

  it("ends a log at its last event, which formats 2 and 3 record differently", function()
    local collections = {["2"] = "g 7000 100 0 0 40 60 0\nG 90 0 0 0 80 0 0\n",
                         ["3"] = "g 6960 40 60 40\nG 10 80\n"}
    for format, lines in pairs(collections) do
      shell.write(from, vmprof.head() .. vmprof.header(6, 2, "lua") .. vmprof.time(1700000000)
        .. vmprof.meta("asamp.format", format) .. vmprof.name(8, "py:a:1:x.lua")
        .. vmprof.stack(1, 1, {0, 1, 5, 8}, {0})
        .. vmprof.meta("asamp.1", "n 1\nt 500\ns 64\nf 1\n" .. lines .. "m 10 1 x\n"))
      assert(reader.repair(from, to))
      local log = vmprof.read(to)
      assert.equal(7100, log.ended - log.started, format)
    end
  end)

  it("adds no objects to a log whose object records are mostly statistics", function()
    for statistics, objects in pairs{[4] = 2, [40000] = 0, [65536] = 0, [65537] = 0} do
      local sample = vmprof.stack(9, 1.5, {8}, {1})
      local bytes = {vmprof.head(), vmprof.header(7, 0), vmprof.time(1700000000),
                     sample, vmprof.stack(10, 1.5, {}), sample}
      for i = 1, statistics do
        bytes[#bytes + 1] = vmprof.meta("gc_stats__" .. i, "x")
      end
      shell.write(from, table.concat(bytes))
      assert(reader.repair(from, to))
      local _, added = vmprof.load(to):sub(#table.concat(bytes) + 1):gsub("\252\255\3\0\0\0\0\0", "")
      assert.equal(objects, added, statistics)
    end
  end)

  it("refuses files that are no log", function()
    for _, text in ipairs{"", "x", ("x"):rep(1000), vmprof.head(), vmprof.head() .. "\1",
                          "\31\139\8\0\0\0\0\0\0\3garbage"} do
      shell.write(from, text)
      local r, message, what = reader.repair(from, to)
      assert.is_nil(r)
      assert.truthy(message:find "^cannot read profile '[^']*': ", message)
      assert.equal("read", what)
      assert.is_nil(shell.read(to))
    end
    local r, message, what = reader.repair("/nowhere/x", to)
    assert.is_nil(r)
    assert.equal("cannot read profile '/nowhere/x': No such file or directory", message)
    assert.equal("read", what)
  end)

  it("reports that the result cannot be written, and leaves both files", function()
    local bytes = small(6, true):sub(1, -30)
    shell.write(from, bytes)
    local r, message, what = reader.repair(from, "/nowhere/x")
    assert.is_nil(r)
    assert.equal("cannot write '/nowhere/x': No such file or directory", message)
    assert.equal("write", what)
    -- repair must fail, because its final rename cannot replace a directory
    r, message = reader.repair(from, "/tmp")
    assert.is_nil(r)
    assert.truthy(message:find "^cannot write '/tmp': ")
    assert.equal("", shell.output "ls /tmp.*.tmp 2>/dev/null || true")
    assert.equal(bytes, shell.read(from))
  end)

  it("overwrites its own file only on request", function()
    local bytes = small(6, true):sub(1, -30)
    shell.write(from, bytes)
    local r, _, what = reader.repair(from, from)
    assert.is_nil(r)
    assert.equal("same", what)
    assert.equal(bytes, shell.read(from))
    assert(reader.repair(from, from, true))
    assert.is_true(reader.repair(from, to).whole)
  end)
end)
