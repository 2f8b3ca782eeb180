-- SPDX-License-Identifier: MIT
-- The verdict on a profile, as facts: whether the heap grows, the line that allocates most and why, the
-- holder of most live bytes, the line with most time.

local births = require "asamp.sums.births"
local holders = require "asamp.sums.holders"
local order = require "asamp.sums.order"
local totals = require "asamp.sums.totals"
local trends = require "asamp.sums.trends"

local M = {}

-- Limits of statements of the verdict:
--
--   - FEW: the verdict has the reason why a line allocates if the line has 20 samples. Fewer samples are
--     enough if the reason is clear (isenough).
--   - FEWTIME: the verdict names the slowest line if there are 8 time samples. Fewer samples are enough if
--     they clearly show that C code or collections took much time (evident).
--   - LEASTTIME: the slowest line, too, needs 3 time samples to be named.
--   - SMALL: a growth of the heap by less than 12 sampling periods is called "small".
local FEW, FEWTIME, LEASTTIME, SMALL = 20, 8, 3, 12
-- A line with LEAST to FEW - 1 samples (8 to 19) has a reason only if its main type of block clearly has at
-- least half of its bytes. The test: if the type had only half of them, fewer than 1 of 20 profiles (RARELY)
-- would have at least the observed number of samples of this type.
local LEAST, RARELY = 8, 1 / 20
-- The verdict reports that collections take much time if they have at least 20% of the time samples
-- (SLOWGC), and at least as many as C code. In a profile with fewer than 100 time samples (CLEAR), this may
-- be chance. So the verdict also needs the evidence that it needs for fewer than FEWTIME samples, or this: if
-- collections took only a tenth of the time (USUALGC), fewer than 1 of 20 profiles (RARELY) would have at
-- least the observed number of their samples.
local SLOWGC, USUALGC, CLEAR = 1 / 5, 1 / 10, 100
-- Limits for profiles with fewer than FEWTIME time samples. The verdict reports that C code or collections
-- take much time in these cases:
--
--   - CHANCE: the number of their samples is too large for chance: fewer than 1 of 100 profiles would have
--     it.
--   - FEWGC, LONG: only for collections: they have at least 2 samples, and the pauses took at least 30% of
--     the run.
local CHANCE, FEWGC, LONG = 1 / 100, 2, 3 / 10
-- Limits of shares:
--
--   - WORTH: the verdict has a reason for lines that allocate at least 10% of all bytes.
--   - MOST: the reason is a type of block, such as "closures", if it has at least half of the line's bytes.
--   - LIVED: the reason is "kept" if more than half of the line's bytes survive.
--   - SLOW: fewer than FEWTIME time samples show that C code is slow if it clearly took at least 30% of the
--     time.
local WORTH, MOST, LIVED, SLOW = 1 / 10, 1 / 2, 1 / 2, 3 / 10
-- A line that mainly allocates vectors (array or hash parts of tables) has the reason "resized" if its
-- growing tables copied at least 2% of its allocated bytes. Fewer bytes may be copies of Lua's stack, which
-- table.unpack enlarges.
local REGROWN = 1 / 50
-- Strings are long if their mean size is at least 1 KiB. The verdict mentions lines that make long strings.
-- Such a line often builds each string from the previous one, and so copies the previous one each time.
local TEXT = 1024
local ENOUGH = 1000    -- number of samples that suffices to decide whether the heap grows
local LEASTPERIOD = 1024  -- a shorter sampling period, in bytes, would slow a program down
-- Samples were lost if those in the file represent less than 75% of the allocated bytes.
local KNOWN = 3 / 4
-- The verdict computes the growth of the heap from the collections in two quarters of the run. If the growth
-- is unknown although there were at least 16 collections, or ENOUGH samples, one of these quarters had none.
-- The program may have stopped the collector. Then the verdict recommends a longer run with collections,
-- because more samples would not help.
local FEWCOLLECTIONS = 16
local DECIDED = 100  -- if 100 samples or more have a known outcome and none survived, the heap is "level"
local HELDROWS = 5
-- A table may be constant although the tables that are its elements leak. This is assumed (isnested) if the
-- inner tables have at least 20 samples of objects from the second half of the run, and no sample of that
-- half is an element of the outer table.
local NESTED = 20
-- A leak whose holder has no elements is a chain, not a single table, if at least a fifth of its bytes are in
-- objects other than vectors (array or hash parts).
local NODES = 1 / 5

