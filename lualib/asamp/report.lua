-- SPDX-License-Identifier: MIT
-- The command `asamp report`: reads its arguments and the file, hands totals
-- to a renderer. The only part of the report that reads files and knows the
-- terminal. Exit codes: 0 done, 1 the file yields nothing, 2 usage.

local json = require "asamp.json"
local text = require "asamp.text"
local totals = require "asamp.totals"

local M = {}

M.summary = "who allocated how much: by function, line and type"

M.usage = [[
usage: asamp report [options] FILE

Shows what a profile tells: how much was allocated, by which functions and
lines, of which types, and how much of it survived its first collection.
FILE is a VMProf log, compressed or not: a profile of this sampler in either
format, or one of another VMProf writer.

  --top N    rows of each table (default 15)
  --json     everything as JSON, all rows unless --top is given
  --help     this text

Exit codes: 0 done, 1 the file cannot be read, 2 wrong arguments.
]]

-- Options of the arguments, or nil and what is wrong with them.
local function parse(args)
  local options = {}
  local i, ended = 1, false
  while i <= #args do
    local a = args[i]
    local option, value = a:match "^(%-%-[^=]+)=(.*)$"
    option = option or a
    if ended or a == "-" or not a:find "^%-" then
      if options.file then
        return nil, ("one file at a time, got '%s' and '%s'")
          :format(options.file, a)
      end
      options.file = a
    elseif a == "--" then
      ended = true
    elseif a == "--help" or a == "-h" then
      options.help = true
    elseif a == "--json" then
      options.json = true
    elseif option == "--top" then
      if not value then
        i = i + 1
        value = args[i] or ""
      end
      options.top = value:find "^%d+$" and math.tointeger(tonumber(value))
      if not options.top or options.top < 1 then
        return nil, ("--top wants a whole number from 1, got '%s'")
          :format(value)
      end
    else
      return nil, ("unknown option '%s'"):format(a)
    end
    i = i + 1
  end
  if not options.file and not options.help then
    return nil, "no file given"
  end
  return options
end

-- What --json tells: the totals, and the profile without its tree.
local function document(profile, t, top)
  local doc = {unit = t.unit, whole = t.whole, types = t.types}
  for _, key in ipairs{"path", "command", "complete", "message", "version",
                       "interpreter", "period", "periods", "random", "fates",
                       "started", "duration", "samples", "bytes", "survived",
                       "survivedbytes", "undecided", "undetailed",
                       "timesamples", "minors", "majors"} do
    doc[key] = profile[key]
  end
  for _, key in ipairs{"functions", "lines", "types"} do
    doc[key] = table.move(t[key], 1, math.min(#t[key], top or #t[key]), 1, {})
  end
  return doc
end

--- Runs the command. 'world': read (as profiler.reader's), out and err
-- (functions that take text), color (boolean). Returns the exit code.
function M.run(args, world)
  local options, wrong = parse(args)
  if not options then
    world.err(("asamp report: %s; see asamp report --help\n"):format(wrong))
    return 2
  elseif options.help then
    world.out(M.usage)
    return 0
  end
  local profile, message = world.read(options.file)
  if not profile then
    world.err("asamp report: " .. message .. "\n")
    return 1
  end
  local n = profile.samples + profile.timesamples
  if profile.message then
    world.err(("asamp report: '%s': %s; %s\n"):format(
      options.file, profile.message,
      n > 0 and "the report covers what could be read"
      or "no sample could be read"))
  end
  if n == 0 and not profile.complete then
    return 1
  end
  local t = totals.of(profile)
  if options.json then
    world.out(json.encode(document(profile, t, options.top)) .. "\n")
  else
    world.out(text.render(profile, t, {top = options.top or 15,
                                       color = world.color}))
  end
  return 0
end

return M
