-- SPDX-License-Identifier: MIT
-- The command `asamp view`: converts a profile, or two to compare, to one HTML page.

local compare = require "asamp.sums.compare"
local compared = require "asamp.show.page.compared"
local convert = require "profiler.convert"
local data = require "asamp.show.page.data"
local files = require "asamp.cli.sources"
local host = require "asamp.host"
local layout = require "asamp.show.layout"
local options = require "asamp.cli.options"
local page = require "asamp.show.page.page"
local peak = require "asamp.show.page.peak"
local proof = require "asamp.sums.proof"
local proofs = require "asamp.show.page.proofs"
local proving = require "asamp.cli.proving"
local results = require "asamp.cli.results"
local slices = require "asamp.sums.slices"
local sources = require "asamp.show.page.sources"
local units = require "asamp.show.units"

local M = {}

-- Numbers of time slices with which the reader is called, in this order, until it drops no stack. The reader
-- drops stacks if there are too many stacks and slices.
local BINS = {256, 32, 1}

M.summary = "makes one HTML page: flame graph, call tree, lines, types, timeline"

local DESCRIPTION = {
  command = "view", arguments = "[OLD] FILE", most = 2,
  about = "Writes one HTML file that shows a profile in a browser: flame graph, call tree and tables. " ..
    "A timeline shows heap and collections, and lets you select a part of the run. " ..
    "The page needs no network and contains the source lines that it shows. " ..
    "FILE is a VMProf log, as for asamp report; - is standard input. " ..
    "With OLD, an earlier profile, the page starts with a flame graph coloured by the changes.",
  options.out("path of the page (default FILE.html, for two profiles FILE.diff.html). " ..
    "- is standard output, the default if the profile is read from standard input"),
  options.sources("shows the source files in DIRS, folders separated by colons, " ..
    "and in the current folder; lines of other files are not shown"),
  {"nodes", "N", "keeps at most N nodes of the call tree (default 100000)",
    options.whole(1)},
}

function M.usage()
  return options.usage(DESCRIPTION)
end

--- Returns the HTML template into which `asamp view` inserts data: asamp/page.html in the folders of the
-- modules, or nil and a message if it was not built.
function M.template()
  local path = package.searchpath("asamp.page", (package.path:gsub("%.luac?", ".html")))
  local file = path and io.open(path, "rb")
  if not file then
    return nil, "this installation lacks the page (asamp/page.html); run make view in the source folder"
  end
  local text = file:read "a"
  file:close()
  return text
end

local function write(path, text, world)
  if path == "-" then
    world.out(text)
    return true
  end
  return convert.write(path, text)
end

-- Reads a profile with the largest number of time slices (BINS) for which the reader drops no stack.
local function read(path, world)
  for i, bins in ipairs(BINS) do
    local profile, message = world.read(path, {bins = bins})
    if not profile or i == #BINS or slices.whole(profile) then
      return profile, message
    end
  end
end

-- Returns the comparison of the old profile with 'new', or nil and a message on failure.
local function readold(path, new, world, warn)
  local old, message = world.read(path)
  if not old then
    return nil, message
  end
  warn.partial(path, old.message, old.samples + old.timesamples, "only the readable part is compared")
  local found = compared.of(old, new)
  if not found then
    for _, profile in ipairs{old, new} do
      if profile.samples + profile.timesamples == 0 then
        return nil, ("'%s' has no samples; profile again with a smaller --alloc"):format(profile.path)
      end
    end
    return nil, ("'%s' and '%s' have nothing in common to compare%s"):format(
      path, new.path, ": " .. (compare.clocks(old, new) or
        "one has only allocation samples, the other only time samples"))
  end
  return found
end

-- Returns the proofs of the profile's likely leaks: sentences about the bytes that would be freed without the
-- reference that keeps them alive (asamp.show.page.proofs). Returns nil if the profile has no likely leaks or
-- is not a regular file, or if no heap snapshot of the same process can be read. 'world': input and output
-- (asamp.lua).
local function proofsof(profile, path, world)
  local judged = host.isfile(path) and proofs.verdict(profile)
  local snapshot = judged and proving.find(profile)
  local heap = snapshot and host.samefile(snapshot, snapshot) and
    proving.open(snapshot, path, world.progress)
  if not heap then
    return nil
  end
  local version, pid = convert.version(path)
  local same = version and pid == heap:info().pid
  if same then
    proof.add(heap, judged)
  end
  heap:close()
  return same and proofs.of(judged, snapshot) or nil
end

-- Writes the HTML page of a profile. Returns the page's text and a list of messages for stderr. On failure
-- returns nil and such a list, which is empty if the error was printed already.
--
--   - path, out: paths of the profile and of the page
--   - o: options of the command
--   - world: input and output (asamp.lua)
--   - warn: functions that report errors (asamp.cli.complaints)
local function make(path, out, o, world, warn)
  local oldpath = o.files[2] and o.files[1]
  local template, missing = M.template()
  if not template then
    return nil, {missing}
  end
  local profile, message = read(path, world)
  if not profile then
    return nil, {message}
  end
  local n = profile.samples + profile.timesamples
  warn.partial(path, profile.message, n, "the page shows only the readable part")
  if n == 0 and not profile.complete then
    return nil, {}
  end
  local time = host.isfile(path) and peak.time(profile) or nil
  local columns = data.of(profile, {nodes = o.nodes or 100000, peak = time and world.read(path, {at = time})})
  if oldpath then
    columns.compared, message = readold(oldpath, profile, world, warn)
    if not columns.compared then
      return nil, {message}
    end
  end
  columns.leaks.proofs = proofsof(profile, path, world)
  local find, opened = files.finder(o.source or {}, profile.functions)
  columns.sources, columns.nosources = sources.of(columns, find)
  columns.reasons = sources.WHY
  local notes = {sources.summary(columns, columns.nosources)}
  notes[#notes + 1] = files.changed(opened, profile.started)
  for _, text in ipairs(notes) do
    columns.notes[#columns.notes + 1] = text:gsub("^n", "N") .. "."
  end
  local text = page.fill(template, columns)
  local ok, reason = write(out, text, world)
  return ok and text, ok and notes or {reason}
end

M.run = options.command(DESCRIPTION, function(o, world, warn)
  local path = o.files[#o.files]
  local out = o.out or path == "-" and "-" or path .. (o.files[2] and ".diff.html" or ".html")
  for _, file in ipairs(o.files) do
    local code = results.refuse(warn, out, o.out, file, "a page of asamp view")
    if code then
      return code
    end
  end
  local twice = o.files[2] and options.twice(o.files)
  if twice then
    return warn.wrong("%s", twice)
  end
  local text, messages = make(path, out, o, world, warn)
  if text and out ~= "-" then
    world.out(("%s: %s; open it in a browser\n"):format(layout.printable(out), units.bytes(#text)))
  end
  for _, message in ipairs(messages) do
    warn.failed("%s", message)
  end
  return text and 0 or 1
end)

return M
