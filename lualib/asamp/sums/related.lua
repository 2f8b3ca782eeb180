-- SPDX-License-Identifier: MIT
-- Groups lines that belong together: lines of one function, of a function and its caller, or of two functions
-- with the same caller.

local order = require "asamp.sums.order"

local M = {}

local function key(file, defined)
  return file .. "\0" .. defined
end

--- Returns a map from each call tree node to the key of a function: the Lua function that called the
-- innermost Lua function of the node's stack; "": none.
function M.callers(profile)
  local nodes, functions = profile.nodes, profile.functions
  -- maps from each node to a key: of its innermost Lua function (inner), and of the Lua caller of that
  -- (callers)
  local inner, callers = {[0] = ""}, {[0] = ""}
  for i, f in ipairs(nodes.fn) do
    local fn, up = functions[f], nodes.parent[i]
    if fn.native then
      inner[i], callers[i] = inner[up], callers[up]
    else
      inner[i], callers[i] = key(fn.file, fn.line), inner[up]
    end
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

-- Returns true if the key of a caller is "" (there is none) or that of a main chunk. A main chunk may call
-- all functions of a program, so functions with only this caller in common are not related.
local function ismain(function_)
  return function_ == "" or function_:find "%z0$" ~= nil
end

local larger = order.by("-keptbytes", "file", "line")

local function together(a, b)
  return a.own == b.own or a.caller == b.own or b.caller == a.own or
         a.caller == b.caller and not ismain(a.caller)
end

--- Groups related lines: returns a new list, sorted by groups, and sets the field 'group' of the rows to the
-- group's number. The group with most kept bytes is the first.
--
-- rows: {file, line, defined (line of definition), keptbytes, callers (bytes by caller, a key of M.callers)}
-- each
function M.grouped(rows)
  local list = table.move(rows, 1, #rows, 1, {})
  table.sort(list, larger)
  local places, group, bytes = {}, {}, {}
  for i, row in ipairs(list) do
    places[i] = {own = key(row.file, row.defined), caller = maincaller(row)}
    group[i] = i
    for k = 1, i - 1 do
      if together(places[i], places[k]) and group[k] ~= group[i] then
        local from, to = math.max(group[i], group[k]), math.min(group[i], group[k])
        for j = 1, i do
          group[j] = group[j] == from and to or group[j]
        end
      end
    end
  end
  for i, row in ipairs(list) do
    bytes[group[i]] = (bytes[group[i]] or 0) + row.keptbytes
    row.group = group[i]
  end
  table.sort(list, function(a, b)
    if a.group ~= b.group then
      if bytes[a.group] ~= bytes[b.group] then
        return bytes[a.group] > bytes[b.group]
      end
      return a.group < b.group
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

return M
