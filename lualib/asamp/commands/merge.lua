-- SPDX-License-Identifier: MIT
-- The command `asamp merge`: merges several profiles into one file that all other commands
-- accept.

local convert = require "profiler.convert"
local layout = require "asamp.show.layout"
local once = require "asamp.cli.once"
local options = require "asamp.cli.options"
local results = require "asamp.cli.results"
local units = require "asamp.show.units"

local M = {}

M.summary = "merges profiles of several processes or runs into one"

local DESCRIPTION = {
  command = "merge", arguments = "FILE... -o OUT", most = 100000,
  about = "Merges several profiles into one: of many processes, or of many runs. " ..
    "asamp report shows the same sums for the result as asamp report --sum for the inputs. " ..
    "Each Lua state of each input is a state of the result (--by state, --state). " ..
    "If an input has only one state, that state is named after the file. " ..
    "In the timeline, the profiles follow one another.",
  options.out "path of the merged profile (required)",
  {"plain", nil, "does not compress the result"},
  exits = "Exit codes: 0 done, 1 a file has no usable data or the result cannot be written, " ..
    "2 wrong arguments. Files without usable data are left out of the result.",
}

function M.usage()
  return options.usage(DESCRIPTION)
end

-- Reports the profiles that could not be read, or not completely. Returns the number of profiles that were
-- read. 'files': result of profiler.convert.merge: a list with a table for each profile.
local function judge(files, warn)
  local read = 0
  for _, f in ipairs(files) do
    if f.error then
      warn.failed("%s", f.error)
    else
      read = read + 1
      warn.partial(f.path, f.message, f.samples + f.timesamples,
                   "the result covers only the readable part")
      for _, left in ipairs(f.left) do
        warn.failed("'%s': %s", f.path, left.text)
      end
    end
  end
  return read
end

M.run = options.command(DESCRIPTION, function(o, world, warn)
  if not o.out then
    return warn.wrong("no path given for the result: use -o OUT")
  end
  local twice = options.twice(o.files) or options.readonce(o.files)
  if twice then
    return warn.wrong("%s", twice)
  end
  for _, path in ipairs(o.files) do
    local code = o.out ~= "-" and results.refuse(warn, o.out, o.out, path)
    if code then
      return code
    end
  end
  local paths, notes = once.of(o.files, world.read)
  if not paths then
    return warn.wrong("%s", notes)
  end
  for _, note in ipairs(notes) do
    warn.failed("%s", note)
  end
  local show, finish = world.progress("merging " .. units.plural(#paths, "profile"))
  local result, message, files = convert.merge(paths, o.out,
    {progress = show, packing = not o.plain and "fast" or nil})
  finish()
  local read = judge(result and result.files or files or {}, warn)
  if not result then
    -- If there are files, the message is the error of one of them, which the function 'judge' has reported.
    return files and 1 or warn.failed("%s", message)
  end
  for _, left in ipairs(result.left) do
    warn.failed("'%s': %s", o.out, left.text)
  end
  if o.out ~= "-" then
    world.out(("%s (%s of %s)\n"):format(layout.printable(o.out), units.plural(result.states, "Lua state"),
                                          units.plural(read, "profile")))
  end
  return read < #paths and 1 or 0
end)

return M
