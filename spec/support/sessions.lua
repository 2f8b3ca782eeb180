-- SPDX-License-Identifier: MIT
-- Scripts that are profiled in a process of their own, for specs of how sessions
-- end: they begin with START, and what it keeps is counted in their profile.

local process = require "spec.support.process"

local M = {}

--- The beginning of a script, whose argument is the path of its profile: samples
-- every block of 64 bytes or more, and keeps 500 userdata of 1,000 bytes.
M.START = [[
  local profiler, natives = require "profiler", require "natives"
  assert(profiler.alloc_start(64, {out = ..., fixed = true, seed = 1}))
  local kept = {}
  for i = 1, 500 do kept[i] = natives.userdata(1000) end
]]

--- Runs a script; 'options' are those of process.run. Returns the path of its
-- profile, which was not there before, exit status, stdout and stderr.
function M.run(code, options)
  local path = os.tmpname()
  os.remove(path)
  local t = {code = code, path}
  for k, v in pairs(options or {}) do t[k] = v end
  return path, process.run(t)
end

--- How many samples of a list are of userdata of that size, and how many of these
-- have a fate.
function M.blocks(list, size)
  local n, decided = 0, 0
  for _, s in ipairs(list) do
    if s.kind == "userdata" and s.size == size + 32 then
      n = n + 1
      if s.survived ~= nil then decided = decided + 1 end
    end
  end
  return n, decided
end

return M
