-- SPDX-License-Identifier: MIT
-- The command `asamp heap`: reads a heap snapshot, queries it through profiler.heap and prints
-- the result.

local answers = require "asamp.cli.answers"
local client = require "asamp.cli.client"
local files = require "asamp.cli.sources"
local convert = require "profiler.convert"
local heap = require "profiler.heap"
local holders = require "asamp.sums.holders"
local host = require "asamp.host"
local json = require "asamp.show.json"
local layout = require "asamp.show.layout"
local options = require "asamp.cli.options"
local leaks = require "asamp.sums.leaks"
local order = require "asamp.sums.order"
local page = require "asamp.show.heappage"
local proof = require "asamp.sums.proof"
local show = require "asamp.show.heap"
local source = require "asamp.show.source"
local totals = require "asamp.sums.totals"
local units = require "asamp.show.units"
local verdict = require "asamp.sums.verdict"

local M = {}

local OBJECTS = 50   -- limit of objects in the HTML file of --page
local LINE = 300     -- limit of a source line in the HTML file of --page, in bytes

M.summary = "reads heap snapshots: objects by class, line and holder"

local DESCRIPTION = {
  command = "heap", arguments = "FILE|" .. client.ARGUMENT,
  about = "Reads a snapshot of all objects and references, which profiler.snapshot(path) has written. " ..
    "'retained' is the memory that would become free if the object were removed. " ..
    "Without options, shows the objects by class, and the sampled objects by allocating line. " ..
    "Also shows a tree of holders, the objects that keep others alive. " ..
    "For a process that listens (ASAMP=listen), first takes a snapshot of the process.",
  {"out", "OUT", "path of the snapshot of a process (default PID.heap in the current folder)", short = "o"},
  {"state", "N", "takes the snapshot of the process's Lua state with the number N. " ..
    "The default is a state with at least twice the heap of any other, " ..
    "else the first state that runs a collection",
    options.whole(0)},
  {"wait", "TIME", "longest time to wait (default 10s): " ..
    "the snapshot is taken at the end of the process's next collection", options.duration},
  {"held-by", "WHAT", "shows the references that keep the objects of a class or line alive. " ..
    "A class is table, string, function, ... or the name of a metatable; a line is app.lua:5. " ..
    "Prints paths of references from a root. Equal paths are merged, with their share of the objects"},
  {"paths", nil, "shows the objects that retain most memory, each with the shortest path to it. " ..
    "With --held-by, shows only objects of that class"},
  {"prove", "PROFILE", "measures how many bytes would be freed without the reference " ..
    "that causes a likely leak. The likely leaks are those of PROFILE, a profile of the same run. " ..
    "Without PROFILE, measures the references that hold most sampled bytes", bare = ""},
  {"diff", "OLD", "shows objects that are new, gone or grown since the snapshot OLD of the process. " ..
    "Lists them by class and by line, and the holders of the new objects"},
  {"least", "PERCENT", "omits rows of a tree with less than this percentage of all bytes (default 1)",
    options.number(0, 100)},
  {"page", "FILE", "writes an HTML page to FILE instead of text, " ..
    "and adds the objects that retain most memory"},
  options.sources("shows the allocating source lines in --page. " ..
    "Source files are searched in the current folder and in DIRS, folders separated by colons"),
  options.TOP,
  options.WIDTH,
  options.COLOR,
  options.JSON,
}

function M.usage()
  return options.usage(DESCRIPTION)
end

local function read(path, world, warn)
  local bar, finish = world.progress("reading " .. path:match "[^/]*$")
  local h, message = heap.open(path, bar)
  finish()
  if not h and message:find "the file is not a heap snapshot$" then
    message = message .. (host.samefile(path, path .. "/.") and "; it is a folder" or
                          convert.version(path) and "; it is a profile, which asamp report reads" or
                          "; profiler.snapshot(path) and asamp heap PID write one")
  end
  if not h then
    warn.failed("%s", message)
  end
  return h
end

local OTHERS = 8  -- limit of the Lua states that a message lists

