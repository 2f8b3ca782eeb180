-- SPDX-License-Identifier: MIT
-- The command `asamp heap`: reads its arguments and a snapshot of a heap, asks
-- profiler.heap for what is wanted, and hands that to a renderer.

local complaints = require "asamp.cli.complaints"
local heap = require "profiler.heap"
local holders = require "asamp.sums.holders"
local host = require "asamp.host"
local json = require "asamp.show.json"
local layout = require "asamp.show.layout"
local options = require "asamp.cli.options"
local page = require "asamp.show.heappage"
local show = require "asamp.show.heap"

local M = {}

M.summary = "who holds what: a snapshot of a heap, by class and holder"

local DESCRIPTION = {
  command = "heap", arguments = "FILE",
  about = "Reads a snapshot that profiler.snapshot(path) has written: all objects that " ..
    "could be reached, and what held them. 'retained' is what would go if the object " ..
    "went. Without options: by class, and by holder as a tree.",
  {"held-by", "CLASS", "the paths that hold the objects of this class (table, string, " ..
    "function, ... or the name of a metatable), merged, with shares"},
  {"paths", nil, "the single objects that retain most, each with its shortest path " ..
    "(with --held-by: those of the class)"},
  {"diff", "OLD", "what is new, gone and grown since the snapshot OLD of the same " ..
    "process, by class; and what holds the new ones"},
  {"least", "PERCENT", "rows of a tree that are smaller are left out (default 1)",
    options.number(0, 100)},
  {"page", "FILE", "the same as a page for a browser, into FILE"},
  options.TOP,
  options.WIDTH,
  options.COLOR,
  options.JSON,
}
M.usage = options.usage(DESCRIPTION)

local function read(path, world, tell)
  local bar, finish = world.progress("reading " .. path:match "[^/]*$")
  local h, message = heap.open(path, bar)
  finish()
  if not h then
    tell.failed("%s", message)
  end
  return h
end

local function held(h, query, name)
  local rows, totals = h:heldby(query)
  if not rows then
    return nil
  end
  return {name = name, rows = rows, totals = totals, leaves = holders.leaves(rows)}
end

local function compare(h, old, path, least)
  local classes = h:compare(old)
  local change = 0
  for _, row in ipairs(classes) do
    row.change = row.newbytes - row.gonebytes + row.grown
    change = change + row.change
  end
  table.sort(classes, function(a, b)
    if a.change ~= b.change then
      return a.change > b.change
    end
    return a.name < b.name
  end)
  return {from = path, classes = classes, change = change,
          held = held(h, {new = true, least = least}, "New")}
end

-- What was asked for; nil when that cannot be, which is told.
local function parts(h, o, world, tell)
  local info = h:info()
  local share = (o.least or 1) / 100
  local least = math.ceil(info.bytes * share)
  local p = {info = info}
  info.taken = info.time > 0 and os.date("!%Y-%m-%d %H:%M:%S UTC", info.time) or nil
  if o["held-by"] then
    local class = o["held-by"]
    p.heldby = held(h, {class = class, least = 0, most = 20000}, class)
    if not p.heldby then
      local names = {}
      for i, row in ipairs(h:classes()) do
        names[i] = row.name
      end
      local near = options.nearest(class, names)
      tell.failed("no object is of the class '%s'%s", layout.clean(class),
        near and (", did you mean %s?"):format(near) or "")
      return nil
    end
  end
  if o.paths then
    p.paths = h:objects{class = o["held-by"], n = o.top or 15}
  end
  if o.diff then
    local old = read(o.diff, world, tell)
    if not old then
      return nil
    end
    p.diff = compare(h, old, o.diff, least)
    old:close()
  end
  if not (o["held-by"] or o.paths or o.diff) then
    p.classes = h:classes()
    p.tree, p.totals = h:tree{least = least}
  end
  return p
end

local function writepage(o, p, world, tell)
  local file, message = io.open(o.page, "wb")
  local ok = file and file:write(page.render(p, o.files[1]:match "[^/]*$"))
  if file then
    ok = file:close() and ok
  end
  if not ok then
    return tell.failed("cannot write '%s': %s", o.page, message or "no space")
  end
  world.out(o.page .. "\n")
  return 0
end

--- Runs the command. 'world': see asamp.lua. Returns the exit code.
function M.run(args, world)
  local o, code = options.parse(DESCRIPTION, args, world)
  if not o then
    return code
  end
  local tell = complaints.of("heap", world)
  if o.page and (host.samefile(o.page, o.files[1]) or o.diff and host.samefile(o.page, o.diff)) then
    return tell.wrong("--page '%s' is a snapshot that is read, give another name", o.page)
  end
  local h = read(o.files[1], world, tell)
  local p = h and parts(h, o, world, tell)
  if not p then
    return 1
  end
  if o.page then
    return writepage(o, p, world, tell)
  elseif o.json then
    for _, object in ipairs(p.paths or {}) do
      object.text = holders.text(object.path)
    end
    json.write(p, world.out)
    return 0
  end
  world.out(show.render(p, {paint = layout.painter(options.color(o, world)),
    width = o.width or world.columns or layout.WIDTH, top = o.top or 15,
    least = (o.least or 1) / 100}))
  return 0
end

return M
