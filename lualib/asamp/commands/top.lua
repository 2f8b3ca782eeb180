-- SPDX-License-Identifier: MIT
-- The command `asamp top`: repeatedly prints the rates of a running process, and the lines that
-- allocated most since the previous update.

local answers = require "asamp.cli.answers"
local client = require "asamp.cli.client"
local host = require "asamp.host"
local layout = require "asamp.show.layout"
local living = require "asamp.sums.living"
local options = require "asamp.cli.options"
local show = require "asamp.show.living"
local since = require "asamp.sums.since"
local tables = require "asamp.show.tables"
local totals = require "asamp.sums.totals"
local units = require "asamp.show.units"

local M = {}

M.summary = "watches a running process"

local DESCRIPTION = {
  command = "top", arguments = client.ARGUMENT, what = "process",
  about = "Watches a process that listens (ASAMP=listen): its allocated bytes, memory and collections. " ..
    "Also shows its source lines by allocation, live bytes and time. " ..
    "Reads the profile that the process writes. Ctrl-C ends the command.",
  {"every", "SECONDS", "time between two updates (default 2)", options.whole(1)},
  {"count", "N", "number of updates (default: until Ctrl-C)", options.whole(1)},
  {"top", "N", "number of source lines that are shown (default 15)", options.whole(1)},
  options.WIDTH,
}

function M.usage()
  return options.usage(DESCRIPTION)
end

local CLEAR = "\27[H\27[J"

-- Returns the table of source lines with the most allocated bytes, as lines of text.
--
--   - before: sums at the previous update (since.remember), which are subtracted; nil: shows those since the
--     start
--   - seconds: time in which these bytes were allocated, for the rates
local function linesof(profile, before, seconds, o, world)
  local rows = since.lines(totals.of(profile), before)
  local style = {top = o.top or 15, width = o.width or world.columns or layout.WIDTH,
                 paint = layout.painter(world.color), profile = profile}
  local columns = {
    {"bytes/s", function(row) return units.short(math.floor(math.max(row.bytes, 0) / seconds)) end},
    {"alive", function(row) return units.short(row.alive) end},
    {"+/min", spare = 3, function(row)
      return (row.more < 0 and "-" or "+") ..
             units.short(math.floor(math.abs(row.more) * 60 / seconds))
    end},
  }
  -- Without time samples, the time of a line is unknown, and the column would show 0%.
  if profile.timesamples > 0 then
    columns[#columns + 1] = {"time", spare = 2, function(row)
      return units.percent(row.time * (profile.timeperiod or 0), seconds)
    end}
  end
  local title = before and "By line, since the previous update" or "By line, since the profile's start"
  return tables.titled(style, title, rows, columns, "line",
    function(i, n) return layout.cutstart(layout.clean(rows[i].name), n) end)
end

-- Returns the number of seconds in which the listed costs of lines accumulated: now - before. This difference
-- may be wrong by a second, because the process writes its profile late. So if it is less than half of
-- 'between', returns 'between' instead.
--
--   - now, before: times of the profile's last events at this update and at the previous one, in seconds
--   - between: seconds between the two updates; nil: there was no previous one
local function timeof(now, before, between)
  local seconds = now - before
  return between and seconds < between / 2 and between or seconds
end

local function screen(target, state, o, world)
  local fields, message = client.send(target, "stats")
  if not fields then
    return nil, message
  end
  local now = living.stats(fields)
  local lines = show.head(now, state.before and living.rates(state.before, now),
                          o.width or world.columns or layout.WIDTH)
  -- The file of a flight recorder has only the samples up to the last request to write it. They may be old,
  -- so the file is not read.
  local profile, unopened
  if now.ring then
    lines[#lines + 1] = "\nNo source lines are shown: the samples are in a flight recorder (ASAMP=ring). " ..
      "asamp record --ring writes these samples to a file"
  elseif now.file then
    -- If the file's header is incomplete, the callback returns false instead of nil: then no error is
    -- printed, and the next update reads the file again.
    profile, unopened = answers.reading(now.file, fields.peer, function(name)
      return world.read(name, nil, now.file) or false
    end)
    lines[#lines + 1] = profile == nil and "\n" .. unopened or nil
  end
  if profile then
    local before = state.file == now.file and state.lines or nil
    local seconds = timeof(profile.duration, before and state.duration or 0,
                           state.before and now.now - state.before.now)
    local rows = linesof(profile, before, math.max(seconds, 0.001), o, world)
    table.move(rows, 1, #rows, #lines + 1, lines)
    for _, left in ipairs(profile.left) do
      lines[#lines + 1] = layout.wrap("Incomplete data: " .. left.text .. ".", "  ",
                                      o.width or world.columns or layout.WIDTH)
    end
    state.lines, state.duration = since.remember(totals.of(profile)), profile.duration
  end
  state.before, state.file = now, now.file
  return table.concat(lines, "\n") .. "\n"
end

M.run = options.command(DESCRIPTION, function(o, world, warn)
  local state = {}
  for n = 1, o.count or math.huge do
    if n > 1 then
      host.pause((o.every or 2) * 1000)
    end
    local text, message = screen(o.files[1], state, o, world)
    if not text then
      return warn.failed("%s", message)
    end
    world.out((world.color and CLEAR or n > 1 and "\n" or "") .. layout.screen(text, world.color))
    io.stdout:flush()
  end
  return 0
end)

return M
