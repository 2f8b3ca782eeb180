-- SPDX-License-Identifier: MIT
-- Slices of a profile that have equal numbers of allocated bytes, instead of equal times; only samples
-- whose survival is decided count (asamp/read/readersum.h).

local gen = require "profilegen"
local reader = require "profiler.reader"
local shell = require "spec.support.shell"
local vmprof = require "spec.support.vmprof"

describe("the reader", function()
  local path
  before_each(function() path = os.tmpname() end)
  after_each(function() os.remove(path) end)

  it("has slices of decided bytes, whatever the time", function()
    local p = assert(gen.open{path = path})
    local t = gen.now()
    for i = 1, 8 do
      p:sample{8, 1, time = t + (i == 8 and 600000000 or 0)}
    end
    p:collection{time = t + 900000000, fates = "11110011"}
    assert(p:close())
    local profile = assert(reader.read(path, {bins = 4}))
    local born, at = profile.born, {}
    for i, bin in ipairs(born.bin) do
      at[i] = bin * born.width // profile.period
    end
    assert.same({1, 2, 3, 4, 5, 6, 7, 8}, at)
    assert.same({1, 1, 1, 1, 0, 0, 1, 1}, born.survived)
    -- empty, because the profile has no heap walk
    assert.same({}, profile.alive.bin)
    assert.is_nil(reader.read(path).born)
  end)

  -- A former bug: if the table of slices already had 262,144 rows, a new survivor was counted without its
  -- stack. Later, when slices had become wider and rows fewer, its death was counted with its stack.
  it("has no row with more deaths than survivors", function()
    local NODES, SLICES = 32, 16384
    local all, parts = {}, {
      vmprof.head() .. vmprof.header(6, 2) .. vmprof.meta("asamp.format", "3") ..
      vmprof.meta("sample_allocated_bytes", "100") .. vmprof.meta("asamp.followed", "1000000")}
    for line = 1, NODES do all[line] = vmprof.stack(1, 1, {0, 1, line, 8}, {0}) end
    local stacks = table.concat(all):rep(SLICES // 16)
    local times = (" 1" .. (" 0"):rep(NODES - 1)):rep(SLICES // 16)
    -- the 16 parts together have SLICES * NODES survivors
    for i = 1, 16 do
      parts[#parts + 1] = stacks
      parts[#parts + 1] = vmprof.meta("asamp." .. i, ("n %d\nt%s\nf 0 %d\n"):format(
        SLICES * NODES // 16, times, SLICES * NODES // 16))
    end
    parts[#parts + 1] = all[1] .. vmprof.meta("asamp.17", "n 1\nt 1000\nf 0 1\nd 0 999999\ng\n")
    shell.write(path, table.concat(parts) .. vmprof.trailer(1))
    local bins = assert(reader.read(path, {bins = SLICES})).bins
    local survived, later = 0, 0
    for i = 1, #bins.bin do
      assert(bins.later[i] <= bins.survived[i])
      survived, later = survived + bins.survived[i], later + bins.later[i]
    end
    assert.same({SLICES * NODES + 1, SLICES * NODES + 1}, {survived, later})
  end)

  -- A former bug: the samples beyond the limit had a row for each slice and class, up to 2^30 rows.
  it("has two more rows for each slice beyond the limit", function()
    local SLICES, CLASSES, PART = 8, 60000, 20000
    local parts, names = {vmprof.head() .. vmprof.header(6, 2) .. vmprof.meta("asamp.format", "3") ..
                          vmprof.meta("sample_allocated_bytes", "100")}, {"n 0"}
    for i = 1, CLASSES do names[i + 1] = "C " .. i .. " c" .. i end
    parts[2] = vmprof.meta("asamp.1", table.concat(names, "\n"))
    local stacks = vmprof.stack(1, 1, {0, 1, 5, 8}, {0}):rep(PART)
    for i = 0, SLICES * CLASSES // PART - 1 do
      local classes = {}
      for j = 1, PART do classes[j] = "1 " .. i * PART % CLASSES + j end
      parts[#parts + 1] = stacks .. vmprof.meta("asamp." .. i + 2, ("n %d\nt%s\nf %d\nl %s\n"):format(
        PART, (" 1"):rep(PART), PART, table.concat(classes, " ")))
    end
    shell.write(path, table.concat(parts) .. vmprof.trailer(1))
    local profile = assert(reader.read(path, {bins = SLICES}))
    local bins, samples = profile.bins, 0
    assert.is_true(#bins.bin <= (1 << 18) + 2 * SLICES, #bins.bin)
    for _, n in ipairs(bins.samples) do samples = samples + n end
    assert.same({SLICES * CLASSES, "rows"}, {samples, profile.left[#profile.left].what})
  end)
end)
