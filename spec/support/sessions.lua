-- SPDX-License-Identifier: MIT
-- Profiles scripts in separate processes, for specs of how a session ends. Each script starts with the code
-- START, which allocates objects of known size. The specs count the samples of these objects.

local process = require "spec.support.process"

local M = {}

-- The start of a script, whose argument is the path of its profile. It samples every block of 64 bytes or
-- more, and keeps 500 userdata of 1,000 bytes.
M.START = [[
  local profiler, natives = require "profiler", require "natives"
  assert(profiler.alloc_start(64, {out = ..., fixed = true, seed = 1}))
  local kept = {}
  for i = 1, 500 do kept[i] = natives.userdata(1000) end
]]

-- Runs a script with the options of process.run. Returns the path of its profile, which is new, and the
-- exit status, stdout and stderr.
function M.run(code, options)
  local path = os.tmpname()
  os.remove(path)
  local t = {code = code, path}
  for k, v in pairs(options or {}) do t[k] = v end
  return path, process.run(t)
end

-- Returns the number of samples of userdata of 'size' bytes in a list, and the number of those samples that
-- have a survival outcome.
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
