-- SPDX-License-Identifier: MIT
-- Frame loops as in games, for all combinations of these parameters: collector mode, whether the collector
-- is stopped, steps, garbage per frame, and live data (KiB). Prints a line for each combination: the
-- parameters; the largest number of KiB in use at the end of a frame; and the largest number of KiB that is
-- allocated between the death of an object and the call of its finalizer. hosts_spec.lua compares these
-- numbers between interpreters.
-- luacheck: ignore 241 331 (variables that only keep objects alive)

local FRAMES = 80
-- approximate bytes of {i}
local TABLE = 72

local function run(mode, stopped, step, garbage, live)
  collectgarbage(mode)
  collectgarbage("restart")
  local world = {}
  for i = 1, live * 1024 // TABLE do world[i] = {i} end
  collectgarbage()
  collectgarbage()
  if stopped then collectgarbage("stop") end
  local peak, late, done = collectgarbage("count"), 0, 0
  local mt = {__gc = function(o) late = math.max(late, done - o[1]) end}
  for frame = 1, FRAMES do
    setmetatable({frame}, mt)
    for i = 1, garbage * 1024 // TABLE do world[0] = {i} end
    done = frame
    collectgarbage("step", step)
    peak = math.max(peak, collectgarbage("count"))
  end
  collectgarbage("restart")
  world = nil  -- luacheck: ignore 311
  collectgarbage()
  return peak // 1, late * garbage
end

for _, mode in ipairs {"incremental", "generational"} do
  for _, stopped in ipairs {true, false} do
    for _, step in ipairs {1, 10, 28, 100, 400} do
      for _, garbage in ipairs {8, 36, 200} do
        for _, live in ipairs {0, 3000} do
          local peak, late = run(mode, stopped, step, garbage, live)
          print(("%s, %s, step %d, garbage %d, live %d: %d %d"):format(
            mode, stopped and "stopped" or "running", step, garbage, live, peak, late))
        end
      end
    end
  end
end
