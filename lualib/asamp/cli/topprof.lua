-- SPDX-License-Identifier: MIT
-- What `asamp serve` has a process of its own do: a profile as pprof, so that a large one
-- keeps nobody waiting, and a damaged one harms nobody. It leaves the file OUT, or OUT.error
-- with the reason why there is none.

local convert = require "profiler.convert"

local M = {NAME = "asamp.cli.topprof"}

-- 'since' and 'till' are times of the monotonic clock, and so is the start that a profile tells.
-- Of a profile that began after 'since' all samples before 'till' are taken.
local function part(path, out, since, till, first)
  local _, _, _, clock = convert.version(path)
  local function at(time)
    return math.max(0, math.tointeger(time) - (clock or 0))
  end
  return convert.pprof(path, out, {packing = "small", first = first, together = "state",
                                   since = at(since), till = till ~= "0" and at(till) or nil})
end

--- arg: this module, path, out, since and till (us of the monotonic clock; 0 and 0: all), the type
-- that comes first.
function M.main(args)
  local ok, result, message = pcall(part, table.unpack(args, 2, 6))
  if not ok or not result then
    convert.write(args[3] .. ".error", tostring(ok and message or result))
    return 1
  end
  return 0
end

--- Starts it; 'interpreter' is a path.
function M.start(interpreter, path, out, since, till, first)
  local words = {"env", "-u", "ASAMP", interpreter, "-E", "-e",
                 "os.exit(require(arg[1]).main(arg), true)", "/dev/null", M.NAME,
                 path, out, ("%d"):format(since), ("%d"):format(till), first}
  for i, word in ipairs(words) do
    words[i] = "'" .. word:gsub("'", "'\\''") .. "'"
  end
  os.execute(table.concat(words, " ") .. " </dev/null >/dev/null 2>&1 &")
end

return M
