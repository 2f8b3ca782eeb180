-- SPDX-License-Identifier: MIT
-- The options --from and --until of several commands, which select the part of a profile between two times.

local options = require "asamp.cli.options"
local totals = require "asamp.sums.totals"

local M = {}

local number = options.number(0, 1e9)

-- Checks a time in seconds since the start, such as "12.5" or "12.5s". Returns the number, or nil if the text
-- is not such a time. The second result is always a text that describes valid times.
local function seconds(value)
  return (number((value:gsub("s$", "")))), "a number of seconds since the start of the run, such as 12.5"
end

--- The options --from and --until, as elements of a command's description (asamp.cli.options).
M.FROM = {"from", "SECONDS", "leaves out samples before this time (seconds since the start of the run)",
          seconds}
M.UNTIL = {"until", "SECONDS", "leaves out samples from this time on (seconds since the start of the run)",
           seconds}

--- Returns the range {from, to} of --from and --until, in seconds since the start ('to' is nil without
-- --until), or nil if neither is given. 'o': the command's options.
function M.of(o)
  return (o.from or o["until"]) and {from = o.from or 0, to = o["until"]} or nil
end

--- Returns a message if no time lies between --from and --until; else nil. 'o': the command's options.
function M.wrong(o)
  local range = M.of(o)
  if range and range.to and range.from >= range.to then
    return ("--from %.6g (seconds) must be less than --until %.6g"):format(range.from, range.to)
  end
end

local function microseconds(value)
  return value and math.floor(value * 1e6 + 0.5)
end

--- Sets the options 'since' and 'till' (us) of profiler.reader and profiler.convert in the table 'to', and
-- returns 'to'. 'range': {from, to} in seconds; nil: sets nothing.
function M.set(to, range)
  if range then
    to.since, to.till = microseconds(range.from), microseconds(range.to)
  end
  return to
end

--- Returns text for a range, such as "from 1.5 s to 3 s".
function M.text(range)
  return ("from %.6g s to %s"):format(range.from, range.to and ("%.6g s"):format(range.to) or "the end")
end

--- Reads the samples of the profile 'path' within a range {from, to} of seconds, or nil and a message if
-- there are none. 'o': other options for world.read. The returned profile has the duration of the range, and
-- no exact total of bytes, which is known only for the whole run.
function M.read(world, path, range, o)
  local part, wrong = world.read(path, M.set(o, range))
  if not part then
    return nil, wrong
  end
  local ends = math.max(part.duration, part.course and part.course.ended / 1000000 or 0)
  if range.from > ends then
    return nil, ("--from %.6g s is after the end of the profile, at %.6g s; give an earlier time"):format(
      range.from, ends)
  end
  local whole = totals.of(part).whole
  if whole.samples + whole.timesamples == 0 then
    return nil, ("no sample was taken %s; the profile ends at %.6g s: give another range"):format(
      M.text(range), ends)
  end
  part.duration = math.min(range.to or ends, ends) - range.from
  part.allocated = nil
  return part
end

return M
