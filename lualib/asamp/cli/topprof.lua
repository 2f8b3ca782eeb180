-- SPDX-License-Identifier: MIT
-- What `asamp serve` has a process of its own do: a profile as pprof, so that a large one
-- keeps nobody waiting, and a damaged one harms nobody. It leaves the file OUT, or OUT.error
-- with the reason why there is none.

local convert = require "profiler.convert"

local M = {NAME = "asamp.cli.topprof"}

-- 'since' is a time of the monotonic clock, and so is the start that a profile tells. Of a
-- profile that began after 'since' all samples are taken.
local function part(path, out, since, first)
  local _, _, _, clock = convert.version(path)
  return convert.pprof(path, out, {packing = "small", first = first, together = "state",
                                   since = math.max(0, math.tointeger(since) - (clock or 0))})
end

--- arg: this module, path, out, us of the monotonic clock (0: all), the type that comes first.
function M.main(args)
  local ok, result, message = pcall(part, args[2], args[3], args[4], args[5])
  if not ok or not result then
    convert.write(args[3] .. ".error", tostring(ok and message or result))
    return 1
  end
  return 0
end

--- Starts it; 'interpreter' is a path.
function M.start(interpreter, path, out, since, first)
  local words = {"env", "-u", "ASAMP", interpreter, "-E", "-e",
                 "os.exit(require(arg[1]).main(arg), true)", "/dev/null", M.NAME,
                 path, out, ("%d"):format(since), first}
  for i, word in ipairs(words) do
    words[i] = "'" .. word:gsub("'", "'\\''") .. "'"
  end
  os.execute(table.concat(words, " ") .. " </dev/null >/dev/null 2>&1 &")
end

return M
