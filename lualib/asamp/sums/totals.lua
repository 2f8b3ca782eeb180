-- SPDX-License-Identifier: MIT
-- Totals per function, line and type of a profile, as profiler.reader returns it.
--
--   - self: costs of a function or line itself: the samples whose innermost frame is the function, or whose
--     innermost Lua frame is at the line
--   - total: costs including callees: the samples with the function or line anywhere on their stack. Each
--     sample counts once
--
-- Both are sums. A sum has the following fields; a field that is not stored is 0. pairs() visits all of them,
-- next() only those that are stored:
--
--   - samples, bytes: all allocations
--   - survived, survivedbytes: survived their first collection
--   - later, laterbytes: survivors that died later
--   - alive, alivebytes: other survivors; 0 if the file does not record deaths
--   - undecided, undecidedbytes: allocations whose survival is unknown; 'undecidedbytes' only if the sampling
--     period was changed (measures.fate)
--   - objects: estimated number of blocks; 0: unknown
--   - timesamples: time, in sampling periods
--   - nativesamples, gcsamples: part of the time in C functions, and in collections
--   - timesquares: variance of timesamples
--   - bytesquares, survivedsquares, alivesquares: variances of bytes, only if the sampling period was changed
--     (measures.variance)

local measures = require "asamp.sums.measures"

local M = {}

local ALLOCATION = {"samples", "bytes", "survived", "survivedbytes",
                    "later", "laterbytes", "alive", "alivebytes", "undecided",
                    "undecidedbytes", "objects"}
local TIME = {"timesamples", "nativesamples", "gcsamples", "timesquares"}
local SQUARES = {"bytesquares", "survivedsquares", "alivesquares"}

-- A sum stores only its non-zero fields, which saves memory: there are many sums, and most fields are 0. Its
-- metatable provides the zeros.
local NOTHING = {}
for _, fields in ipairs{ALLOCATION, TIME, SQUARES} do
  for _, field in ipairs(fields) do NOTHING[field] = 0 end
end
local SUM = {__index = NOTHING, __pairs = function(sum)
  return function(_, field)
    field = next(NOTHING, field)
    return field, sum[field]
  end
end}

local function zero()
  return setmetatable({}, SUM)
end

function M.iscollection(fn)
  return fn.native and
         (fn.name == "[minor collection]" or fn.name == "[major collection]")
end

--- Returns true for the frame that represents callers that tail calls have removed.
function M.istailcalls(fn)
  return fn.native and fn.name == "(tail call)"
end

