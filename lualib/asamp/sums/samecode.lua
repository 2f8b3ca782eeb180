-- SPDX-License-Identifier: MIT
-- Matches files, functions and lines of two profiles, although the program was moved or edited between them.

local order = require "asamp.sums.order"

local M = {}

-- Returns true if a function has no name of its own: "anonymous", or "anonymous #2" (the second of its line).
local function isanonymous(name)
  return name == "anonymous" or name:find "^anonymous #%d+$" ~= nil
end

-- {== files =================================================================

local function files(t)
  local set = {}
  for _, rows in ipairs{t.functions, t.lines} do
    for _, row in ipairs(rows) do
      set[row.file] = true
    end
  end
  return set
end

-- Returns the length of the common start of two texts, up to their last common "/".
local function common(x, y)
  local low, high = 0, math.min(#x, #y)  -- finds the longest equal start
  while low < high do
    local middle = (low + high + 1) // 2
    if x:sub(low + 1, middle) == y:sub(low + 1, middle) then
      low = middle
    else
      high = middle - 1
    end
  end
  return (x:sub(1, low):match "^.*()/" or 0)
end

-- Returns a function that finds the path whose end is most similar to that of its argument. For
-- "src/app.lua", it prefers a path that ends with "src/app.lua" to one that ends with "app.lua". It returns
-- nil if no path has the same file name, or if several are equally similar.
--
-- The paths are reversed and sorted, so that paths with similar ends are neighbours. Time and memory do not
-- grow with the number of folders in all paths.
--
-- paths: list of paths
local function byend(paths)
  local keys, of = {}, {}
  for i, path in ipairs(paths) do
    keys[i] = path:reverse() .. "/"
    of[keys[i]] = path
  end
  table.sort(keys)
  return function(path)
    local key, low, high = path:reverse() .. "/", 1, #keys + 1  -- finds the first listed key after 'key'
    while low < high do
      local middle = (low + high) // 2
      if keys[middle] < key then
        low = middle + 1
      else
        high = middle
      end
    end
    local function like(i)
      return keys[i] and common(keys[i], key) or 0
    end
    local before, after = like(low - 1), like(low)
    local best, second = low - 1, low - 2
    if after > before then
      best, second = low, low + 1
    end
    local most = math.max(before, after)
    return most > 1 and before ~= after and like(second) < most and of[keys[best]] or nil
  end
end

-- Pairs the paths of two profiles that match best in both directions: each is the best match of the other.
-- Returns two lists: the remaining paths of a, and those of b.
--
-- a, b: lists of paths
-- ofa: function that maps a path in b to its best match in a; it returns nil if there is none
-- ofb: function that maps a path in a to its best match in b; it returns nil if there is none
-- same: receives the pairs: {[path in a] = path in b}
local function match(a, b, ofa, ofb, same)
  local resta, restb, taken = {}, {}, {}
  for _, path in ipairs(a) do
    local other = ofb(path)
    if other and ofa(other) == path then
      same[path], taken[other] = other, true
    else
      resta[#resta + 1] = path
    end
  end
  for _, path in ipairs(b) do
    restb[#restb + 1] = not taken[path] and path or nil
  end
  return resta, restb
end

-- Returns the names of the Lua functions of each file: {[path] = {[name] = true}}. 't': totals of a profile.
local function namesof(t)
  local found = {}
  for _, row in ipairs(t.functions) do
    if not row.native and row.name ~= "main chunk" and not isanonymous(row.name) then
      found[row.file] = found[row.file] or {}
      found[row.file][row.name] = true
    end
  end
  return found
end

-- A function's name that is in more than 16 files, such as "new", does not help to find the same file.
local MANY = 16

-- Returns a map from each function name to the files that define such a function: {[name] = list of paths}.
--
-- paths: the files
-- of: names of functions by file (namesof)
local function byname(paths, of)
  local found = {}
  for _, path in ipairs(paths) do
    for name in pairs(of[path] or {}) do
      found[name] = found[name] or {}
      table.insert(found[name], path)
    end
  end
  return found
end

-- Removes function names that are in too many files (MANY) from 'of'. Returns a map from the path of each
-- file to the number of its remaining names.
--
-- of: names by file (namesof)
-- x, y: files by name (byname) in the two profiles
local function reduce(of, x, y)
  local size = {}
  for path, set in pairs(of) do
    size[path] = 0
    for name in pairs(set) do
      if #(x[name] or {}) > MANY or #(y[name] or {}) > MANY then
        set[name] = nil
      else
        size[path] = size[path] + 1
      end
    end
  end
  return size
end

-- Returns a function that finds the file of the other profile with the most function names in common. At
-- least half of the names in the smaller file must be common. The function returns nil if there is no such
-- file, or if several files have equally many common names.
--
-- own, sizes: names (namesof) and their number, by path
-- files_: files of the other profile, by name (byname)
-- theirs: number of names in the other profile, by path
local function bynames(own, sizes, files_, theirs)
  return function(path)
    local both, best, most, several = {}, nil, 0, false
    for name in pairs(own[path] or {}) do
      for _, other in ipairs(files_[name] or {}) do
        both[other] = (both[other] or 0) + 1
      end
    end
    for other, n in pairs(both) do
      if 2 * n >= math.min(sizes[path], theirs[other]) and n >= most then
        best, most, several = other, n, n == most
      end
    end
    return not several and best or nil
  end
end

--- Pairs the files of two profiles whose paths differ. Files are paired by the ends of their paths, or else
-- by the names of their functions. Returns a map from paths in the first profile to paths in the second one.
-- 'a', 'b': totals of the profiles.
function M.files(a, b)
  local ina, inb = files(a), files(b)
  local onlya, onlyb, same = {}, {}, {}
  for path in pairs(ina) do
    onlya[#onlya + 1] = not inb[path] and path or nil
  end
  for path in pairs(inb) do
    onlyb[#onlyb + 1] = not ina[path] and path or nil
  end
  onlya, onlyb = match(onlya, onlyb, byend(onlya), byend(onlyb), same)
  local ofa, ofb = namesof(a), namesof(b)
  local filesa, filesb = byname(onlya, ofa), byname(onlyb, ofb)
  local sizea, sizeb = reduce(ofa, filesa, filesb), reduce(ofb, filesa, filesb)
  match(onlya, onlyb, bynames(ofb, sizeb, filesa, sizea), bynames(ofa, sizea, filesb, sizeb), same)
  return same
end

-- ==}

-- {== pairing the functions of a file in both profiles ======================

-- Returns the Lua functions of every file, sorted by the line of their definition. 'rename': new path by old
-- path.
local function byfile(rows, rename)
  local lists = {}
  for _, row in ipairs(rows) do
    if not row.native then
      local file = rename[row.file] or row.file
      lists[file] = lists[file] or {}
      table.insert(lists[file], row)
    end
  end
  for _, list in pairs(lists) do
    table.sort(list, order.by("line", "name"))
  end
  return lists
end

-- Returns true if the distance in lines from a[i] to its neighbour in the list equals that from b[j] to its
-- neighbour. The neighbour is the function before (step -1) or after (step 1). a, b: lists of functions,
-- sorted by line.
local function gap(a, i, b, j, step)
  local x, y = a[i + step], b[j + step]
  return x and y and x.line - a[i].line == y.line - b[j].line
end

-- Returns how similar the functions a[i] and b[j] are, by their lines, names and distances to their
-- neighbours: a number from -2 to 7. They may be the same function if it is above 0.
local function likeness(a, i, b, j)
  local x, y = a[i], b[j]
  local n = x.line == y.line and 2 or 0
  if not isanonymous(x.name) and not isanonymous(y.name) then
    n = n + (x.name == y.name and 3 or -2)
  end
  return n + (gap(a, i, b, j, -1) and 1 or 0) + (gap(a, i, b, j, 1) and 1 or 0)
end

-- Limits of the comparison of two lists of functions by alignpart. Their unit is a pair of functions: the
-- cost is the product of the lengths of both lists.
--
--   - CELLS: largest product for which alignpart is called: it takes 16 MiB of memory and a second. The
--     function 'align' splits longer lists.
--   - ALL: limit of the sum of the products over all files.
local CELLS, ALL = 1 << 20, 2 << 20

-- Pairs the functions a[from..to] with b[start..stop]. The pairs keep the order of the lines in both lists,
-- and the sum of their similarities (likeness) is as large as possible. Calls pair(x, y) for each pair.
local function alignpart(a, from, to, b, start, stop, pair)
  local best = {[from - 1] = {}}
  for j = start - 1, stop do
    best[from - 1][j] = 0
  end
  for i = from, to do
    best[i] = {[start - 1] = 0}
    for j = start, stop do
      local like = likeness(a, i, b, j)
      best[i][j] = math.max(best[i - 1][j], best[i][j - 1],
                            like > 0 and best[i - 1][j - 1] + like or 0)
    end
  end
  local i, j = to, stop
  while i >= from and j >= start do
    local like = likeness(a, i, b, j)
    if like > 0 and best[i][j] == best[i - 1][j - 1] + like then
      pair(a[i], b[j])
      i, j = i - 1, j - 1
    elseif best[i][j] == best[i - 1][j] then
      i = i - 1
    else
      j = j - 1
    end
  end
end

-- Pairs the functions a[from..to] with b[start..stop], in place of alignpart, if the lists are too long for
-- it. Only pairs functions that are at equal lines. Calls pair(x, y) for each pair.
local function alignlines(a, from, to, b, start, stop, pair)
  local i, j = from, start
  while i <= to and j <= stop do
    if a[i].line == b[j].line then
      if likeness(a, i, b, j) > 0 then
        pair(a[i], b[j])
      end
      i, j = i + 1, j + 1
    elseif a[i].line < b[j].line then
      i = i + 1
    else
      j = j + 1
    end
  end
end

-- Returns a map from the name of a function to its index in a list. The value is false if several functions
-- have this name. Functions without a name are left out.
local function indices(list)
  local at = {}
  for i, row in ipairs(list) do
    if not isanonymous(row.name) then
      at[row.name] = at[row.name] == nil and i
    end
  end
  return at
end

-- Returns pairs of functions that certainly are the same, because their names are unique in each list: a list
-- of {index in a, index in b, ...}. If the order of some pairs differs in the two lists, returns the longest
-- sequence of pairs that have the same order.
local function anchors(a, b)
  local ata, atb, ends = indices(a), indices(b), {}
  for i, row in ipairs(a) do
    local j = ata[row.name] and atb[row.name]
    if j then
      -- Binary search in 'ends', the last pairs of the best sequences so far: finds the first pair whose
      -- function of b is b[j] or a later one.
      local low, high = 1, #ends + 1
      while low < high do
        local middle = (low + high) // 2
        if ends[middle][2] < j then
          low = middle + 1
        else
          high = middle
        end
      end
      ends[low] = {i, j, ends[low - 1]}
    end
  end
  local list, last = {}, ends[#ends]
  while last do
    list[#list + 1], last = last, last[3]
  end
  for i = 1, #list // 2 do
    list[i], list[#list + 1 - i] = list[#list + 1 - i], list[i]
  end
  return list
end

-- Pairs the functions of a file that are probably the same in both profiles, in the order of their lines.
-- Calls pair(x, y) for each pair. Splits long lists at functions that certainly are the same (anchors).
--
-- a, b: the functions of the file in the two profiles, sorted by line
-- rest: {cells = N}: N pairs of functions may still be compared in this file and the following ones (ALL)
local function align(a, b, pair, rest)
  local from, start = 1, 1
  local function part(to, stop)
    local cells = (to - from + 1) * (stop - start + 1)
    local f = cells <= math.min(CELLS, rest.cells) and alignpart or alignlines
    rest.cells = rest.cells - (f == alignpart and cells or 0)
    f(a, from, to, b, start, stop, pair)
  end
  if #a * #b <= math.min(CELLS, rest.cells) then
    return part(#a, #b)
  end
  for _, anchor in ipairs(anchors(a, b)) do
    part(anchor[1] - 1, anchor[2] - 1)
    pair(a[anchor[1]], b[anchor[2]])
    from, start = anchor[1] + 1, anchor[2] + 1
  end
  part(#a, #b)
end

--- Pairs equal functions of two profiles: returns {[row of a] = row of b}. 'same': result of M.files.
function M.functions(a, b, same)
  local pairs_, lists, files_, rest = {}, byfile(b, {}), {}, {cells = ALL}
  for file, list in pairs(byfile(a, same)) do
    local others = lists[file] or {}
    files_[#files_ + 1] = {name = file, a = list, b = others, cells = #list * #others}
  end
  -- Small files come first: if 'rest' is used up, only large files are aligned with the less exact method.
  table.sort(files_, order.by("cells", "name"))
  for _, file in ipairs(files_) do
    align(file.a, file.b, function(x, y)
      pairs_[x] = y
    end, rest)
  end
  local native = {}  -- the rows of native functions in b: native[library][name]
  for _, row in ipairs(b) do
    if row.native then
      native[row.file] = native[row.file] or {}
      native[row.file][row.name] = row
    end
  end
  for _, row in ipairs(a) do
    if row.native then
      pairs_[row] = native[row.file] and native[row.file][row.name]
    end
  end
  return pairs_
end

-- ==}

-- {== lines =================================================================

-- Calls f(row, defined) for each function of each source line; 'defined' is the line of definition of the
-- function. There are two passes: first, one call for each line, with the function after which it is named;
-- then calls for all functions of the lines with several functions.
local function each(rows, f)
  for _, row in ipairs(rows) do
    f(row, row.defined)
  end
  for _, row in ipairs(rows) do
    for _, fn in ipairs(row.functions or {}) do
      f(row, fn.defined)
    end
  end
end

-- Returns a function(file, defined, line) that returns a key (text) for a source line; 'defined' is the line
-- at which its function is defined. To be short, the key has a number instead of the file's name.
local function places()
  local numbers, n = {}, 0
  return function(file, defined, line)
    if not numbers[file] then
      n = n + 1
      numbers[file] = n
    end
    return numbers[file] .. " " .. defined .. " " .. line
  end
end

-- Returns a function(file, line) that returns how far the code at a line has moved from the first profile to
-- the second one, as a number of lines. This is the movement of the last function that starts at or before
-- the line. It returns nil if there is no such function.
--
-- functions: pairs of equal functions (M.functions)
local function movesof(functions)
  local starts = {}
  for x, y in pairs(functions) do
    if not x.native then
      starts[x.file] = starts[x.file] or {}
      table.insert(starts[x.file], {line = x.line, by = y.line - x.line})
    end
  end
  for _, list in pairs(starts) do
    table.sort(list, order.by("line", "by"))
  end
  return function(file, line)
    local list = starts[file] or {}
    local low, high = 1, #list + 1  -- finds the first function that starts after the line
    while low < high do
      local middle = (low + high) // 2
      if list[middle].line <= line then
        low = middle + 1
      else
        high = middle
      end
    end
    return list[low - 1] and list[low - 1].by
  end
end

-- Returns true if neither of two rows allocates more than 1.5 times the bytes of the other.
local function isclose(x, y)
  x, y = x.self and x.self.bytes or 0, y.self and y.self.bytes or 0
  return x > 0 and y > 0 and math.max(x, y) <= 1.5 * math.min(x, y)
end

-- Pairs the lines of a function that have no partner yet. Two conditions must be met: both profiles have the
-- same number of such lines; and all of them have moved by the same number of lines. A single line must also
-- allocate about as many bytes (isclose), because it may be new code.
--
-- a, b: rows of lines
-- definition: map from the place (file and line) of a function in a to its partner, a function of b
-- pairs_: receives the pairs {[row of a] = row of b}
-- taken: set of paired rows of b
-- place: returns the key of a line (places)
local function addmoved(a, b, definition, pairs_, taken, place)
  local ofa, ofb = {}, {}
  local function add(lists, fn, row)
    local key = place(fn.file, fn.line, 0)
    lists[key] = lists[key] or {}
    table.insert(lists[key], row)
  end
  for _, row in ipairs(a) do
    local fn = not pairs_[row] and definition[place(row.file, row.defined, 0)]
    if fn then
      add(ofa, fn, row)
    end
  end
  for _, row in ipairs(b) do
    if not taken[row] then
      add(ofb, {file = row.file, line = row.defined}, row)
    end
  end
  for key, rows in pairs(ofa) do
    local others = ofb[key] or {}
    local same = #rows == #others and (#rows > 1 or isclose(rows[1], others[1]))
    table.sort(rows, order.by "line")
    table.sort(others, order.by "line")
    for i = 2, same and #rows or 0 do
      same = same and others[i].line - rows[i].line == others[1].line - rows[1].line
    end
    for i = 1, same and #rows or 0 do
      pairs_[rows[i]], taken[others[i]] = others[i], true
    end
  end
end

--- Pairs equal lines of two profiles: returns {[row of a] = row of b}. Three rules apply in this order:
--
--   1. The line has moved as far as the function that contains it (movesof).
--   2. The line is at the same distance from the start of its function. If this function has no partner, the
--      line has the same number, in a function that starts at the same line.
--   3. All remaining lines of the function have moved equally far (addmoved).
--
-- functions, same: results of M.functions and M.files
function M.lines(a, b, functions, same)
  local pairs_, taken, definition, inb = {}, {}, {}, {}
  local moved, place = movesof(functions), places()
  for x, y in pairs(functions) do
    definition[place(x.file, x.line, 0)] = y
  end
  each(b, function(row, defined)
    local key = place(row.file, defined, row.line)
    inb[key] = inb[key] or row
  end)
  local function take(row, other)
    if other and not taken[other] and not pairs_[row] then
      pairs_[row], taken[other] = other, true
    end
  end
  each(a, function(row, defined)
    local fn, by = definition[place(row.file, defined, 0)], moved(row.file, row.line)
    take(row, fn and by and inb[place(fn.file, fn.line, row.line + by)])
  end)
  each(a, function(row, defined)
    local fn = definition[place(row.file, defined, 0)]
    take(row, inb[fn and place(fn.file, fn.line, row.line - defined + fn.line) or
                  place(same[row.file] or row.file, defined, row.line)])
  end)
  addmoved(a, b, definition, pairs_, taken, place)
  return pairs_
end

-- ==}

-- Caches the results of M.of. The key is the totals of the first profile.
local results = setmetatable({}, {__mode = "k"})

--- Returns the results of M.files, M.functions and M.lines for two profiles, as {files, functions, lines}.
-- Keeps them for further calls. 'a', 'b': totals of the profiles.
function M.of(a, b)
  local found = results[a]
  if not found or found.b ~= b then
    local files_ = M.files(a, b)
    local functions = M.functions(a.functions, b.functions, files_)
    found = {b = b, files = files_, functions = functions,
             lines = M.lines(a.lines, b.lines, functions, files_)}
    results[a] = found
  end
  return found
end

return M
