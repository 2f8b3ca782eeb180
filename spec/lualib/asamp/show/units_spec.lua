-- SPDX-License-Identifier: MIT
local units = require "asamp.show.units"

describe("units", function()
  it("writes bytes in six columns", function()
    local cases = {
      [0] = "0B", [1] = "1B", [1023] = "1023B", [1024] = "1.0K",
      [1536] = "1.5K", [(1 << 20) - 1] = "1.0M", [1 << 20] = "1.0M",
      [(1 << 30) - 1] = "1.0G", [5 << 40] = "5.0T", [1 << 62] = "4.0E",
      [1000 << 10] = "1000.0K",
    }
    for n, text in pairs(cases) do
      assert.equal(text, units.short(n))
      assert.is_true(#text <= 7)
    end
  end)

  it("writes bytes in full", function()
    local cases = {
      [0] = "0 bytes", [1] = "1 byte", [64] = "64 bytes",
      [1024] = "1 KiB", [512 << 10] = "512 KiB", [1536] = "1.5 KiB",
      [1 << 62] = "4 EiB",
    }
    for n, text in pairs(cases) do
      assert.equal(text, units.bytes(n))
    end
  end)

  it("sets thousands apart", function()
    local cases = {[0] = "0", [999] = "999", [1000] = "1,000",
                   [1234567] = "1,234,567", [-1234] = "-1,234",
                   [math.maxinteger] = "9,223,372,036,854,775,807"}
    for n, text in pairs(cases) do
      assert.equal(text, units.count(n))
    end
    assert.equal("1 sample", units.plural(1, "sample"))
    assert.equal("1,000 samples", units.plural(1000, "sample"))
    assert.equal("0 samples", units.plural(0, "sample"))
  end)

  it("writes times", function()
    local cases = {[0] = "0 ms", [0.0005] = "0.5 ms", [0.35] = "350 ms",
                   [0.9996] = "1.00 s", [4.213] = "4.21 s",
                   [59.996] = "1 min 0 s", [123] = "2 min 3 s",
                   [3599.6] = "1 h 0 min", [11100] = "3 h 5 min",
                   [259199] = "71 h 59 min", [259200] = "3 d 0 h", [40.5 * 86400] = "40 d 12 h"}
    for s, text in pairs(cases) do
      assert.equal(text, units.seconds(s))
    end
  end)

  -- A former bug: the marks and the timeline of a session of hours had labels in seconds ("45296s"), and in
  -- a later version in whole hours.
  it("writes times in six columns", function()
    for s, text in pairs{[0] = "0s", [8.5e-5] = "85us", [0.0042] = "4.2ms", [0.35] = "350ms",
                         [4.213] = "4.21s", [99.996] = "100s", [599.4] = "599s", [599.6] = "10m00s",
                         [1728] = "28m48s", [5999] = "99m59s", [6000] = "1h40m", [45296] = "12h34m",
                         [359999] = "99h59m", [360000] = "4d04h", [40.5 * 86400] = "40d12h",
                         [400 * 86400] = "400d"} do
      assert.equal(text, units.shorttime(s))
    end
  end)

  it("writes shares, of nothing too", function()
    assert.equal("25.9%", units.percent(259, 1000))
    assert.equal("100.0%", units.percent(7, 7))
    assert.equal("-", units.percent(0, 0))
  end)
end)
