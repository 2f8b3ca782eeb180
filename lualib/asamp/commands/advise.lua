-- SPDX-License-Identifier: MIT
-- The command `asamp advise`: advice about the collector from a profile, and a check of it by
-- running the script with another nursery.

local advice = require "asamp.sums.advice"
local host = require "asamp.host"
local options = require "asamp.cli.options"
local show = require "asamp.show.advice"

local M = {}

M.summary = "predicts the effects of other nursery sizes"

local function size(text)
  local digits, unit = text:match "^(%d+)([KMGkmg]?)$"
  local n = digits and math.tointeger(tonumber(digits))
  local factor = unit and ({[""] = 1, K = 1 << 10, M = 1 << 20, G = 1 << 30})[unit:upper()]
  if n and n <= advice.MOST and n * factor >= 4096 and n * factor <= advice.MOST then
    return n * factor
  end
  return nil, "a size from 4K to 910M, such as 512K or 4M"
end

local DESCRIPTION = {
  command = "advise", arguments = "FILE [SCRIPT [arguments]]", least = 1, most = math.huge,
  rest = 2,
  about = "Predicts the survival of objects, the time in collections and the reserved memory " ..
    "with other nursery sizes. The nursery is the memory for new objects; when it is full, " ..
    "a minor collection runs. Each prediction has an estimate of its error. " ..
    "Lists lines whose objects nearly all survive or nearly all die young, and the longest pauses. " ..
    "Needs a profile with many samples (--alloc 16K).",
  {"nursery", "SIZE", "nursery size that --verify tries " ..
    "(default: the recommended size or, if none is recommended, twice the present size)", size},
  {"verify", nil, "runs SCRIPT again with the nursery size SIZE, and compares the prediction with this run"},
  {"runs", "N", "for --verify: number of runs of SCRIPT with each of the two nursery sizes (default 3); " ..
    "the shortest run of each size is compared", options.whole(1)},
  {"top", "N", "shows at most N rows of each table (default 8)", options.whole(1)},
  options.WIDTH,
  options.COLOR,
  {"json", nil, "prints the output as JSON, with sizes in bytes and times in seconds"},
}

function M.usage()
  return options.usage(DESCRIPTION)
end

-- Runs the script once more, with LUA_GC set to 'setting'. With --json, the script's stdout goes to stderr,
-- because stdout has the JSON text. Returns the measurements of the collector (advice.measured), or nil after
-- an error message.
local function again(profile, o, setting, world, warn)
  local folder, wrong = host.newfolder(host.temporary())
  if not folder then
    warn.failed("%s", wrong)
    return nil
  end
  local path = folder .. "/run.vmprof"
  local words = o.json and {"/bin/sh", "-c", 'exec "$@" >&2', "sh"} or {}
  for _, word in ipairs{world.interpreter, "-l", "profiler"} do
    words[#words + 1] = word
  end
  table.move(o.files, 2, #o.files, #words + 1, words)
  local how, status = host.run(words, {LUA_GC = setting,
    LUA_PROFILER = ("out=%s,overwrite=1,quiet,alloc=%d"):format(path, profile.period)})
  local run, message
  if how == "exit" and status == 0 then
    run, message = world.read(path)
  else
    message = how and ("it ended with %s %d"):format(how == "exit" and "status" or how, status)
              or status
  end
  host.discard(folder)
  local measured = run and advice.measured(run)
  if not measured then
    warn.failed("the run of '%s' cannot be compared with the prediction: %s", o.files[2],
      message or "the run had no collection; give a script that allocates more")
  end
  return measured
end

-- Runs the script alternately with the profile's nursery size and with one of about n bytes, so that other
-- load on the machine affects both. Returns their comparison (advice.verified), or nil after an error
-- message.
local function verified(profile, o, n, world, warn)
  local setting = advice.setting(n, profile.tuning)
  local before, after = {}, {}
  for i = 1, o.runs or 3 do
    before[i] = again(profile, o, profile.tuning or "", world, warn)
    after[i] = before[i] and again(profile, o, setting, world, warn)
    if not after[i] then
      return nil
    end
  end
  return advice.verified(profile, n, setting, before, after)
end

M.run = options.command(DESCRIPTION, function(o, world, warn)
  if o.verify and not o.files[2] then
    return warn.wrong("--verify runs the script again: give the script after FILE")
  elseif not o.verify and o.files[2] then
    return warn.wrong("the script '%s' is only for --verify: give --verify, too",
                      o.files[2])
  elseif o.nursery and not o.verify then
    return warn.wrong("--nursery is the size that --verify tries: give --verify and the script, too")
  elseif o.runs and not o.verify then
    return warn.wrong("--runs is the number of runs of --verify: give --verify and the script, too")
  end
  local profile, message = world.read(o.files[1])
  if not profile then
    return warn.failed("%s", message)
  end
  warn.partial(o.files[1], profile.message, profile.samples, "the advice covers only the readable part")
  local found = {advice = advice.of(profile)}
  if not found.advice and profile.message and profile.samples == 0 then
    return 1  -- warn.partial has stated the reason
  elseif not found.advice then
    return warn.failed("'%s' has too few collections or samples for advice: profile a longer run, " ..
      "or use --alloc 16K", o.files[1])
  end
  found.best = advice.best(found.advice)
  if o.verify then
    local n = o.nursery or found.best and found.best.nursery or
              math.min(2 * found.advice.now.nursery, advice.MOST)
    found.verified = verified(profile, o, n, world, warn)
    if not found.verified then
      return 1
    end
  end
  options.print(found, o, world, 8, show.render)
  return 0
end)

return M
