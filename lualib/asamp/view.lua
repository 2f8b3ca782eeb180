-- SPDX-License-Identifier: MIT
-- The command `asamp view`: a profile in, one HTML page out. Reads its
-- arguments, the profile and the page's template, writes the page; the only
-- part of the view that opens files for writing. Exit codes: 0 done, 1 no
-- page could be made, 2 usage.

local data = require "asamp.view.data"
local page = require "asamp.view.page"
local sources = require "asamp.view.sources"
local units = require "asamp.units"

local M = {}

-- Slices of time that a selection can be made of, at most; of a profile of
-- very many stacks fewer.
local BINS = {256, 32, 1}

M.summary = "one HTML page: flame graph, call tree, lines, timeline, types"

M.usage = [[
usage: asamp view [options] FILE

Writes one HTML file that shows a profile in a browser: flame graph, call tree
and tables by bytes, samples, survived bytes and time, with a timeline of heap
and collections to select from. The page needs no network and holds the source
lines that it shows. FILE is a VMProf log, as for asamp report.

  -o PATH        the page (default FILE.html; - is standard output)
  --source DIR   look for source files of relative names in DIR too; may be
                 given several times
  --nodes N      keep at most N nodes of the call tree (default 100000)
  --help         this text

Exit codes: 0 done, 1 no page could be made, 2 wrong arguments.
]]

local function fail(text, ...)
  return nil, text:format(...)
end

-- Options that take a value: what to do with it.
local TAKES = {
  ["-o"] = function(options, value)
    options.out = value
  end,
  ["--source"] = function(options, value)
    table.insert(options.folders, value)
  end,
  ["--nodes"] = function(options, value)
    options.nodes = value:find "^%d+$" and math.tointeger(tonumber(value))
    if not options.nodes or options.nodes < 1 then
      return ("--nodes wants a whole number from 1, got '%s'"):format(value)
    end
  end,
}

-- Options of the arguments, or nil and what is wrong with them.
local function parse(args)
  local options = {folders = {}, nodes = 100000}
  local i, ended = 1, false
  while i <= #args do
    local a = args[i]
    local option, value = a:match "^(%-%-[^=]+)=(.*)$"
    option = option or a
    if ended or a == "-" or not a:find "^%-" then
      if options.file then
        return fail("one file at a time, got '%s' and '%s'", options.file, a)
      end
      options.file = a
    elseif a == "--" then
      ended = true
    elseif a == "--help" or a == "-h" then
      options.help = true
    elseif TAKES[option] then
      if not value then
        i = i + 1
        value = args[i]
      end
      if not value or value == "" then
        return fail("%s wants a value", option)
      end
      local wrong = TAKES[option](options, value)
      if wrong then
        return nil, wrong
      end
    else
      return fail("unknown option '%s'", a)
    end
    i = i + 1
  end
  if options.help then
    return options
  elseif not options.file then
    return nil, "no file given"
  end
  options.out = options.out or options.file .. ".html"
  if options.out == options.file then
    return fail("-o '%s' would replace the profile itself", options.out)
  end
  return options
end

-- Writes the pieces to 'path'; nil and a message when it cannot.
local function write(path, pieces, world)
  if path == "-" then
    for _, piece in ipairs(pieces) do
      world.out(piece)
    end
    return true
  end
  local file, message = io.open(path, "wb")
  if not file then
    return fail("cannot write the page: %s", message)
  end
  for _, piece in ipairs(pieces) do
    local ok, reason = file:write(piece)
    if not ok then
      file:close()
      return fail("cannot write the page '%s': %s", path, reason)
    end
  end
  local ok, reason = file:close()
  if not ok then
    return fail("cannot write the page '%s': %s", path, reason)
  end
  return true
end

-- The profile in as many slices of time as keep every stack.
local function read(path, world)
  for i, bins in ipairs(BINS) do
    local profile, message = world.read(path, {bins = bins})
    if not profile or i == #BINS or data.whole(profile) then
      return profile, message
    end
  end
end

local function size(pieces)
  local n = 0
  for _, piece in ipairs(pieces) do
    n = n + #piece
  end
  return n
end

--- Runs the command. 'world': read (as profiler.reader's), out and err
-- (functions that take text). Returns the exit code.
function M.run(args, world)
  local options, wrong = parse(args)
  if not options then
    world.err(("asamp view: %s; see asamp view --help\n"):format(wrong))
    return 2
  elseif options.help then
    world.out(M.usage)
    return 0
  end
  local template, missing = page.template()
  if not template then
    world.err(("asamp view: %s\n"):format(missing))
    return 1
  end
  local profile, message = read(options.file, world)
  if not profile then
    world.err(("asamp view: %s\n"):format(message))
    return 1
  end
  if profile.message then
    world.err(("asamp view: '%s': %s; %s\n"):format(
      options.file, profile.message,
      profile.samples + profile.timesamples > 0
      and "the page shows what could be read" or "no sample could be read"))
  end
  if profile.samples + profile.timesamples == 0 and not profile.complete then
    return 1
  end
  local columns = data.of(profile, {nodes = options.nodes})
  columns.sources = sources.of(columns, options.folders)
  local pieces = page.fill(template, columns)
  local ok, reason = write(options.out, pieces, world)
  if not ok then
    world.err(("asamp view: %s\n"):format(reason))
    return 1
  end
  if options.out ~= "-" then
    world.out(("%s: %s; open it in a browser\n"):format(
      options.out, units.bytes(size(pieces))))
  end
  return 0
end

return M
