-- SPDX-License-Identifier: MIT
-- Finds and opens the snapshot of a run with which leaks are proved (asamp.sums.proof).

local heap = require "profiler.heap"
local host = require "asamp.host"

local M = {}

local WAITS = 130  -- seconds, more than the writer's time limit (asamp/module/snapshotlib.h)

--- Returns the path of the snapshot that the session of a profile ended with; nil and the reason
-- why there is none.
function M.find(profile)
  for i = #profile.marks, 1, -1 do
    local mark = profile.marks[i]
    if mark.name == "heap snapshot failed" then
      return nil, mark.value
    elseif mark.name == "heap snapshot" then
      return mark.value
    end
  end
  return nil, "the run ended before a snapshot was taken"
end

--- Opens a snapshot that another process may still be writing. 'progress' as of world.progress.
-- Returns the snapshot, or nil and a message.
function M.open(path, progress)
  local bar, finish = progress("reading " .. path:match "[^/]*$")
  local h, message
  for _ = 1, WAITS * 10 do
    h, message = heap.open(path, bar)
    if h or not message:find("still being written", 1, true) then
      break
    end
    host.pause(100)
  end
  finish()
  if not h and not host.samefile(path, path) then
    message = ("'%s' was not completed: the reason is on the program's stderr"):format(path)
  end
  return h, message
end

return M
