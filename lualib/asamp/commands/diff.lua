-- SPDX-License-Identifier: MIT
-- The command `asamp diff`: reads two profiles, compares their totals (asamp.sums.compare) and
-- prints the result.

local changes = require "asamp.show.changes"
local compare = require "asamp.sums.compare"
local documents = require "asamp.show.documents"
local json = require "asamp.show.json"
local measures = require "asamp.sums.measures"
local layout = require "asamp.show.layout"
local options = require "asamp.cli.options"
local totals = require "asamp.sums.totals"

local M = {}

local ROWS = 15  -- rows of a table without --top

M.summary = "compares two profiles by function, line, type and class"

local DESCRIPTION = {
  command = "diff", arguments = "A B", least = 2, most = 2,
  about = "Compares two profiles: lists changes from A to B by function, line, type and class. " ..
    "The program may have been moved and edited between the profiles. " ..
    "Files are matched by the end of their paths, functions by their names and neighbours. " ..
    "Lines are matched by their distance from the start of their function. " ..
    "asamp view A B shows the same as a flame graph.",
  options.by("compares bytes, samples or time. " ..
    "survived: bytes that survived their first collection. alive: bytes alive at the end. " ..
    "Default: bytes and time if both files have them, and alive if that changed"),
  {"total", nil, "adds the bytes and time of called functions to the functions and lines that called them"},
  {"normalize", nil, "compares shares: multiplies the values of A so that both totals are equal"},
  {"sigma", "N", "number of standard errors below which a row's change counts as noise (default 3)",
    options.number(0, 100)},
  {"all", nil, "also shows rows whose change is noise, marked ~"},
  options.TOP,
  options.WIDTH,
  options.COLOR,
  options.JSON,
}

function M.usage()
  return options.usage(DESCRIPTION)
end

-- Reads a profile. Returns it and its totals, or nil after an error message if it has no samples.
local function load(path, world, warn)
  local profile, message = world.read(path)
  if not profile then
    warn.failed("%s", message)
    return nil
  end
  local n = profile.samples + profile.timesamples
  warn.partial(path, profile.message, n, "only the readable part is compared")
  if n == 0 then
    if not profile.message then
      warn.failed("'%s' has no samples; profile again with a smaller --alloc", path)
    end
    return nil
  end
  for _, left in ipairs(profile.left) do
    warn.failed("'%s': %s", path, left.text)
  end
  local t = totals.of(profile)
  -- The comparison does not need these data, which take much memory in large profiles.
  profile.nodes, profile.sites, t.self, t.sums = nil, nil, nil, nil
  profile.functions, profile.kinds, profile.lifeclasses = nil, nil, nil
  collectgarbage()  -- frees the garbage, up to 250 MB, before the next allocations
  return profile, t
end

-- Compares two profiles by each of the fields, such as "bytes". Returns a list of results of compare.of, one
-- for each field.
--
-- Without --by, the list has one more result: the comparison of the bytes (or samples) alive at the end,
-- which shows whether a leak was fixed. If these changed, this result is the first one. Otherwise it is the
-- last one, and its field 'head' is true: only its totals are shown.
--
-- pa, a: the old profile and its totals
-- pb, b: the new profile and its totals
-- o: options of the command
-- fields: list of fields of sums (fieldsof)
local function compared(pa, a, pb, b, o, fields)
  local settings = {sigma = o.sigma or 3, scaled = o.normalize, cumulative = o.total,
                    most = o.top or (o.json and documents.ROWS or ROWS)}
  local results = {}
  for i, field in ipairs(fields) do
    results[i] = compare.of(pa, a, pb, b, field, settings)
  end
  local alive = not o.by and compare.fieldof("alive", pa, a, pb, b)
  if alive then
    local result = compare.of(pa, a, pb, b, alive, settings)
    result.head = math.abs(result.b - result.a) <= settings.sigma * result.error or nil
    table.insert(results, result.head and #results + 1 or 1, result)
    for i = 2, result.head and 0 or #results do
      -- The holders are the same in all results, so only the first result shows them.
      results[i].holders = nil
    end
  end
  return results
end

-- Returns the list of the fields of sums by which two profiles can be compared, such as {"bytes", "time"}. If
-- there is none, returns an empty list, and a message that follows the names of both files.
--
-- by: value of --by, or nil
-- pa, a: the old profile and its totals
-- pb, b: the new profile and its totals
local function fieldsof(by, pa, a, pb, b)
  if not by then
    local fields = compare.fields(pa, a, pb, b)
    local clocks = compare.clocks(pa, pb)
    return fields, #fields == 0 and "have nothing in common to compare" ..
      (clocks and ": " .. clocks or "") or nil
  end
  local field, why = compare.fieldof(by, pa, a, pb, b)
  return {field}, not field and
    ("have no %s in common to compare%s"):format(
      measures.NAMES[measures.MEASURES[by]], why and ": " .. why or "") or nil
end

M.run = options.command(DESCRIPTION, function(o, world, warn)
  local pa, a = load(o.files[1], world, warn)
  local pb, b = load(o.files[2], world, warn)
  if not pa or not pb then
    return 1
  end
  local fields, wrong = fieldsof(o.by, pa, a, pb, b)
  if wrong then
    return warn.failed("'%s' and '%s' %s", pa.path, pb.path, wrong)
  end
  local results = compared(pa, a, pb, b, o, fields)
  if o.json then
    json.write(documents.diff(pa, pb, results, o.top), world.out)
    return 0
  end
  local color = options.color(o, world)
  world.out(layout.screen(changes.render(pa, pb, results, {
    top = o.top or ROWS, color = color,
    width = o.width or world.columns,
    all = o.all, sigma = o.sigma or 3, cumulative = o.total,
    clocks = not o.by and compare.clocks(pa, pb) or nil}), color))
  return 0
end)

return M
