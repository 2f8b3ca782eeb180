-- SPDX-License-Identifier: MIT
-- The command `asamp view`: a profile in, one HTML page out. Reads its
-- arguments, the profile, source files and the page's template, has the page written.

local convert = require "profiler.convert"
local data = require "asamp.show.page.data"
local files = require "asamp.cli.sources"
local layout = require "asamp.show.layout"
local options = require "asamp.cli.options"
local page = require "asamp.show.page.page"
local results = require "asamp.cli.results"
local slices = require "asamp.sums.slices"
local sources = require "asamp.show.page.sources"
local units = require "asamp.show.units"

local M = {}

-- How many slices of time the page may have. Profiles with very many stacks get fewer.
local BINS = {256, 32, 1}

M.summary = "one HTML page: flame graph, call tree, lines, types, timeline"

local DESCRIPTION = {
  command = "view", arguments = "FILE",
  about = "Writes one HTML file that shows a profile in a browser: flame " ..
    "graph, call tree and tables by bytes, samples, survived bytes and time, " ..
    "with a timeline of heap and collections to select from. The page needs " ..
    "no network and holds the source lines that it shows. FILE is a VMProf " ..
    "log, as for asamp report; - is standard input.",
  options.out("the page (default FILE.html; - is standard output, and the " ..
    "default for standard input)"),
  options.sources("folders, with colons between them, in which source " ..
    "files of relative names are looked for besides the current one; of no " ..
    "others are lines shown"),
  {"nodes", "N", "keep at most N nodes of the call tree (default 100000)",
    options.whole(1)},
}
M.usage = options.usage(DESCRIPTION)

--- The text of the page's template, which is where modules are, as asamp/page.html;
-- nil and what to do when it is not built.
function M.template()
  local path = package.searchpath("asamp.page", (package.path:gsub("%.lua", ".html")))
  local file = path and io.open(path, "rb")
  if not file then
    return nil, "the page is not built into this installation; run: make view"
  end
  local text = file:read "a"
  file:close()
  return text
end

-- Writes the text to 'path'; nil and a message when it cannot.
local function write(path, text, world)
  if path == "-" then
    world.out(text)
    return true
  end
  return convert.write(path, text)
end

-- The profile in as many slices of time as keep every stack.
local function read(path, world)
  for i, bins in ipairs(BINS) do
    local profile, message = world.read(path, {bins = bins})
    if not profile or i == #BINS or slices.whole(profile) then
      return profile, message
    end
  end
end

-- Makes the page of a profile. Returns its text, and a list of what stderr is to say of it;
-- nil when it cannot, and a list of the message, empty if the complaint has been made.
local function make(path, out, o, world, tell)
  local template, missing = M.template()
  if not template then
    return nil, {missing}
  end
  local profile, message = read(path, world)
  if not profile then
    return nil, {message}
  end
  local n = profile.samples + profile.timesamples
  tell.partial(path, profile.message, n, "the page shows what could be read")
  if n == 0 and not profile.complete then
    return nil, {}
  end
  local columns = data.of(profile, {nodes = o.nodes or 100000})
  local find, opened = files.finder(o.source or {})
  columns.sources, columns.nosources = sources.of(columns, find)
  columns.reasons = sources.WHY
  local told = {sources.told(columns, columns.nosources)}
  told[#told + 1] = files.changed(opened, profile.started)
  for _, text in ipairs(told) do
    columns.notes[#columns.notes + 1] = text:gsub("^n", "N") .. "."
  end
  local text = page.fill(template, columns)
  local ok, reason = write(out, text, world)
  return ok and text, ok and told or {reason}
end

--- Runs the command. 'world': see asamp.lua. Returns the exit code.
M.run = options.command(DESCRIPTION, function(o, world, tell)
  local path = o.files[1]
  local out = o.out or path == "-" and "-" or path .. ".html"
  local code = results.refuse(tell, out, o.out, path, "a page of asamp view")
  if code then
    return code
  end
  local text, messages = make(path, out, o, world, tell)
  if text and out ~= "-" then
    world.out(("%s: %s; open it in a browser\n"):format(layout.printable(out), units.bytes(#text)))
  end
  for _, message in ipairs(messages) do
    tell.failed("%s", message)
  end
  return text and 0 or 1
end)

return M
