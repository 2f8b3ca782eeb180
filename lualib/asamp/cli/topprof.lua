-- SPDX-License-Identifier: MIT
-- What `asamp serve` has a process of its own do: a profile as pprof, so that a large one
-- keeps nobody waiting, and a damaged one harms nobody. It leaves the file OUT, or OUT.error
-- with the reason why there is none. What a flight recorder keeps it has written before, and
-- removes afterwards.

local ask = require "asamp.cli.ask"
local convert = require "profiler.convert"

local M = {NAME = "asamp.cli.topprof"}

local PATIENCE = 50  -- seconds for a flight recorder to be written: fewer than the server has

-- 'since' and 'till' are times of the monotonic clock, and so is the start that a profile tells.
-- Of a profile that began after 'since' all samples before 'till' are taken, but for what stands at
-- the begin of a flight recorder's: that is from before.
local function part(path, out, since, till, first, isring)
  local _, _, _, clock = convert.version(path)
  local least = isring and since ~= "0" and 1 or 0
  local function at(time)
    return math.max(least, math.tointeger(time) - (clock or 0))
  end
  return convert.pprof(path, out, {packing = "small", first = first, together = "state",
                                   since = at(since), till = till ~= "0" and at(till) or nil})
end

-- The same of what the flight recorder of a process keeps, which is written to the path.
local function kept(word, path, out, since, till, first)
  local fields, message = ask.ask(word, "dump " .. path, PATIENCE)
  if not fields then
    return nil, message
  end
  local ok, result, wrong = pcall(part, fields.file, out, since, till, first, true)
  os.remove(fields.file)
  return ok and result, ok and wrong or result
end

--- arg: this module, path, out, since and till (us of the monotonic clock; 0 and 0: all), the type
-- that comes first, and the process whose flight recorder is to be written there, if it is.
function M.main(args)
  local ok, result, message
  if args[7] then
    ok, result, message = pcall(kept, args[7], table.unpack(args, 2, 6))
  else
    ok, result, message = pcall(part, table.unpack(args, 2, 6))
  end
  if not ok or not result then
    convert.write(args[3] .. ".error", tostring(ok and message or result))
    return 1
  end
  return 0
end

--- Starts it; 'interpreter' is a path; 'ring': a process (nil: the profile is at 'path').
function M.start(interpreter, path, out, since, till, first, ring)
  local words = {"env", "-u", "ASAMP", interpreter, "-E", "-e",
                 "os.exit(require(arg[1]).main(arg), true)", "/dev/null", M.NAME,
                 path, out, ("%d"):format(since), ("%d"):format(till), first, ring}
  for i, word in ipairs(words) do
    words[i] = "'" .. word:gsub("'", "'\\''") .. "'"
  end
  os.execute(table.concat(words, " ") .. " </dev/null >/dev/null 2>&1 &")
end

return M