-- Sorts of blocks, for sentences such as "allocates closures": map from a type of block to its sort. The sort
-- of any other type is the type itself.
local SORTS = {["Lua closure"] = "closures", upvalue = "closures", string = "strings",
               ["table array part"] = "vectors", ["table hash part"] = "vectors", table = "tables",
               coroutine = "coroutines", stack = "coroutines", buffer = "buffers"}

-- Returns the probability that at least k of n samples have a property that each has with probability p.
local function tail(n, k, p)
  local sum, choose = 0, 1
  for i = 0, n do
    sum = sum + (i >= k and choose * p ^ i * (1 - p) ^ (n - i) or 0)
    choose = choose * (n - i) / (i + 1)
  end
  return sum
end

-- {== lines =================================================================

-- Returns true if a line has enough samples to name its main type of block as the reason for its allocation.
--
-- row: the line (alllines)
-- most: bytes of the main type: the type with most of the line's bytes
local function isenough(row, most)
  local n = row.samples
  return n >= FEW or n >= LEAST and tail(n, math.floor(n * most / row.bytes + 0.5), MOST) < RARELY
end

-- Returns the name of the C function that the innermost Lua function of a stack called, and true if it is a
-- function of the profiler. Returns nil if Lua code was running. 'node': the innermost frame of the stack.
local function calledfrom(profile, node)
  local nodes, found, own = profile.nodes, nil, nil
  while node > 0 do
    local fn = profile.functions[nodes.fn[node]]
    if not fn.native then
      return found, own
    end
    if not totals.iscollection(fn) then
      found, own = fn.name, fn.file:find "/profiler/core%.so$" ~= nil
    end
    node = nodes.parent[node]
  end
  return found, own
end

local function add(t, key, n)
  t[key] = (t[key] or 0) + n
end

local function largest(t)
  local best
  for key, n in pairs(t) do
    if not best or n > t[best] or n == t[best] and tostring(key) < tostring(best) then
      best = key
    end
  end
  return best, best and t[best] or 0
end

-- Returns three values, all without native memory: the lines of a profile, most allocated bytes first; the
-- bytes of all samples; the number of all samples. A line is a row of totals.linerows with these additional
-- fields:
--
--   - bytes, samples: bytes and samples that the line allocated
--   - survived: bytes that survived their first collection
--   - later: the part of 'survived' that died later
--   - sorts: map from a sort of block (SORTS) to bytes
--   - types: map from a class of objects, or from a type of block without a class, to bytes
--   - blocks: map from a sort of block to the estimated number of blocks
--   - called: map from the C functions that the line called to bytes; the key "" is Lua code
--
-- C functions without a Lua caller, such as the compiler, have rows if they together allocated half of all
-- bytes.
local function alllines(profile)
  local rows, _, nearest = totals.linerows(profile, false, true)
  local outside = 0
  local sites, all, samples = profile.sites, 0, 0
  for _, row in ipairs(rows) do
    row.bytes, row.samples, row.survived, row.sorts, row.called, row.types = 0, 0, 0, {}, {}, {}
    row.blocks, row.later = {}, 0
  end
  for i, node in ipairs(sites.node) do
    local kind, row = profile.kinds[sites.kind[i]], nearest[node]
    if not kind.time and kind.name ~= "native" then
      local bytes = sites.bytes[i]
      all, samples = all + bytes, samples + sites.samples[i]
      if row then
        row.bytes, row.samples = row.bytes + bytes, row.samples + sites.samples[i]
        outside = outside + (row.native and bytes or 0)
        row.survived = row.survived + sites.survivedbytes[i]
        row.later = row.later + sites.laterbytes[i]
        add(row.sorts, SORTS[kind.name] or kind.name, bytes)
        add(row.types, kind.class or kind.name, bytes)
        add(row.blocks, SORTS[kind.name] or kind.name, sites.objects and sites.objects[i] or 0)
        add(row.called, not row.native and calledfrom(profile, node) or "", bytes)
      end
    end
  end
  for i = #rows, 1, -1 do
    if rows[i].native and outside < MOST * all then
      table.remove(rows, i)
    end
  end
  table.sort(rows, order.by("-bytes", "file", "line"))
  return rows, all, samples
end

-- Returns the reason why a line allocates: a word for asamp.show.verdict, such as "closures". Returns nil if
-- the reason is unknown. Also sets the fields 'type', 'sort', 'calls', 'times' and 'long' of the row, which
-- M.of explains.
--
-- row: the line (alllines)
-- known: true: copies were sampled
-- copied: the line's row of asamp.sums.copies, or nil
local function reasonof(row, known, copied)
  local sort, most = largest(row.sorts)
  row.type, row.sort = largest(row.types), sort
  local called, by = largest(row.called)
  row.calls = called ~= "" and by >= MOST * row.bytes and called or nil
  if copied and copied.quadratic and copied.again >= row.bytes / 4 then
    row.times = copied.times
    return "quadratic"
  elseif not isenough(row, most) then
    return nil
  end
  local blocks = row.blocks[sort] or 0
  row.long = sort == "strings" and most >= TEXT * blocks and blocks > 0 and most / blocks or nil
  if row.survived > LIVED * row.bytes and not (row.long and row.later > LIVED * row.survived) then
    return "kept"
  elseif copied and sort == "vectors" and copied.grown >= REGROWN * row.bytes then
    return "resized"
  elseif most < MOST * row.bytes then
    return nil
  end
  return ({closures = "closures", strings = "strings", vectors = known and "tables", tables = "tables",
           coroutines = "coroutines"})[sort] or "others"
end

-- A line other than the largest one is listed only with one of these reasons, or with 25% of all bytes.
local STRONG = {quadratic = true, closures = true, resized = true, coroutines = true}

local function lines(profile, copies)
  if not profile.lines then
    return {}, profile.samples
  end
  local rows, all, samples = alllines(profile)
  local list = {}
  local function copied(row)
    for _, other in ipairs(copies and copies.lines or {}) do
      if other.line == row.line and other.file == row.file then
        return other
      end
    end
  end
  for i = 1, math.min(#rows, 10) do
    local row = rows[i]
    if row.bytes > 0 and row.bytes >= WORTH * all and (row.samples >= FEW or i == 1) then
      row.reason = reasonof(row, copies ~= nil, copied(row))
      row.share = row.bytes / all
      if i == 1 or #list < 3 and (STRONG[row.reason] or row.share >= 1 / 4) then
        list[#list + 1] = {file = row.file, line = row.line, name = row.name, native = row.native,
                           bytes = row.bytes, about = row.share * (profile.allocated or all),
                           samples = row.samples, share = row.share, type = row.type,
                           sort = row.sort, reason = row.reason, times = row.times,
                           calls = row.calls, few = not row.reason and row.samples < FEW,
                           long = row.reason == "strings" and row.long or nil,
                           survived = row.survived / math.max(row.bytes, 1)}
      end
    end
  end
  return list, samples
end

-- ==}

-- {== holders and leaks ========================================================

-- Returns a true value if a path of references leads through a coroutine. 'steps': text of the path or of its
-- end.
local function suspended(steps)
  return steps:find "stack of" or steps:find ", coroutine"
end

-- Finds the table that contains objects inside of coroutines: if a container holds coroutines, a local
-- variable of each coroutine may be a list, or a table with many keys, and this table may contain the
-- objects. Returns nil if there is no such table. Otherwise returns a table with three fields:
--
--   - of: path to the container of the coroutines (the parameter 'container')
--   - path: path to the table inside of the coroutine
--   - many: "list", or "keys" for a table with many keys
--
-- path: text of the path of references to the objects
-- container: text of the path to the container, the start of 'path'
-- rest: the end of 'path', after the step to the container's elements
local function incoroutine(path, container, rest)
  local inner, many = holders.container(rest)
  return many and suspended(inner) and
         {of = container, path = path:sub(1, #path - #rest) .. inner, many = many} or nil
end

-- Returns true if a table does not grow, but the tables inside of its elements do. Two conditions must be
-- met:
--
--   - At least NESTED samples from the second half of the run (by sampled bytes) are in the inner tables.
--   - No sample from that half is itself an element of the table.
--
-- Samples of vectors (array or hash parts) do not count.
--
-- holder: text of the path to the table, or nil
local function isnested(profile, holder)
  local h, alive, inside, start, last = profile.holders, profile.alive, 0, #(holder or "") + 1, 0
  for _, bin in ipairs(alive and alive.bin or {}) do
    last = math.max(last, bin)
  end
  local starting = holder and h and holders.starting(h, holder)
  local sorts = {}  -- by path: "element" of the table, "inner": in a table inside of an element, or "other"
  local function sortof(path)
    local rest = starting(path) and holders.pathtext(h, path):sub(start) or ""
    if rest:find(holders.ARROW, 1, true) ~= 1 then
      return "other"
    end
    local element = rest:sub(#holders.ARROW + 1)
    return not element:find(holders.ARROW, 1, true) and "element" or
           select(2, holders.container(element)) and "inner" or "other"
  end
  for i, path in ipairs(starting and alive and alive.path or {}) do
    if path > 0 and 2 * alive.bin[i] >= last and alive.vector[i] == 0 then
      sorts[path] = sorts[path] or sortof(path)
      if sorts[path] == "element" then
        return false
      end
      inside = inside + (sorts[path] == "inner" and alive.samples[i] or 0)
    end
  end
  return inside >= NESTED
end

-- Returns a word for the way in which a likely leak keeps its objects alive:
--
--   - "coroutines", "closures": suspended coroutines or closures refer to them
--   - "references": references of luaL_ref
--   - "list", "keys": a list, or a table with many keys
--   - "nested": tables inside of the elements of a list or table with many keys (isnested)
--   - "chain": other objects, such as the nodes of a linked list
--
-- May also change group.holder, the holder that the verdict names. If the objects are in a table that is a
-- local variable of coroutines (group.inner), and the coroutines do not leak themselves, this table becomes
-- the holder.
local function kindof(group, profile)
  local bytes, of = {}, 0
  for _, row in ipairs(group.rows) do
    add(bytes, SORTS[row.type] or row.type, row.keptbytes)
    of = of + row.keptbytes
  end
  if group.inner and group.inner.of == group.holder and not bytes.coroutines then
    group.holder, group.many, group.suspended = group.inner.path, group.inner.many, nil
  end
  if holders.NAMED[group.holder or ""] then
    return "keys"
  elseif group.suspended or (bytes.coroutines or 0) >= of / 5 then
    return "coroutines"
  elseif group.upvalues or (bytes.closures or 0) >= of / 5 then
    return "closures"
  elseif group.holder and group.holder:find("^reference of luaL_ref" .. (group.many and "$" or "")) then
    return "references"
  end
  -- A single growing table keeps vectors only; a chain also keeps its nodes, which are objects.
  local vector = of - (bytes.vectors or 0) < NODES * of and group.rows[1].type
  return group.many and isnested(profile, group.holder) and "nested" or
         group.many or vector == "table array part" and "list" or vector == "table hash part" and "keys" or
         "chain"
end

-- Returns the group of likely leaks to which a new holder belongs, or nil if there is none. A holder belongs
-- to a group if its path starts with the path of the group's holder, or the reverse. The holder with the
-- shorter path becomes the holder of the group.
--
-- Tables of modules, globals and references (holders.NAMED) are in no group, because their entries are
-- independent.
--
-- groups: list of the groups
-- holder: text of the path of references to the new holder
local function inside(groups, holder)
  for _, group in ipairs(groups) do
    local path = group.holder
    if path and holder and not holders.NAMED[path] and not holders.NAMED[holder] then
      if holder:sub(1, #path) == path then
        return group
      elseif path:sub(1, #holder) == holder then
        group.holder = holder
        return group
      end
    end
  end
end

-- Groups the lines that are likely to leak by the holder of their objects. Returns a list of groups, the one
-- with most bytes first. Fields of a group:
--
--   - holder: text of the path of references to the holder; nil: unknown
--   - kind: word for the way in which the holder keeps the objects, such as "list" or "closures" (kindof)
--   - bytes: bytes that the lines keep
--   - rows: the lines, as rows of asamp.sums.leaks
--
-- found: likely leaks (asamp.sums.leaks), or nil
local function leaksof(profile, found)
  local h, groups, byholder = profile.holders, {}, {}
  for _, row in ipairs(found and found.rows or {}) do
    local held = row.holders and row.holders[1]
    local holder, many, rest
    if held then
      holder, many, rest = holders.container(held.text)
    end
    if row.container and (not holder or holders.NAMED[row.container]) then
      holder, many, rest = row.container, holders.NAMED[row.container] and "keys", ""
    end
    local key = holder or "group " .. row.group
    local group = byholder[key] or not many and inside(groups, holder)
    if not group then
      group = {holder = holder, bytes = 0, rows = {}}
      byholder[key], groups[#groups + 1] = group, group
    end
    if many and group.table ~= group.holder then
      group.many, group.table = many, holder
    end
    group.bytes, group.rows[#group.rows + 1] = group.bytes + row.keptbytes, row
    if held then
      group.suspended = group.suspended or suspended(rest)
      group.inner = group.inner or incoroutine(held.text, holder, rest)
      group.upvalues = group.upvalues or rest:find "^upvalue"
    end
  end
  for _, group in ipairs(groups) do
    table.sort(group.rows, order.by("-keptbytes", "file", "line"))
    -- A row may have changed the group's holder to a shorter path than that of the table with many elements.
    group.many = group.table == group.holder and group.many or
                 h and group.holder and holders.elements(h, group.holder)
    group.kind = kindof(group, profile)
    group.many, group.table, group.suspended, group.upvalues, group.inner = nil, nil, nil, nil, nil
  end
  table.sort(groups, order.by("-bytes"))
  return groups
end

-- Merges the row of a holder into the row 'upper': adds its samples and bytes. If 'upper' is nil, appends the
-- row to the list 'kept' instead.
local function addto(upper, row, kept)
  if upper then
    upper.samples, upper.bytes = upper.samples + row.samples, upper.bytes + row.bytes
    upper.gone = upper.gone and row.gone
  else
    kept[#kept + 1] = row
  end
end

-- A holder has no row if it is inside another holder that itself keeps at least 4 times as many bytes.
local PART = 4

-- Adds the rows of small holders to the row of the large holder that contains them (PART). Returns the
-- remaining rows.
--
-- rows: rows of M.held
-- byholder: the same rows, by path
local function joined(rows, byholder)
  local own, kept = {}, {}
  for _, row in ipairs(rows) do
    own[row] = row.bytes
  end
  for _, row in ipairs(rows) do
    local above
    for at in row.text:gmatch("()" .. holders.ARROW) do
      local upper = byholder[row.text:sub(1, at - 1)]
      above = above or upper and own[upper] >= PART * own[row] and own[row] > 0 and upper or nil
    end
    addto(above, row, kept)
  end
  return kept
end

-- An object can be held by an entry of a table, such as cache["a"]. If a table has at least FEWENTRIES
-- entries whose rows have fewer than FEWSAMPLES samples each, one row for the table replaces these rows
-- (collected).
local FEWENTRIES, FEWSAMPLES = 4, 3

-- Finds tables with at least FEWENTRIES entries whose rows have fewer than FEWSAMPLES samples each. Replaces
-- these rows by one row for the table. If such tables are inside of each other, the innermost one has the
-- row. Returns the remaining rows.
--
-- rows: rows of M.held
-- byholder: the same rows, by path
local function collected(rows, byholder)
  local entries, counts, kept = {}, {}, {}
  local function tables(row, f)
    for at, entry in row.text:gmatch("()" .. holders.ARROW .. '(%["[^"]*"%])') do
      f(row.text:sub(1, at - 1), entry)
    end
  end
  for _, row in ipairs(rows) do
    tables(row.samples < FEWSAMPLES and row or {text = ""}, function(above, entry)
      local key = above .. "\0" .. entry
      counts[above] = (counts[above] or 0) + (entries[key] and 0 or 1)
      entries[key] = true
    end)
  end
  local inner = table.move(rows, 1, #rows, 1, {})
  -- Rows with longer texts are replaced first. So the row of an inner table has received all its rows before
  -- it is itself replaced.
  table.sort(inner, function(a, b)
    return #a.text > #b.text or #a.text == #b.text and a.text < b.text
  end)
  for _, row in ipairs(inner) do
    local to
    tables(row.samples < FEWSAMPLES and row or {text = ""}, function(above)
      to = not holders.NAMED[above] and counts[above] >= FEWENTRIES and above or to
    end)
    local upper = to and byholder[to] or to and {text = to, samples = 0, bytes = 0, gone = true}
    if upper then
      kept[#kept + 1] = not byholder[to] and upper or nil
      byholder[to] = upper
    end
    addto(upper, row, kept)
  end
  return kept
end

-- If more than 12 globals or modules each keep less than 5% of all bytes, one common row replaces theirs
-- (gathered).
local SMALLENTRY, ENTRIES = 1 / 20, 12

-- Replaces many small entries of package.loaded, _G or the registry by one row of that table (SMALLENTRY).
-- Returns the remaining rows.
--
-- rows: rows of M.held
-- byholder: the same rows, by path
-- all: bytes of all rows
local function gathered(rows, byholder, all)
  local tables, kept = {}, {}
  for _, row in ipairs(rows) do
    local table_ = row.bytes < SMALLENTRY * all and holders.ofentry(row.text)
    if table_ then
      tables[table_] = tables[table_] or {}
      table.insert(tables[table_], row)
    else
      kept[#kept + 1] = row
    end
  end
  for text, list in pairs(tables) do
    local own = #list > ENTRIES and (byholder[text] or {text = text, samples = 0, bytes = 0, gone = true})
    for _, row in ipairs(own and list or {}) do
      addto(own, row)
    end
    if not own then
      table.move(list, 1, #list, #kept + 1, kept)
    elseif not byholder[text] then
      kept[#kept + 1] = own
    end
  end
  return kept
end

-- Sets the field 'held' of groups of likely leaks: the bytes of all objects that the group's holder keeps
-- alive. The field is set only if at least half of these bytes were allocated without a known line. Otherwise
-- it stays nil, because the lines of the report explain most of the bytes.
--
-- groups: groups of likely leaks (leaksof)
local function holdings(profile, groups)
  local h = profile.holders
  if not h or #groups == 0 or births.stale(profile) then
    return
  end
  local _, _, nearest = totals.linerows(profile, true, true)
  for _, group in ipairs(groups) do
    local all, outside, starting = 0, 0, group.holder and holders.starting(h, group.holder)
    for i, path in ipairs(starting and h.path or {}) do
      if select(2, starting(path)) then
        all = all + h.bytes[i]
        outside = outside + (nearest[h.node[i]] and 0 or h.bytes[i])
      end
    end
    group.held = outside > 0 and 2 * outside >= all and all or nil
  end
end

-- Returns the set of the paths by which the last search for holders, at the end of the run, reached objects.
-- Returns nil if they are unknown.
local function reachedpaths(profile)
  local alive, set = profile.alive, {}
  for _, path in ipairs(alive and alive.path or {}) do
    set[path] = true
  end
  return next(set) and not births.stale(profile) and set or nil
end

--- Returns the list of the holders of the live bytes at the end of the profile, the largest first. Returns
-- nil if the file has no holders. A holder is the table with many elements, the tree or the chain that
-- contains the objects. Fields of a holder:
--
--   - text: path of references to the holder
--   - samples, bytes: live samples and bytes that it keeps
--   - share: its share of the bytes of all holders
--   - gone: true: an earlier search found this holder, but the search at the end did not. So its objects are
--     garbage that no collection has freed
--
-- The list itself has these fields:
--
--   - of: number of all holders
--   - bytes: bytes of all holders
--   - at: time in us of the last search for holders; nil: it was at the end (births.stale)
--
-- limit: largest number of rows; nil: all rows. With a limit, one row of a table also replaces many small
-- rows of its entries (collected, gathered).
function M.held(profile, limit)
  local h = profile.holders
  if not h then
    return nil
  end
  local texts, rows, byholder, all = {}, {}, {}, 0
  local stem, reached = holders.stems(h), reachedpaths(profile)
  for i, path in ipairs(h.path) do
    if path > 0 then
      texts[path] = texts[path] or holders.pathtext(h, holders.cut(h, path) or stem(path))
      local row = byholder[texts[path]]
      if not row then
        row = {text = texts[path], samples = 0, bytes = 0, gone = reached and true}
        byholder[row.text], rows[#rows + 1] = row, row
      end
      row.samples, row.bytes = row.samples + h.samples[i], row.bytes + h.bytes[i]
      row.gone = row.gone and not reached[path] or nil
      all = all + h.bytes[i]
    end
  end
  rows = joined(limit and collected(rows, byholder) or rows, byholder)
  rows = limit and gathered(rows, byholder, all) or rows
  table.sort(rows, order.by("-bytes", "-samples", "text"))
  local few = {of = #rows, bytes = all, at = births.stale(profile)}
  for i = 1, math.min(limit or #rows, #rows) do
    few[i] = rows[i]
    few[i].share = all > 0 and rows[i].bytes / all or nil
  end
  return few
end

-- ==}

-- {== time ==================================================================

-- Returns a map from a sort of time to its slowest line, the one with most time samples of this sort. The
-- sorts are "lua" (Lua code), "c" (C code) and "gc" (collections). The map has no line for a sort if its
-- slowest line has fewer than LEASTTIME samples. Fields of a line:
--
--   - file, line, name: the line's file, number and function
--   - calls: name of the C function that the line called; nil: it ran Lua code. If the sort is "gc", the only
--     name is luaB_collectgarbage, because any other function that allocates may cause a collection
--   - own: true: 'calls' is a function of the profiler
--   - n: time samples, in sampling periods
local function slowest(profile)
  local _, _, nearest = totals.linerows(profile)
  local sites, sums, byrow, best = profile.sites, {lua = {}, c = {}, gc = {}}, {}, {}
  for i, node in ipairs(sites.node) do
    local kind, row = profile.kinds[sites.kind[i]], nearest[node]
    if kind.time and row then
      local leaf = (sites.leaf or sites.node)[i]
      local fn = leaf > 0 and profile.functions[profile.nodes.fn[leaf]]
      local sort = totals.iscollection(fn) and "gc" or fn.native and "c" or "lua"
      local calls, own = calledfrom(profile, node)
      calls = (sort == "c" or sort == "gc" and calls == "luaB_collectgarbage") and calls or nil
      local key = ("%s %s"):format(sort, calls or "")
      byrow[row] = byrow[row] or {}
      local sum = byrow[row][key]
      if not sum then
        sum = {file = row.file, line = row.line, name = row.name, calls = calls, n = 0,
               own = sort == "c" and own or nil,
               forced = calls == "luaB_collectgarbage" and 1 or 0}  -- 1: preferred if 'n' is equal
        byrow[row][key] = sum
        table.insert(sums[sort], sum)
      end
      sum.n = sum.n + (sites.time and sites.time[i] or sites.samples[i])
    end
  end
  for sort, list in pairs(sums) do
    table.sort(list, order.by("-n", "-forced", "file", "line"))
    best[sort] = list[1] and list[1].n > LEASTTIME - 0.5 and list[1] or nil
  end
  return best
end

-- Returns "gc" or "c" if a few time samples are enough to show that collections, or C code, took much of the
-- time; else nil. 'whole': sum of all samples (totals).
local function evident(profile, whole)
  local n = math.floor(whole.timesamples + 0.5)
  local pauses = profile.course and profile.course.pauses
  if tail(n, whole.gcsamples, SLOWGC) < CHANCE or
     whole.gcsamples >= FEWGC and pauses and (profile.duration or 0) > 0 and
     pauses.total / 1e6 >= LONG * profile.duration then
    return "gc"
  end
  return tail(n, whole.nativesamples, SLOW) < CHANCE and "c" or nil
end

local function timeof(profile, t)
  local whole = t.whole
  local n = whole.timesamples
  if n == 0 then
    return nil
  end
  local time = {samples = n, c = whole.nativesamples / n, gc = whole.gcsamples / n,
                seconds = (profile.timeperiod or 0) > 0 and n * profile.timeperiod or nil}
  time.lua = math.max(0, 1 - time.c - time.gc)
  local few = n < FEWTIME and evident(profile, whole)
  if not few and n < FEWTIME or not profile.lines then
    return time
  end
  local at = slowest(profile)
  local c, lua = at.c and at.c.n or 0, at.lua and at.lua.n or 0
  local slowgc = time.gc >= SLOWGC and time.gc >= time.c and
                 (n >= CLEAR or evident(profile, whole) == "gc" or
                  tail(math.floor(n + 0.5), math.floor(whole.gcsamples + 0.5), USUALGC) < RARELY)
  time.sort = few or slowgc and "gc" or
              (c > lua or c == lua and time.c > time.lua) and "c" or "lua"
  time.at = at[time.sort]
  if time.at then
    time.at.share = time.at.n / n
  end
  return time
end

-- ==}

-- Returns the longest sampling period with which another run would have enough samples, in bytes. It is a
-- power of 2. Returns nil if it would be too short (LEASTPERIOD), or longer than half of the present period.
--
-- bytes: bytes that the run allocates
-- samples: number of samples that are enough
-- now: present period
local function finer(bytes, samples, now)
  local p = LEASTPERIOD
  while p * 2 * samples <= bytes do
    p = p * 2
  end
  return p * samples <= bytes and math.min(p, now // 4 * 2) >= p and p or nil
end

-- Returns the mean bytes per sample. They are more than profile.period if the samples per second were
-- limited.
local function periodof(profile)
  return math.max(profile.period or 0,
                  (profile.samples or 0) > 0 and (profile.bytes or 0) // profile.samples or 0)
end

-- Returns the bytes that the samples represent if many samples were lost; else nil.
local function lost(profile)
  local bytes = profile.bytes or 0
  return not profile.ring and not profile.profiles and profile.samples >= DECIDED and
         (profile.allocated or 0) * KNOWN > bytes and bytes or nil
end

-- Returns a word that says whether the heap grows:
--
--   - "grows": lines that are likely to leak are known
--   - "maybe": a container grew that may be a cache
--   - "level": it does not grow
--   - "small": it grows by less than SMALL sampling periods
--   - "lines": it grows, but no single line causes it
--   - "few": too few samples
--   - nil: unknown
--
-- found: likely leaks (asamp.sums.leaks), or nil
local function growthof(profile, found)
  local period_ = periodof(profile)
  if found and #found.rows > 0 then
    return "grows"
  elseif profile.own and profile.fates and profile.survived == 0 and
         profile.samples - profile.undecided >= DECIDED then
    return "level"
  elseif not found or not found.before then
    return profile.own and profile.fates and profile.samples > 0 and not profile.profiles and "few" or nil
  elseif found.maybe then
    return "maybe"
  elseif not found.grew then
    return "level"
  elseif found.after - found.before < SMALL * period_ then
    return "small"
  elseif not found.kept then
    return "lines"
  end
  return found.few and "few" or "lines"
end

--- Returns the verdict on a profile:
--
--   - growth: whether the heap grows, a word such as "grows" or "level" (growthof)
--   - before, after, maybe: fields of the result of asamp.sums.leaks
--   - few: field 'few' of that result, if 'growth' is "few"; else nil
--   - period: mean sampling period, bytes
--   - alloc: sampling period in bytes with which another run would show whether the heap grows; nil: none is
--     needed or known
--   - collections: true: more collections would show whether the heap grows, more samples would not
--   - lost: bytes that the samples represent, if many samples were lost; else nil
--   - trends: true: asamp.sums.trends has rows
--   - searched: when holders were last searched: "end", or us since the start; nil: never
--   - samples: number of samples, without native memory
--   - leaks: likely leaks, grouped by holder (leaksof); asamp.sums.proof adds 'proof' to a group
--   - held: the HELDROWS first rows of M.held
--   - lines: rows for the lines that allocated most. Fields of a row:
--     - file, line, name: the line's file, number and function
--     - native: true: a C function without a Lua caller
--     - bytes, samples: allocated by the line
--     - share: the line's share of all sampled bytes
--     - about: bytes of the line: 'share' times the exact number of allocated bytes; if that is unknown, the
--       same as 'bytes'
--     - survived: share of the line's bytes that survived
--     - type, sort: type and sort of block with most bytes
--     - reason: why the line allocates, a word such as "closures" (reasonof)
--     - times: how often each byte was copied
--     - calls: the C function that allocates
--     - few: true: the line has too few samples for a reason
--     - long: mean bytes of a string, if at least TEXT
--   - time: use of time; nil: the profile has no time samples. Fields of 'time':
--     - samples: number of time samples, in sampling periods
--     - seconds: time that they represent; nil: unknown
--     - lua, c, gc: shares of Lua code, C code and collections
--     - sort: the sort of time to reduce: "lua", "c" or "gc"; nil: too few samples
--     - at: the slowest line of this sort: {file, line, name, calls, own, share} (slowest); nil: no line has
--       enough samples
--
-- t: totals of the profile
-- found: likely leaks (asamp.sums.leaks), or nil
-- copies: copied bytes (asamp.sums.copies), or nil
function M.of(profile, t, found, copies)
  local v = {growth = growthof(profile, found), leaks = leaksof(profile, found)}
  holdings(profile, v.leaks)
  v.maybe = found and found.maybe or {}
  local walks = profile.walktimes or {}
  v.searched = #walks > 0 and (births.stale(profile) or "end") or nil
  v.few = v.growth == "few" and found and found.before and found.few or nil
  v.collections = v.growth == "few" and not (found and found.before) and
                  (profile.minors + profile.majors >= FEWCOLLECTIONS or profile.samples >= ENOUGH) or nil
  if v.growth == "lines" then
    local growing = profile.gone and trends.of(profile)
    v.trends = growing and #growing.lines > 0
  end
  v.lost, v.period = lost(profile), periodof(profile)
  v.before, v.after = found and found.before, found and found.after
  v.lines, v.samples = lines(profile, copies)
  v.held = M.held(profile, HELDROWS)
  v.time = timeof(profile, t)
  local bytes = profile.allocated or profile.bytes or 0
  if v.growth == "few" and v.period > 0 then
    v.alloc = v.few and v.few.alloc or not v.few and finer(bytes, ENOUGH, v.period) or nil
  elseif v.growth == "small" then
    v.alloc = found.alloc or finer(v.after - v.before, 4 * SMALL, v.period)
  elseif v.growth == "lines" then
    v.alloc = found.alloc
  end
  return v
end

return M
