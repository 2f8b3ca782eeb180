-- SPDX-License-Identifier: MIT
-- The command `asamp repair`: repairs a profile with profiler.reader.repair and prints a summary.

local convert = require "profiler.convert"
local layout = require "asamp.show.layout"
local options = require "asamp.cli.options"
local reader = require "profiler.reader"
local results = require "asamp.cli.results"
local units = require "asamp.show.units"

local M = {}

M.summary = "recovers the readable part of a cut or damaged profile"

local DESCRIPTION = {
  command = "repair", arguments = "FILE",
  about = "Copies a profile up to its damage, adds the trailer that readers need, and prints a summary. " ..
    "A complete file is not changed, and a file that is still being written is not replaced. " ..
    "Give either --out or --in-place. If FILE is -, standard input is read.",
  options.out("path of the repaired file, other than FILE; an existing file is replaced"),
  {"in-place", nil, "replaces FILE by the repaired file, with the same mode and owner"},
}

function M.usage()
  return options.usage(DESCRIPTION)
end

-- Returns the id of the process that wrote a profile, as the text " by process N", or "" if it is unknown.
local function writer(path)
  local version, pid = convert.version(path)
  return version and pid > 0 and (" by process %d"):format(pid) or ""
end

local function summary(path, out, r)
  local parts = {}
  if r.samples > 0 or r.timesamples == 0 then
    parts[1] = units.plural(r.samples, "allocation sample")
  end
  if r.timesamples > 0 then
    parts[#parts + 1] = units.plural(r.timesamples, "time sample")
  end
  local samples = table.concat(parts, " and ")
  if r.whole then
    return ("'%s' is complete (%s): nothing to repair, nothing written\n")
           :format(path, samples)
  end
  local lines = {("'%s': %s"):format(
    path, r.live and "still being written; these are its contents so far" or r.message)}
  lines[2] = ("recovered: %s, %s of the log"):format(
    samples, units.plural(r.kept, "byte"))
  if r.cut > 0 then
    lines[#lines + 1] = ("lost: %s after the damage"):format(
      units.plural(r.cut, "byte"))
  end
  lines[#lines + 1] = ("written: '%s' (%s)"):format(
    out, units.plural(r.size, "byte"))
  return table.concat(lines, "\n") .. "\n"
end

M.run = options.command(DESCRIPTION, function(o, world, warn)
  local path, inplace = o.files[1], o["in-place"]
  if (o.out ~= nil) == (inplace ~= nil) then
    return warn.wrong(inplace and "--out and --in-place cannot be combined: give one of them"
                      or "no path given for the result: give --out OUT or --in-place")
  end
  if inplace and path == "-" then
    return warn.wrong "--in-place needs a file, and FILE is standard input: give --out OUT"
  end
  local out = o.out or path
  local r, message, what = reader.repair(path, out, inplace)
  if what == "same" then
    return warn.wrong(results.REPLACES .. " or --in-place", out, path)
  elseif what == "live" then
    return warn.failed("'%s' is still being written%s; repair the file when the process has ended " ..
                       "(asamp report reads the file at any time)", path, writer(path))
  elseif not r then
    return warn.failed("%s", message)
  end
  local print = out == "-" and world.err or world.out
  print(layout.screen(summary(path, out, r)))
  return 0
end)

return M
