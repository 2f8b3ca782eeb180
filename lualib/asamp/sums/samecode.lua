-- SPDX-License-Identifier: MIT
-- Matches files, functions and lines of two profiles although the program was moved or edited
-- between them. Pure: rows of totals in, maps out.

local order = require "asamp.sums.order"

local M = {}

-- Returns true if a function has no name of its own ("anonymous", "anonymous #2" of its line).
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

-- Returns the number of trailing names that two paths have in common.
local function common(a, b)
  local n = 0
  while true do
    local x, y = a:match "([^/]*)$", b:match "([^/]*)$"
    if x == "" or x ~= y then
      return n
    end
    n = n + 1
    a, b = a:sub(1, -#x - 2), b:sub(1, -#y - 2)
  end
end

-- Returns the path of a list that is most like 'path'; nil: none is, or several are. like(path,
-- other): a number; 0: they are not alike.
local function likest(path, paths, like)
  local best, most, several
  for _, other in ipairs(paths) do
    local n = like(path, other)
    if n > (most or 0) then
      best, most, several = other, n, false
    elseif n == most then
      several = true
    end
  end
  return not several and best or nil
end

-- Adds pairs of paths that are the best match of each other to 'same'. Returns the paths of both lists
-- that have no partner.
local function match(a, b, like, same)
  local resta, restb, taken = {}, {}, {}
  for _, path in ipairs(a) do
    local other = likest(path, b, like)
    if other and likest(other, a, function(x, y) return like(y, x) end) == path then
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

-- Returns the names of the Lua functions of each file: {[path] = {[name] = true}}.
local function namesof(t)
  local names = {}
  for _, row in ipairs(t.functions) do
    if not row.native and row.name ~= "main chunk" and not isanonymous(row.name) then
      names[row.file] = names[row.file] or {}
      names[row.file][row.name] = true
    end
  end
  return names
end

-- Returns the number of names in two sets, and in both.
local function overlap(x, y)
  local nx, ny, both = 0, 0, 0
  for name in pairs(x) do
    nx, both = nx + 1, both + (y[name] and 1 or 0)
  end
  for _ in pairs(y) do
    ny = ny + 1
  end
  return nx, ny, both
end

--- Returns renamed files: {[path in a] = path in b}. Paths in only one profile are paired if each
-- is the best match of the other: by the ends of the paths; then by names of functions, at least
-- half of which must be equal.
function M.files(a, b)
  local ina, inb = files(a), files(b)
  local onlya, onlyb, same = {}, {}, {}
  for path in pairs(ina) do
    onlya[#onlya + 1] = not inb[path] and path or nil
  end
  for path in pairs(inb) do
    onlyb[#onlyb + 1] = not ina[path] and path or nil
  end
  onlya, onlyb = match(onlya, onlyb, common, same)
  local namesa, namesb = namesof(a), namesof(b)
  match(onlya, onlyb, function(path, other)
    local nx, ny, both = overlap(namesa[path] or {}, namesb[other] or {})
    return 2 * both >= math.min(nx, ny) and both or 0
  end, same)
  return same
end

-- ==}

-- {== functions of a file ===================================================

-- Returns the Lua functions of every file, sorted by the line of their definition.
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

-- Returns true if the previous (step -1) or next (1) function is equally far away in both lists.
local function gap(a, i, b, j, step)
  local x, y = a[i + step], b[j + step]
  return x and y and x.line - a[i].line == y.line - b[j].line
end

-- Returns a score for a[i] and b[j] being the same function, from their lines, names and
-- distances to neighbours. 0 or less: they are not.
local function likeness(a, i, b, j)
  local x, y = a[i], b[j]
  local n = x.line == y.line and 2 or 0
  if not isanonymous(x.name) and not isanonymous(y.name) then
    n = n + (x.name == y.name and 3 or -2)
  end
  return n + (gap(a, i, b, j, -1) and 1 or 0) + (gap(a, i, b, j, 1) and 1 or 0)
end

-- Aligns two lists: calls pair(x, y) for pairs in the order of both lists, chosen so that the sum
-- of their likeness is largest.
local function align(a, b, pair)
  local best = {[0] = {}}
  for j = 0, #b do
    best[0][j] = 0
  end
  for i = 1, #a do
    best[i] = {[0] = 0}
    for j = 1, #b do
      local like = likeness(a, i, b, j)
      best[i][j] = math.max(best[i - 1][j], best[i][j - 1],
                            like > 0 and best[i - 1][j - 1] + like or 0)
    end
  end
  local i, j = #a, #b
  while i > 0 and j > 0 do
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

local function nativekey(row)
  return row.name .. "\0" .. row.file
end

--- Returns the functions of both profiles: {[row of a] = row of b}. 'same': result of M.files.
function M.functions(a, b, same)
  local pairs_, native, lists = {}, {}, byfile(b, {})
  for file, list in pairs(byfile(a, same)) do
    align(list, lists[file] or {}, function(x, y)
      pairs_[x] = y
    end)
  end
  for _, row in ipairs(b) do
    native[nativekey(row)] = row.native and row or nil
  end
  for _, row in ipairs(a) do
    if row.native then
      pairs_[row] = native[nativekey(row)]
    end
  end
  return pairs_
end

-- ==}

-- {== lines =================================================================

-- Calls f(row, line of the function's start) first for the functions that rows are named after,
-- then for all other functions at the lines.
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

local function place(file, defined, line)
  return ("%s\0%d\0%d"):format(file, defined, line)
end

--- Returns the lines of both profiles: {[row of a] = row of b}. Lines match if they are at the
-- same distance from the start of the same function ('functions': result of M.functions), or at
-- the same place in a function that only one profile has.
function M.lines(a, b, functions, same)
  local pairs_, taken, definition, inb = {}, {}, {}, {}
  for x, y in pairs(functions) do
    definition[place(x.file, x.line, 0)] = y
  end
  each(b, function(row, defined)
    local key = place(row.file, defined, row.line)
    inb[key] = inb[key] or row
  end)
  each(a, function(row, defined)
    local fn = definition[place(row.file, defined, 0)]
    local other
    if fn then
      other = inb[place(fn.file, fn.line, row.line - defined + fn.line)]
    else
      other = inb[place(same[row.file] or row.file, defined, row.line)]
    end
    if other and not taken[other] and not pairs_[row] then
      pairs_[row], taken[other] = other, true
    end
  end)
  return pairs_
end

-- ==}

return M
