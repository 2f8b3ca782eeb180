-- SPDX-License-Identifier: MIT
-- `asamp report` in this process, for specs of what it shows.

local reader = require "profiler.reader"
local report = require "asamp.commands.report"

local M = {}

--- Runs it with these arguments. Returns exit code, stdout, stderr.
function M.run(...)
  local out, err = {}, {}
  local code = report.run({...}, {
    read = reader.read, color = false,
    out = function(s) out[#out + 1] = s end,
    err = function(s) err[#err + 1] = s end,
  })
  return code, table.concat(out), table.concat(err)
end

return M
