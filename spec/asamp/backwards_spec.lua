-- SPDX-License-Identifier: MIT
-- Clocks that go back, as in some virtual machines; here a preloaded library sets them back. Recorded times
-- must stay close to the elapsed time. Unsigned differences of such times would be centuries.

local process = require "spec.support.process"
local reader = require "profiler.reader"

-- The spec preloads a library and is left out with ASan, whose own library must be the first preloaded one.
if os.getenv "ASAMP_VARIANT" == "asan" then return end

local CODE = [[
  local profiler, jump = require "profiler", require "backwards"
  local path, least, by, wall, ring = ...
  assert(profiler.enable{time = 200, wall = wall == "wall", exact = true, alloc = 65536, out = path,
                        overwrite = true, ring = ring})
  local function work()
    local kept, t = {}, {}
    for i = 1, 4000000 do t = i % 10 == 0 and {i} or t end
    collectgarbage()
  end
  work() jump(by) work() jump(2 * by) work()
  local s = profiler.stats()
  print(s.timesamples, s.lost, s.pauses)
  profiler.disable()]]

describe("a clock that goes back", function()
  local path
  before_each(function() path = os.tmpname() end)
  after_each(function() os.remove(path) end)

  -- each case: least number of samples, seconds by which the clocks go back, options
  for _, case in ipairs{{5, 0.03, "cpu"}, {1, 1800, "cpu"}, {5, 1800, "wall"}, {5, 1800, "wall", "10s"}} do
    it("makes no samples: " .. table.concat(case, " "), function()
      local status, out, err = process.run{code = CODE,
        env = {LD_PRELOAD = package.searchpath("backwards", package.cpath)}, path, table.unpack(case)}
      assert.same({0, ""}, {status, err})
      local samples, lost = out:match "^(%d+)%s+(%d+)"
      assert.is_true(tonumber(samples) >= case[1] and tonumber(samples) < 100000, out)
      assert.is_true(tonumber(lost) < 1000, out)
      local profile = assert(reader.read(path))
      assert.is_true(profile.timesamples >= case[1] and profile.timesamples < 100000)
      assert.is_true(profile.course.pauses.total < 3600 * 1000000, profile.course.pauses.total)
      assert.is_true(profile.course.pauses.longest < 1700 * 1000000, profile.course.pauses.longest)
    end)
  end
end)
