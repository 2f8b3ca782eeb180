-- SPDX-License-Identifier: MIT
-- Profiles that were made to harm the reader. Such a file may neither end the process, nor use memory or
-- time out of proportion to its size.

local reader = require "profiler.reader"
local shell = require "spec.support.shell"
local vmprof = require "spec.support.vmprof"

-- a stack whose sample is an allocated table
local TABLE = vmprof.stack(1, 1, {0, 1, 5, 100}, {0})
local HEAD = vmprof.head() .. vmprof.header(6, 2) .. vmprof.meta("asamp.format", "3") ..
             vmprof.meta("sample_allocated_bytes", "100") .. vmprof.meta("asamp.followed", "9")

describe("a hostile profile", function()
  local path

  before_each(function() path = os.tmpname() end)
  after_each(function() os.remove(path) end)

  -- Reads a profile that has one sample. Its file consists of the records 'head' and a details record for
  -- each text in 'batches'.
  local function read(head, batches, options)
    local parts = {HEAD, head, TABLE}
    for i, text in ipairs(batches) do parts[#parts + 1] = vmprof.meta("asamp." .. i, text) end
    parts[#parts + 1] = vmprof.trailer(1)
    shell.write(path, table.concat(parts))
    return assert(reader.read(path, options))
  end

  -- A former bug: the reader divided by the number of collections without a record plus 1. That sum
  -- overflowed to 0, and the division ended the process.
  it("may count 2^64 - 1 collections without a record", function()
    local profile = read("", {"n 1\nf 1\ng 1 1 0 0 0 0 0 18446744073709551615 18446744073709551615\n"})
    assert.equal((1 << 40) + 1, profile.minors)
    assert.equal(1 << 40, profile.majors)
  end)

  -- A former bug: the second batch adds the label "route" to the set of a sample that has survived already.
  -- So the option 'label' excluded the survival of the sample, but included its death. The death was
  -- counted in a table without rows, and the process ended.
  it("cannot add a label to a set of an earlier batch", function()
    local batches = {"n 1\nb 1 1\nB 1 1 ax\nf 0 1\n", "n 0\nB 1 5 routex\nd 0 1\n"}
    local profile = read("", batches, {label = {name = "route", value = "x"}})
    assert.equal(0, profile.samples)
    assert.same({a = "x"}, read("", batches).labels[2].labels)
  end)

  it("may have many texts that are not counts of dropped data", function()
    local left = read(vmprof.meta("asamp.left", "chunks 3  x 1 texts 2 chunks 4 functions"), {"n 1\n"}).left
    assert.same({"chunks", 7, "texts", 2}, {left[1].what, left[1].count, left[2].what, left[2].count})
  end)

  -- A former bug: a compressed file of 32 MB could use 32 GB of memory.
  it("has values of marks of at most 12,288 bytes", function()
    local profile = read("", {"n 1\nm 1 1 a" .. ("x"):rep(12289) .. "\nm 1 1 b" .. ("x"):rep(12288) .. "\n"})
    for i = 1, 2 do
      assert.equal(("x"):rep(12288), profile.marks[i].value)
      assert.equal(("x"):rep(12288), profile.marknames[i].value)
    end
  end)

  -- A former bug: each of these lines moved all later survivors, or visited all survivors.
  for about, line in pairs{
    ["the deaths"] = "d 0 1\ng\n", ["deaths in the middle"] = "d 150000 1\ng\n",
    ["paths to all"] = "h 1 300000 1\n", ["the deaths of orphans"] = "D 0 7 0 1\n",
  } do
    it("has " .. about .. " of n survivors without n times n steps", function()
      local n, started = 300000, os.clock()
      local format = line:find "D" and "4" or "3"
      shell.write(path, table.concat{
        vmprof.head(), vmprof.header(6, 2), vmprof.meta("asamp.format", format),
        vmprof.meta("asamp.followed", "9"), vmprof.stack(1, 1, {0, 1, 5, 100}, {7}):rep(n),
        vmprof.meta("asamp.1", "n " .. n .. "\nk" .. ("b"):rep(n // 2) .. ("n"):rep(n // 2) ..
                               "\nN 0 7\nf 0 " .. n .. "\nH 1 0 a\n"),
        vmprof.meta("asamp.2", "n 0\nS 7\n" .. line:rep(n // 2)), vmprof.trailer(1)})
      local profile = assert(reader.read(path))
      assert.same({n, line:find "^h" and 0 or n // 2}, {profile.survived, profile.later})
      assert.is_true(os.clock() - started < 5, ("%.1f seconds"):format(os.clock() - started))
    end)
  end
end)
