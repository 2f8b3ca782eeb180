-- SPDX-License-Identifier: MIT
-- Slices of a profile by allocated bytes whose survival is decided (asamp/read/readersum.h).

local gen = require "profilegen"
local reader = require "profiler.reader"

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
    assert.same({}, profile.alive.bin)  -- the profile has no heap walk
    assert.is_nil(reader.read(path).born)
  end)
end)
