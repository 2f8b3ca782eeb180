-- SPDX-License-Identifier: MIT
-- Groups lines that belong together: lines of one function, of a function and its caller, or of two functions
-- with the same caller.

local order = require "asamp.sums.order"

local M = {}

local function key(file, defined)
  return file .. "\0" .. defined
end

--- Returns a map from each call tree node to a caller: the Lua function that called the innermost Lua
-- function of the node's stack. A function is represented by its key; "" means that there is none.
function M.callers(profile)
  local nodes, keys = profile.nodes, {}
  for f, fn in ipairs(profile.functions) do
    keys[f] = not fn.native and key(fn.file, fn.line)
  end
  -- Maps from each node to the key of a function. inner: the innermost Lua function of the node's stack.
  -- callers: the Lua function that called it.
  local inner, callers = {[0] = ""}, {[0] = ""}
  for i, f in ipairs(nodes.fn) do
    local up = nodes.parent[i]
    callers[i] = keys[f] and inner[up] or callers[up]
    inner[i] = keys[f] or inner[up]
  end
  return callers
end

local function maincaller(row)
  local best, most = "", -1
  for caller, bytes in pairs(row.callers) do
    if bytes > most or bytes == most and caller < best then
      best, most = caller, bytes
    end
  end
  return best
end

-- Returns true if functions with only this caller in common are not related: the key of the caller is ""
-- (there is none), or that of a main chunk, which may call all functions of a program.
local function ismain(function_)
  return function_ == "" or function_:find "%z0$" ~= nil
end

local larger = order.by("-keptbytes", "file", "line")

-- Groups related rows: lines of one function, of a function and its caller, or of two functions with the same
-- caller. Returns a list with the group of each row. A group is represented by the smallest index of its
-- rows.
local function joined(list)
  local group, callers, byown, bycaller = {}, {}, {}, {}
  local function first(i)
    while group[i] ~= i do
      group[i] = group[group[i]]
      i = group[i]
    end
    return i
  end
  local function join(i, other)
    i, other = first(i), first(other or i)
    group[math.max(i, other)] = math.min(i, other)
  end
  for i, row in ipairs(list) do
    local own, caller = key(row.file, row.defined), maincaller(row)
    group[i], callers[i] = i, caller
    byown[own] = byown[own] or i
    join(i, byown[own])
    bycaller[caller] = bycaller[caller] or not ismain(caller) and i or nil
    join(i, bycaller[caller])
  end
  for i = 1, #list do
    join(i, byown[callers[i]])
  end
  for i = 1, #list do
    group[i] = first(i)
  end
  return group
end

--- Sorts rows by groups: the group with most kept bytes is the first. Replaces the field 'group' of each row
-- by the number of its group, from 1. Returns the sorted rows as a new list.
--
-- rows: list of {file, line, keptbytes, group (any value that only the rows of the group have)}
function M.numbered(rows)
  local list, bytes, first = table.move(rows, 1, #rows, 1, {}), {}, {}
  table.sort(list, larger)
  for i, row in ipairs(list) do
    bytes[row.group] = (bytes[row.group] or 0) + row.keptbytes
    first[row.group] = first[row.group] or i
  end
  table.sort(list, function(a, b)
    if a.group ~= b.group then
      if bytes[a.group] ~= bytes[b.group] then
        return bytes[a.group] > bytes[b.group]
      end
      return first[a.group] < first[b.group]
    end
    return larger(a, b)
  end)
  local n, last = 0, nil
  for _, row in ipairs(list) do
    n = n + (row.group ~= last and 1 or 0)
    last, row.group = row.group, n
  end
  return list
end

--- Groups related lines. Sets the field 'group' of each row to the number of its group. Returns a list of the
-- rows, sorted by groups (M.numbered).
--
-- rows: list of {file, line, defined (line of definition), keptbytes, callers}; 'callers' maps the key of a
-- caller (M.callers) to the kept bytes of the line in calls by this caller
function M.grouped(rows)
  for i, group in ipairs(joined(rows)) do
    rows[i].group = group
  end
  return M.numbered(rows)
end

return M