-- {== sums of call tree nodes: one list for each field, indexed by node ======

local function zeros(n)
  local list = {}
  for i = 1, n do
    list[i] = 0
  end
  return list
end

local function addcolumns(to, sums, node)
  for _, field in ipairs(sums.fields) do
    local n = sums[field][node]
    if n ~= 0 then
      to[field] = to[field] + n
    end
  end
end

-- Calls add(field, n) for each field of a sum to which a time sample contributes. The function that was
-- running determines whether this is time of a collection or of C code, even if asamp.sums.owned has charged
-- the sample to one of its callers.
--
-- i: number of the sample's site in profile.sites
local function addtime(profile, i, add)
  local sites = profile.sites
  local node = (sites.leaf or sites.node)[i]
  local n = sites.time and sites.time[i] or sites.samples[i]
  local fn = node > 0 and profile.functions[profile.nodes.fn[node]]
  add("timesamples", n)
  add("timesquares", sites.timesquares and sites.timesquares[i] or n)
  if fn and M.iscollection(fn) then
    add("gcsamples", n)
  elseif fn and fn.native then
    add("nativesamples", n)
  end
end

-- Calls add(field, n) for each field of a sum to which the allocation samples of a site contribute.
--
-- i: number of the site in profile.sites
-- columns: fields that are summed (columnsof)
local function addallocations(profile, i, columns, add)
  local sites = profile.sites
  for k = 1, #columns do
    local field = columns[k]
    local n = sites[field][i]
    if n > 0 then
      add(field, n)
    end
  end
  if columns.deaths then
    local survived = sites.survived[i]
    if survived > 0 then
      local later = sites.later
      add("alive", survived - (later and later[i] or 0))
      add("alivebytes", sites.survivedbytes[i] - (later and sites.laterbytes[i] or 0))
      if sites.bytesquares then
        add("alivesquares", math.max(0, sites.survivedsquares[i] - sites.latersquares[i]))
      end
    end
  end
end

-- Returns the list of the fields of profile.sites that are summed. Its field 'deaths' is true if the profile
-- records when survivors died; then fields about live samples are summed, too.
local function columnsof(profile)
  local columns = {deaths = measures.hasdeaths(profile)}
  for _, list in ipairs{ALLOCATION, SQUARES} do
    for _, field in ipairs(list) do
      local needed = field ~= "undecidedbytes" or (profile.periods or 0) > 0 or profile.uneven
      columns[#columns + 1] = needed and profile.sites[field] and field or nil
    end
  end
  return columns
end

-- Sums all samples. Returns three values:
--
--   1. sums by call tree node, in columns: {[field] = list by node, fields = list of the fields}
--   2. map from each kind of block to the sum of its samples
--   3. the sum of all samples
--
-- covered: set of nodes whose samples count; nil: all
local function sumsites(profile, covered)
  local itself, kinds, whole = {fields = {}}, {}, zero()
  local columns, n = columnsof(profile), #profile.nodes.parent
  local node, kindsum
  local function add(field, amount)
    if amount <= 0 then
      return
    end
    local column = itself[field]
    if not column then
      column = zeros(n)
      itself[field] = column
      itself.fields[#itself.fields + 1] = field
    end
    if node > 0 then
      column[node] = column[node] + amount
    end
    kindsum[field] = kindsum[field] + amount
    whole[field] = whole[field] + amount
  end
  for i, at in ipairs(profile.sites.node) do
    if not covered or covered[at] then
      local kind = profile.kinds[profile.sites.kind[i]]
      kindsum = kinds[kind]
      if not kindsum then
        kindsum = zero()
        kinds[kind] = kindsum
      end
      node = at
      if kind.time then
        addtime(profile, i, add)
      else
        addallocations(profile, i, columns, add)
      end
    end
  end
  return itself, kinds, whole
end

-- Returns the sums of each call tree node with its callees, in a table of the same form as 'itself'.
--
-- parent: map from each node to its caller, which has a lower number
-- itself: sums without callees (first result of sumsites)
local function sumtrees(parent, itself)
  local sums = {fields = itself.fields}
  for _, field in ipairs(itself.fields) do
    local list = table.move(itself[field], 1, #parent, 1, {})
    for i = #parent, 1, -1 do
      local up = parent[i]
      if up ~= 0 then
        list[up] = list[up] + list[i]
      end
    end
    sums[field] = list
  end
  return sums
end

-- ==}

-- {== rows ==================================================================

-- Visits a call tree without recursion. For every node, calls enter(node) before its children are visited,
-- and leave(node) after that. parent: map from each node to its caller.
local function walk(parent, enter, leave)
  local first, nextone = {}, {}
  for i = #parent, 1, -1 do
    nextone[i] = first[parent[i]]
    first[parent[i]] = i
  end
  local node = first[0]
  while node do
    enter(node)
    local child = first[node]
    while not child and node ~= 0 do
      leave(node)
      child = nextone[node]
      node = child and node or parent[node]
    end
    node = child
  end
end

-- Sets the fields 'self' and 'total' of each row to empty sums. To save memory, both are the same table if no
-- node of the row has children.
--
-- parent: map from each call tree node to its caller
-- rowof: map from each node to its row
local function addsums(rows, parent, rowof)
  local called = {}
  for _, up in ipairs(parent) do
    called[rowof[up] or 0] = true
  end
  for _, row in ipairs(rows) do
    row.self = zero()
    row.total = called[row] and zero() or row.self
  end
end

-- Adds each sample to the field 'total' of the rows (functions or lines) on its stack. It is added only once
-- to a row, even if a function calls itself.
--
-- parent: map from each call tree node to its caller
-- sums: values of each node with its callees (sumtrees)
-- rowof: map from each node to its row; nil: none
local function addtotals(parent, sums, rowof)
  local depth = {}  -- map from a row to the number of its frames on the current stack
  walk(parent, function(node)
    local row = rowof[node]
    if row and row.total ~= row.self then
      if not depth[row] or depth[row] == 0 then
        depth[row] = 0
        addcolumns(row.total, sums, node)
      end
      depth[row] = depth[row] + 1
    end
  end, function(node)
    local row = rowof[node]
    if row and row.total ~= row.self then
      depth[row] = depth[row] - 1
    end
  end)
end

local function functions(profile, itself, sums)
  local rows, rowof = {}, {}
  local nodes = profile.nodes
  for f, fn in ipairs(profile.functions) do
    rows[f] = {name = fn.name, file = fn.file, line = fn.line,
               native = fn.native}
  end
  for i, f in ipairs(nodes.fn) do
    rowof[i] = rows[f]
  end
  addsums(rows, nodes.parent, rowof)
  for i, row in ipairs(rowof) do
    addcolumns(row.self, itself, i)
  end
  addtotals(nodes.parent, sums, rowof)
  return rows
end

-- Returns the source lines of a profile. Four results:
--
--   1. a row for each line: {file, line, name, defined}; name and line of definition of the first function
--      found in the line
--   2. map from call tree node to the row of its line; nil: the node is a C function
--   3. map from call tree node to the row of the innermost Lua frame of its stack
--   4. set of the rows of lines with several functions, such as two closures
local function rowsoflines(profile)
  local rows, rowof, nearest, byfile = {}, {}, {}, {}
  local nodes, first, several = profile.nodes, {}, {}
  for i, f in ipairs(nodes.fn) do
    local fn = profile.functions[f]
    if fn.native then
      nearest[i] = nearest[nodes.parent[i]]
    else
      local oflines = byfile[fn.file] or {}
      local row = oflines[nodes.line[i]]
      if not row then
        row = {file = fn.file, line = nodes.line[i], name = fn.name,
               defined = fn.line}
        byfile[fn.file], oflines[row.line], first[row] = oflines, row, f
        rows[#rows + 1] = row
      end
      several[row] = several[row] or first[row] ~= f or nil
      rowof[i], nearest[i] = row, row
    end
  end
  return rows, rowof, nearest, several
end

-- Splits lines with several functions, such as two closures in one line, into one part for each function.
-- Three results:
--
--   1. the parts: a list of {row (of the line), name (of the function), defined (line of its definition)}
--   2. map from call tree node to the part of its function; nil: its line is not split
--   3. map from call tree node to the part of the innermost Lua frame of its stack; nil: its line is not
--   split
--
-- rowof: map from call tree node to the row of its line (rowsoflines)
-- several: set of the rows of lines with several functions
local function partsoflines(profile, rowof, several)
  local parts, partof, nearest, known = {}, {}, {}, {}
  local nodes = profile.nodes
  for i, f in ipairs(nodes.fn) do
    local row = rowof[i]
    if not row then
      nearest[i] = nearest[nodes.parent[i]]
    elseif several[row] then
      local of = known[row] or {}
      local part = of[f]
      if not part then
        local fn = profile.functions[f]
        part = {row = row, name = fn.name, defined = fn.line}
        known[row], of[f], parts[#parts + 1] = of, part, part
      end
      partof[i], nearest[i] = part, part
    end
  end
  return parts, partof, nearest
end

-- Names each line with several functions after the function that ranks first: sets the fields 'name' and
-- 'defined' of its row.
--
-- parts: the functions of these lines (partsoflines)
-- ismore: function(a, b) that returns true if part a ranks before part b
local function rename(parts, ismore)
  local best = {}
  for _, part in ipairs(parts) do
    local row = part.row
    if not best[row] or ismore(part, best[row]) then
      best[row] = part
      row.name, row.defined = part.name, part.defined
    end
  end
end

-- Returns rows for the stacks without a Lua frame. The row of such a stack represents its innermost C
-- function that is not a function of Lua's API. Adds these rows to 'nearest', a map from call tree node to
-- row (third result of rowsoflines).
local function rowsofc(profile, nearest)
  local nodes, rows, byfn = profile.nodes, {}, {}
  for i, f in ipairs(nodes.fn) do
    if not nearest[i] then
      local fn, row = profile.functions[f], byfn[f]
      local isapi = M.iscollection(fn) or fn.name:find "^luaL?B?_"
      row = isapi and nearest[nodes.parent[i]] or row
      if not row then
        row = {file = fn.file, line = 0, name = fn.name, defined = 0, native = true}
        byfn[f], rows[#rows + 1] = row, row
      end
      nearest[i] = row
    end
  end
  return rows
end

--- Returns the source lines of a profile. Three results:
--
--   1. a row for each line: {file, line, name (of the function in it), defined (line of its definition)}
--   2. map from call tree node to the row of its line; nil: the node is a C function
--   3. map from call tree node to the row of the innermost Lua frame of its stack
--
-- If a line has several functions, its row has the name of only one of them: the one that allocated most
-- bytes.
--
-- alive: true: the one with most live bytes at the end of the run is named instead
-- native: true: stacks without a Lua frame have a row, too: that of a C function, {file, line (0), name,
-- defined (0), native (true)}. It is in the first and in the third result
function M.linerows(profile, alive, native)
  local rows, rowof, nearest, several = rowsoflines(profile)
  if native then
    local added = rowsofc(profile, nearest)
    table.move(added, 1, #added, #rows + 1, rows)
  end
  if not next(several) then
    return rows, rowof, nearest
  end
  local parts, _, partof = partsoflines(profile, rowof, several)
  local sites = profile.sites
  alive = alive and sites.laterbytes and sites.survivedbytes
  for i, node in ipairs(sites.node) do
    local part = partof[node]
    if part then
      part.all = (part.all or 0) + sites.bytes[i] + sites.samples[i]
      part.alive = (part.alive or 0) + (alive and alive[i] - sites.laterbytes[i] or 0)
    end
  end
  rename(parts, function(a, b)
    if (a.alive or 0) ~= (b.alive or 0) then
      return (a.alive or 0) > (b.alive or 0)
    end
    return (a.all or 0) > (b.all or 0)
  end)
  return rows, rowof, nearest
end

-- Adds the costs of a profile to rows, which represent lines or the functions in lines. The field 'self' of a
-- row receives the samples whose innermost Lua frame is in the row. The field 'total' receives those with any
-- frame in the row.
--
-- itself, sums: values of each call tree node, without and with callees (sumsites, sumtrees)
-- rowof: map from each node to its row; nil: none
-- nearest: map from each node to the row of the innermost Lua frame of its stack
local function sumlines(profile, itself, sums, rows, rowof, nearest)
  addsums(rows, profile.nodes.parent, rowof)
  for i = 1, #profile.nodes.parent do
    if nearest[i] then
      addcolumns(nearest[i].self, itself, i)
    end
  end
  addtotals(profile.nodes.parent, sums, rowof)
end

local function lines(profile, itself, sums)
  if not profile.lines then
    return {}
  end
  local rows, rowof, nearest, several = rowsoflines(profile)
  sumlines(profile, itself, sums, rows, rowof, nearest)
  if not next(several) then
    return rows
  end
  local parts, partof, nearestpart = partsoflines(profile, rowof, several)
  sumlines(profile, itself, sums, parts, partof, nearestpart)
  for _, part in ipairs(parts) do
    local row = part.row
    part.row, row.functions = nil, row.functions or {}
    row.functions[#row.functions + 1] = part
  end
  return rows
end

-- Returns a row for each C function that allocates without a Lua frame on the stack (rowsofc). The field
-- 'self' of a row is the sum of the samples with such a stack.
--
-- itself: sums by call tree node (sumsites)
local function outside(profile, itself)
  local _, _, nearest = rowsoflines(profile)
  local known = {}
  for i in pairs(nearest) do
    known[i] = true
  end
  local rows = profile.lines and rowsofc(profile, nearest) or {}
  addsums(rows, profile.nodes.parent, {})
  for i = 1, #profile.nodes.parent do
    if nearest[i] and not known[i] then
      addcolumns(nearest[i].self, itself, i)
    end
  end
  return rows
end

-- Returns the field 'types' of M.of: a row for each type of allocated block. A row contains rows for the
-- classes of the type's objects, such as names of metatables. Adds numbers in the order of the file, so that
-- floating-point sums are reproducible.
--
-- kinds: map from a kind to the sum of its samples. A kind is a type, or a type with a class
local function types(profile, kinds)
  local rows, byname = {}, {}
  for _, kind in ipairs(profile.kinds) do
    local sum = kinds[kind]
    if sum and not kind.time then
      local row = byname[kind.name]
      if not row then
        row = {name = kind.name, self = zero(), blocks = 0, objects = 0,
               outside = 0, classes = {}}
        byname[kind.name] = row
        rows[#rows + 1] = row
      end
      for _, key in ipairs{"blocks", "objects", "outside"} do
        row[key] = row[key] + kind[key]
      end
      for field, n in next, sum do
        row.self[field] = row.self[field] + n
      end
      if kind.class then
        row.classes[#row.classes + 1] = {
          name = kind.class, self = sum, blocks = kind.blocks,
          objects = kind.objects, outside = kind.outside}
      end
    end
  end
  return rows
end

-- ==}

-- {== order =================================================================

local function order(field, key)
  local other = key == "total" and "self" or "total"
  return function(a, b)
    if a[key][field] ~= b[key][field] then
      return a[key][field] > b[key][field]
    elseif a[other] and a[other][field] ~= b[other][field] then
      return a[other][field] > b[other][field]
    elseif a.name ~= b.name then
      return a.name < b.name
    elseif a.file ~= b.file then
      return a.file < b.file
    end
    return (a.line or a.defined or 0) < (b.line or b.defined or 0)
  end
end

-- Returns the row of a line with the name of one of its functions: the one with the largest value
-- part[key][field], such as part.self.bytes. ('part': the function's element of row.functions.) If the name
-- changes, returns a copy of the row.
local function named(row, field, key)
  local list = row.functions
  if not list then
    return row
  end
  local best, comes = list[1], order(field, key)
  for i = 2, #list do
    if comes(list[i], best) then
      best = list[i]
    end
  end
  if best.name == row.name and best.defined == row.defined then
    return row
  end
  local new = {}
  for k, value in next, row do
    new[k] = value
  end
  new.name, new.defined = best.name, best.defined
  return new
end

--- Returns a new list of the rows whose total of 'field' is above 0, the largest first. A line with several
-- functions is named after the one with the largest value.
--
-- all: list of rows of M.of, such as its field 'lines'
-- field: field of sums, such as "bytes"
-- key: "self" (default): sorts by self, then by total; "total": sorts by total, then by self
function M.sorted(all, field, key)
  local rows = {}
  for _, row in ipairs(all) do
    if (row.total or row.self)[field] > 0 then
      rows[#rows + 1] = named(row, field, key or "self")
    end
  end
  table.sort(rows, order(field, all[1] and all[1].total and key or "self"))
  return rows
end

local function present(all, field)
  local rows = {}
  for _, row in ipairs(all) do
    if row.total.samples + row.total.timesamples > 0 then
      rows[#rows + 1] = named(row, field, "self")
    end
  end
  table.sort(rows, order(field, "self"))
  return rows
end

-- ==}

--- Computes the totals of a profile. 'whole', 'self' and 'total' are sums of samples. All lists have the
-- largest rows first.
--
--   - unit: "bytes", or "samples" if the file has no bytes
--   - measures: fields of sums that have values: the unit, and "timesamples"
--   - whole: the sum of all samples
--   - functions: rows {name, file, line, native, self, total}
--   - outside: rows for C functions that allocate without a Lua caller, in the form of 'lines'
--   - self: for each field of sums, the list of its values by call tree node, without callees
--   - sums: the same with callees
--   - lines: rows for source lines. Fields of such a row:
--     - file, line: path of the file, and number of the line
--     - name: function after which the line is named
--     - defined: line of definition of this function
--     - self, total: sums without and with callees
--     - functions: if the line has several functions: {name, defined, self, total} of each
--   - types: rows for the types of blocks. Fields of such a row:
--     - name, self: name of the type, and the sum of its samples
--     - blocks: number of sampled blocks
--     - objects: estimated number of blocks; 0: unknown
--     - outside: samples of blocks allocated outside the nursery
--     - classes: rows of this form for the classes of the type
--
-- options: {covered = {[node] = true}}: only samples with these stacks count; nil: all
function M.of(profile, options)
  local covered = options and options.covered
  local itself, kinds, whole = sumsites(profile, covered)
  local sums = sumtrees(profile.nodes.parent, itself)
  local unit = whole.bytes > 0 and "bytes" or "samples"
  local fields = {}
  for _, field in ipairs{unit, "timesamples"} do
    if whole[field] > 0 then
      fields[#fields + 1] = field
    end
  end
  local first = fields[1] or unit
  local t = {
    unit = unit, measures = fields, whole = whole, self = itself, sums = sums,
    types = M.sorted(types(profile, kinds), unit),
    functions = present(functions(profile, itself, sums), first),
    lines = present(lines(profile, itself, sums), first),
    outside = outside(profile, itself),
  }
  for _, row in ipairs(t.types) do
    row.classes = M.sorted(row.classes, unit)
  end
  return t
end

return M