-- Returns a text about up to OTHERS Lua states of the process 'target': "3 'app.lua' (1.2M in use, 5
-- collections), ...", or nil if there are no others, or the process cannot list them. 'but': number of a
-- state that is omitted.
local function others(target, but)
  local fields = client.send(target, "states")
  local list = {}
  for _, row in ipairs(fields and fields.rows or {}) do
    if row.number ~= but and #list < OTHERS then
      list[#list + 1] = ("%d %s%s in use, %s)"):format(
        row.number, row.name ~= "" and "'" .. layout.clean(row.name) .. "' (" or "(unknown script, ",
        units.bytes(row.inuse), units.plural(row.collections, "collection"))
    end
  end
  return #list > 0 and table.concat(list, ", ") or nil
end

-- Returns the number of the Lua state that has at least twice as many bytes in use as any other state of the
-- process 'target', or nil if there is none.
local function largest(target)
  local fields = client.send(target, "states")
  local rows, list = fields and fields.rows or {}, {}
  for i, row in ipairs(rows) do
    list[i] = row
  end
  table.sort(list, function(x, y) return x.inuse > y.inuse end)
  return #list > 1 and list[1].inuse >= 2 * list[2].inuse and list[1].number or nil
end

-- Requests a snapshot, which a Lua state of the process writes at its next collection, and waits at most
-- 'seconds' for it. Without --state, any state may write the snapshot. The first state that runs a collection
-- is often a short-lived one. So the largest state is requested first, with half of the time, and then any
-- state. Returns the three results of client.send, and true if the largest state answered. 'out': path of the
-- snapshot.
local function request(target, o, out, seconds)
  local large = not o.state and seconds > 1 and largest(target)
  if large then
    local fields, _, late = client.send(target, ("heap %s %s"):format(large, out), seconds // 2)
    if fields then
      return fields, nil, nil, true
    end
    seconds = seconds - (late and seconds // 2 or 0)
  end
  return client.send(target, ("heap %s %s"):format(o.state or "-", out), seconds)
end

-- Takes a snapshot of a running process. Returns the snapshot's path, and {pid, uid} of the process that
-- writes it, or nil after an error message.
local function take(o, world, warn)
  local target = o.files[1]
  local seconds, late, large = o.wait or 10
  local fields, message = client.send(target, "stats")
  local out
  if fields then
    out, message = client.absolute(o.out or fields.pid .. ".heap")
    fields = out and fields
  end
  if out and host.samefile(out, out) and not host.isfile(out) then
    fields, message = nil, ("cannot write the snapshot '%s': a snapshot needs a regular file; " ..
      "give another path"):format(out)
  end
  if fields then
    fields, message, late, large = request(target, o, out, seconds)
  end
  if late then
    local rest = o.state and others(target, o.state)
    message = ("%s had no collection within %d s, so no snapshot was taken: " ..
      "a Lua state runs a collection only after enough allocations. --wait TIME waits longer%s"):format(
      o.state and ("state %d of '%s'"):format(o.state, target) or ("'%s'"):format(target), seconds,
      rest and "; --state N selects another state: " .. rest or "")
  end
  if not fields then
    warn.failed("%s", message)
    return nil
  end
  local rest = not o.state and fields.state and others(target, fields.state)
  if rest then
    world.err(("snapshot of Lua state %d, %s; --state N selects another: %s\n"):format(
      fields.state, large and "the largest" or "the first to run a collection", rest))
  end
  return fields.file, fields.peer
end

-- Waits up to a minute until the process 'peer' ({pid, uid}) has completed its snapshot 'path', prints the
-- path and reads the file. Returns the snapshot, or nil after an error message. A process that cannot
-- complete a snapshot removes the file.
local function await(path, peer, world, warn)
  local function open(how)
    return answers.reading(path, peer, how)
  end
  for i = 1, 600 do
    local h, message = open(heap.open)
    local unfinished = not h and message:find("still being written", 1, true)
    if not h and not host.samefile(path, path) then
      warn.failed("'%s' does not exist: the process could not write it; the reason is on its stderr", path)
      return nil
    -- Waits up to 5 s for a file without valid contents, because it may be empty at first.
    elseif h or not unfinished and i > 50 then
      break
    end
    host.pause(100)
  end
  world.err(layout.printable(path) .. "\n")
  local bar, finish = world.progress("reading " .. path:match "[^/]*$")
  local h, message = open(function(name) return heap.open(name, bar) end)
  finish()
  if not h then
    warn.failed("%s", message)
  end
  return h
end

-- Returns the paths of references that keep objects alive, or nil if no object matches the query.
--
--   - h: the snapshot
--   - query: selects the objects (heap:heldby)
--   - name: words for the objects, for the output
--   - share: omits rows of the tree with a smaller share of all bytes (0 to 1)
--
-- Fields of the result:
--
--   - name: the parameter
--   - rows: the paths, merged to a tree: a list of rows, each after its parent
--   - totals: sums of all objects, and the number of omitted rows
--   - leaves: the list of whole paths, also of omitted rows (holders.leaves)
local function held(h, query, name, share)
  query.least, query.most = 0, 20000
  local rows, sums = h:heldby(query)
  if not rows then
    return nil
  end
  local leaves = holders.leaves(rows)
  local kept = holders.atleast(rows, share * sums.value)
  sums.left = sums.left + #rows - #kept
  return {name = name, rows = kept, totals = sums, leaves = leaves}
end

local function sitesof(h, query)
  local list = h:sites(query)
  table.sort(list, order.by("-bytes", "site"))
  return list
end

-- Returns the numbers of the allocation sites of the snapshot h at a line such as "app.lua:5", or nil if
-- there is none. The file may be given by the last names of its path.
local function sitesat(h, text)
  local file, line = text:match "^(.*):(%d+)$"
  local list = {}
  for _, row in ipairs(file and h:sites{} or {}) do
    if row.line == tonumber(line) and (row.source == file or
        row.source:sub(-#file - 1) == "/" .. file) then
      list[#list + 1] = row.site
    end
  end
  return #list > 0 and list or nil
end

-- Compares the samples of the snapshots 'h' and 'old' by allocating line. Returns a list of rows, the largest
-- growth first. Fields of a row:
--
--   - name, source, line: the function, its file, and the line
--   - new, newbytes: number and bytes of new samples
--   - gone, gonebytes: number and bytes of freed samples
--   - change: newbytes minus gonebytes
local function comparesites(h, old)
  local list, known = {}, {}
  local function add(rows, samples, bytes)
    for _, row in ipairs(rows) do
      local key = ("%s\0%s\0%d"):format(row.name or "", row.source or "", row.line or 0)
      local to = known[key]
      if not to then
        to = {name = row.name, source = row.source, line = row.line, new = 0, newbytes = 0,
              gone = 0, gonebytes = 0}
        known[key], list[#list + 1] = to, to
      end
      to[samples], to[bytes] = to[samples] + row.samples, to[bytes] + row.bytes
    end
  end
  add(h:sites{new = true}, "new", "newbytes")
  add(old:sites{new = true}, "gone", "gonebytes")
  for _, row in ipairs(list) do
    row.change = row.newbytes - row.gonebytes
  end
  table.sort(list, function(a, b)
    if a.change ~= b.change then
      return a.change > b.change
    end
    return (a.source or "") .. (a.line or 0) < (b.source or "") .. (b.line or 0)
  end)
  return list
end

-- Returns the reason why a comparison of two snapshots is meaningless, or nil if none is known. 'info',
-- 'old': heap:info of both. Times are in whole seconds.
--
--   - "processes": the snapshots are of two processes
--   - "states": they are of two Lua states, or of two processes with the same id: the later one has allocated
--     less
--   - "before": 'old' is the later one
local function misfit(info, old)
  local later, more = info.time - old.time, info.allocated - old.allocated
  if info.pid ~= old.pid then
    return "processes"
  elseif later < 0 and more > 0 or later > 0 and more < 0 then
    return "states"
  end
  return (later < 0 or more < 0) and "before" or nil
end

local function compare(h, old, path, share)
  local classes = h:compare(old)
  local change = 0
  for _, row in ipairs(classes) do
    row.change = row.newbytes - row.gonebytes + row.grown
    change = change + row.change
  end
  table.sort(classes, order.by("-change", "name"))
  local info = old:info()
  return {from = path, pid = info.pid, misfit = misfit(h:info(), info), classes = classes,
          change = change, sites = comparesites(h, old),
          held = held(h, {new = true}, "New", share)}
end

-- Returns up to 'most' holders of sampled objects in the snapshot h, the largest first. A holder is the
-- container (a table with many elements) that keeps the objects alive, or the path of references to them if
-- there is no container. Fields of a holder, which asamp.sums.proof uses:
--
--   - holder: its path of references, as text
--   - bytes: bytes that the objects retain
--   - rows: {file, line, type = ""} for each allocation site of the snapshot; the same list for all holders
local function holdersof(h, most)
  local numbers, rows = {}, {}
  for _, site in ipairs(h:sites{}) do
    numbers[#numbers + 1] = site.site
    rows[#rows + 1] = site.source and {file = site.source, line = site.line, type = ""} or nil
  end
  local list, byholder = {}, {}
  for _, leaf in ipairs(holders.leaves((h:heldby{sites = numbers, least = 0, most = 20000}))) do
    local holder = holders.container(leaf.text)
    local group = byholder[holder]
    if not group then
      group = {holder = holder, bytes = 0, rows = rows}
      byholder[holder], list[#list + 1] = group, group
    end
    group.bytes = group.bytes + leaf.value
  end
  table.sort(list, order.by("-bytes", "holder"))
  return table.move(list, 1, math.min(most, #list), 1, {})
end

-- Computes with a heap snapshot how many bytes would be freed without each reference that keeps objects alive
-- (asamp.sums.proof). Returns a list of groups of objects. Each group has the fields 'proof' (result of
-- proof.of) and 'freed' (bytes). Returns nil after an error message.
--
--   - h: the snapshot
--   - path: a profile of the same run, whose likely leaks are the groups; "": the groups are the largest
--     holders in the snapshot (holdersof)
--   - most: limit of the number of holders if 'path' is ""
local function prove(h, path, most, world, warn)
  local groups
  if path == "" then
    groups = holdersof(h, most)
  else
    local profile, message = world.read(path, {bins = leaks.BINS})
    local version, pid = convert.version(path)
    if profile and version and pid ~= h:info().pid then
      profile, message = nil, ("'%s' is of process %d, but the snapshot is of process %d: " ..
        "give two files of the same run"):format(path, pid, h:info().pid)
    end
    if not profile then
      warn.failed("%s", message)
      return nil
    end
    groups = verdict.of(profile, totals.of(profile), leaks.of(profile)).leaks
  end
  for _, group in ipairs(groups) do
    group.proof = proof.of(h, group)
    group.freed = group.proof.freed or 0
  end
  if path == "" then
    table.sort(groups, order.by("-freed", "holder"))
  end
  return groups
end

-- Queries the snapshot h as the options 'o' request. Returns a table with the results, such as 'classes' or
-- 'heldby', or nil after an error message. 'old': snapshot of --diff, or nil.
local function parts(h, old, o, world, warn)
  local info = h:info()
  local share = (o.least or 1) / 100
  local p = {info = info}
  info.taken = info.time > 0 and os.date("!%Y-%m-%d %H:%M:%S UTC", info.time) or nil
  if o["held-by"] then
    local class = o["held-by"]
    p.heldby = held(h, {class = class}, class, share)
    if p.heldby then
      p.heldby.sites = sitesof(h, {class = class})
    else
      local at = sitesat(h, class)
      p.heldby = at and held(h, {class = class, sites = at}, class, share)
    end
    if not p.heldby then
      local names = {}
      for _, row in ipairs(h:classes()) do
        names[#names + 1] = row.count > 0 and row.name or nil
      end
      local near = options.nearest(class, names)
      warn.failed(class:find ":%d+$" and "no live sampled object was allocated at '%s'%s"
                  or "no object has the class '%s'%s", layout.clean(class),
        near and (", did you mean %s?"):format(near) or
        "; asamp heap without --held-by lists " .. (class:find ":%d+$" and "the lines" or "the classes"))
      return nil
    end
  end
  if o.paths then
    p.paths = h:objects{class = o["held-by"], n = o.top or 15} or {}
    if (o.top or 0) > heap.OBJECTS and #p.paths == heap.OBJECTS then
      warn.failed("--paths lists at most %d objects, those that retain most memory, not the %d of --top",
                  heap.OBJECTS, o.top)
    end
  end
  if o.page and not p.paths and not old and not o["held-by"] then
    p.paths = h:objects{n = OBJECTS} or {}
  end
  if o.prove then
    p.proofs = prove(h, o.prove, o.top or 15, world, warn)
    if not p.proofs then
      return nil
    end
    p.leaks = o.prove ~= ""
  end
  if old then
    p.diff = compare(h, old, o.diff, share)
  end
  if not (o["held-by"] or o.paths or o.diff or o.prove) then
    p.classes = h:classes()
    table.sort(p.classes, order.by("-retained", "name"))
    p.sites = sitesof(h, {})
    p.tree, p.totals = h:tree{least = math.ceil(info.bytes * share)}
  end
  return p
end

-- Returns two values:
--
--   1. a function that maps a file's name and a line number to the text of the line; it returns nil if it
--      cannot read the line
--   2. the list of the files that this function has read, for asamp.cli.sources.changed
--
-- Only files below 'folders' or the current folder are read. 'sites': allocation sites, by which a different
-- file of the same name is recognized.
local function linereader(folders, sites)
  local functions = {}
  for _, site in ipairs(sites) do
    functions[#functions + 1] = site.source and {file = site.source, line = site.defined or 0} or nil
  end
  local find, opened = files.finder(folders, functions)
  local cache = {}
  return function(name, line)
    if cache[name] == nil then
      local text = find(name)
      cache[name] = text and source.split(text) or false
    end
    local text = cache[name] and cache[name][line]
    return text and text:match "^%s*(.-)%s*$":sub(1, LINE)
  end, opened
end

local function writepage(h, o, p, world, warn)
  local opened
  if o.source then
    p.lineof, opened = linereader(o.source, h:sites{})
  end
  local ok, message = convert.write(o.page, page.render(p, o.files[1]:match "[^/]*$", (o.least or 1) / 100))
  if not ok then
    return warn.failed("%s", message)
  end
  world.out(layout.printable(o.page) .. "\n")
  local changed = opened and files.changed(opened, p.info.time)
  if changed then
    warn.failed("%s", changed)
  end
  return 0
end

M.run = options.command(DESCRIPTION, function(o, world, warn)
  if o.page and (host.samefile(o.page, o.files[1]) or o.diff and host.samefile(o.page, o.diff)) then
    return warn.wrong("--page '%s' is an input snapshot; give another name", o.page)
  elseif o.page and o.json then
    return warn.wrong("--page and --json cannot be combined: run asamp heap once for each")
  end
  if o.source and not o.page then
    return warn.wrong("--source needs --page FILE")
  end
  for _, name in ipairs{"out", "state", "wait"} do
    if o[name] and not client.isprocess(o.files[1]) then
      return warn.wrong("--%s is only for a running process, but '%s' is a file", name, o.files[1])
    end
  end
  -- The file of --diff is read before a new snapshot is taken, so that a wrong file costs no time.
  local old = o.diff and read(o.diff, world, warn)
  if o.diff and not old then
    return 1
  end
  local h
  if client.isprocess(o.files[1]) then
    local path, peer = take(o, world, warn)
    h = path and await(path, peer, world, warn)
  else
    h = read(o.files[1], world, warn)
  end
  local p = h and parts(h, old, o, world, warn)
  if not p then
    return 1
  end
  if o.page then
    return writepage(h, o, p, world, warn)
  elseif o.json then
    for _, object in ipairs(p.paths or {}) do
      object.text = holders.text(object.path)
    end
    json.write(p, world.out)
    return 0
  end
  local style = options.style(o, world, 15)
  style.least = (o.least or 1) / 100
  world.out(layout.screen(show.render(p, style), options.color(o, world)))
  return 0
end)

return M
