-- SPDX-License-Identifier: MIT
-- Restricts a report to samples that have a function or a line on their stack, and finds the callers.

local paths = require "asamp.sums.paths"

local M = {}

--- Returns the function test(fn), which returns true for a function whose name contains 'text'. The text is
-- not a pattern.
function M.byfunction(text)
  local written = paths.written(text)
  return function(fn)
    return (fn.name:find(text, 1, true) or fn.name:find(written, 1, true)) ~= nil
  end
end

--- Returns the function test(fn, line), which returns true for frames at the line 'text', such as
-- "FILE:LINE". FILE may be the end of a path. Returns nil if the text has another form.
function M.byline(text)
  local file, line = text:match "^(.+):(%d+)$"
  line = line and math.tointeger(tonumber(line))
  return line and function(fn, at)
    return at == line and not fn.native and paths.names(file, fn.file)
  end
end

--- Selects frames for which test(fn, line) returns true. Returns two values:
--
--   1. the set of the call tree nodes whose stacks have such a frame
--   2. the list of the outermost such frames: {node (of the frame), caller (node of its caller; 0: none)}
--      each
function M.cover(profile, test)
  local covered, entries = {}, {}
  local nodes = profile.nodes
  for i, up in ipairs(nodes.parent) do
    if covered[up] then
      covered[i] = true
    elseif test(profile.functions[nodes.fn[i]], nodes.line[i]) then
      covered[i] = true
      entries[#entries + 1] = {node = i, caller = up}
    end
  end
  return covered, entries
end

--- Returns the set of the call tree nodes whose stacks have no function with 'text' in its name or file path.
-- The set also contains 0, which represents the samples without a stack.
function M.without(profile, text)
  local written = paths.written(text)
  local covered = M.cover(profile, function(fn)
    for _, name in ipairs{fn.name, fn.file} do
      if name:find(text, 1, true) or name:find(written, 1, true) then
        return true
      end
    end
  end)
  local left = {[0] = true}
  for i = 1, #profile.nodes.parent do
    left[i] = not covered[i] or nil
  end
  return left
end

--- Returns the callers of the functions to which a report is restricted, the largest first. A row is {name,
-- file, line, native, total}; 'line' is the line of the call, for Lua functions.
--
-- entries: outermost frames of the functions (second result of M.cover)
-- sums: values of each call tree node with its callees (field of totals.of)
-- field: the measure
function M.callers(profile, entries, sums, field)
  local rows, byfn = {}, {}
  local nodes = profile.nodes
  for _, entry in ipairs(entries) do
    local fn = profile.functions[nodes.fn[entry.caller]]
    local line = fn and (fn.native and fn.line or nodes.line[entry.caller]) or 0
    local oflines = byfn[fn or 0] or {}
    local row = oflines[line]
    if not row then
      row = fn and {name = fn.name, file = fn.file, line = line,
                    native = fn.native, total = {}}
            or {name = "[the program's start]", file = "-", line = 0,
                native = true, total = {}}
      byfn[fn or 0], oflines[line] = oflines, row
      rows[#rows + 1] = row
    end
    for _, name in ipairs(sums.fields) do
      row.total[name] = (row.total[name] or 0) + sums[name][entry.node]
    end
  end
  local shown = {}
  for _, row in ipairs(rows) do
    if row.total[field] > 0 then
      shown[#shown + 1] = row
    end
  end
  table.sort(shown, function(a, b)
    if a.total[field] ~= b.total[field] then
      return a.total[field] > b.total[field]
    elseif a.name ~= b.name then
      return a.name < b.name
    elseif a.file ~= b.file then
      return a.file < b.file
    end
    return a.line < b.line
  end)
  return shown
end

return M
