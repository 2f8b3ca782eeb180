-- SPDX-License-Identifier: MIT
-- Finds and opens the heap snapshot that a profiled run wrote at its end. asamp.sums.proof proves likely
-- leaks with it.

local heap = require "profiler.heap"
local host = require "asamp.host"

local M = {}

-- Longest wait for a snapshot, in seconds. The process stops writing earlier (asamp/module/snapshotlib.h has
-- its limit), so after this time the file will not be completed.
local WAITS = 130
local EMPTY = 5  -- seconds after which an empty snapshot is an error: its writer was killed

--- Returns the path of the heap snapshot that the profiled process wrote at its end, according to the marks
-- in the profile, or nil and the reason if there is none.
function M.find(profile)
  for i = #profile.marks, 1, -1 do
    local mark = profile.marks[i]
    if mark.name == "heap snapshot failed" then
      return nil, mark.value
    elseif mark.name == "heap snapshot" then
      return mark.value
    end
  end
  return nil, "the run ended before a snapshot was taken; run the script until it ends by itself"
end

-- Opens the heap snapshot 'path'. Returns it, or nil and a message.
--
--   - owner: id of a user: the path must be a regular file of this user, or of this command's user
--   - bar(fraction): called while the file is read
local function open(path, owner, bar)
  local file <close>, name = host.openfile(path, 0, owner)
  if not file then
    return nil, name
  end
  local h, message = heap.open(name, bar)
  return h, message and message:gsub(name:gsub("%p", "%%%0"), (path:gsub("%%", "%%%%")))
end

--- Opens the heap snapshot 'path', which the profile in the file 'from' names. The path is untrusted, and
-- another process may still be writing the snapshot: waits until it is complete, up to WAITS seconds. Returns
-- the snapshot, or nil and a message. 'progress': the function world.progress (asamp.lua).
function M.open(path, from, progress)
  local owner = host.owner(host.realpath(from) or from) or -1
  local bar, finish = progress("reading " .. path:match "[^/]*$")
  local h, message
  for i = 1, WAITS * 10 do
    h, message = open(path, owner, bar)
    -- While the process writes the snapshot, the file 'path' is empty or says "still being written". At the
    -- end, the process replaces it by the complete file.
    if h or not (message:find("still being written", 1, true) or
                 i <= EMPTY * 10 and message:find("not a heap snapshot but empty", 1, true)) then
      break
    end
    host.pause(100)
  end
  finish()
  if not h and not host.samefile(path, path) then
    message = ("the program did not complete '%s': the reason is on its stderr"):format(path)
  end
  return h, message
end

return M
