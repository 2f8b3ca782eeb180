-- SPDX-License-Identifier: MIT
-- The report's section of likely leaks: results of asamp.sums.leaks as a sentence and a table.
-- 'style': settings of the report (tables.lua).

local labels = require "asamp.show.labels"
local layout = require "asamp.show.layout"
local tables = require "asamp.show.tables"
local units = require "asamp.show.units"

local M = {}

-- Returns text about native memory that was not freed. If all lines that leak keep native memory, the text is
-- a whole sentence. Otherwise some lines keep Lua's memory: the first result is nil, and the second one is a
-- clause that can follow a sentence about Lua's heap.
local function nativetext(found)
  local lua = 0
  for _, row in ipairs(found.rows) do
    lua = lua + (row.type ~= "native" and 1 or 0)
  end
  local kept = ("%s of native memory from the second half of the run were not freed"):format(
    units.bytes(found.native))
  if lua > 0 then
    return nil, kept
  end
  return kept .. ", and these lines kept requesting memory that was not freed"
end

--- Returns the sentence above the table of likely leaks, without a full stop: how the heap grew, and why the
-- table lists lines or none. 'found': result of asamp.sums.leaks.
function M.summary(found)
  local alone, besides
  if found.native then
    alone, besides = nativetext(found)
    if alone then
      return alone
    end
  elseif not found.before then
    return "None"
  end
  -- The table may have rows although the heap does not grow, if memory outside the heap leaks.
  local form = found.after > found.before and "the heap grew from %s to %s" or
               "the heap does not grow (from %s to %s)"
  local grew = form:format(units.bytes(found.before), units.bytes(found.after))
  if #found.rows > 0 then
    return grew:gsub("^t", "T") .. (besides and "; " .. besides or "") ..
           ", and these lines kept allocating objects that " ..
           (found.proved and "are still alive" or "survived")
  elseif found.grew and not found.kept then
    return ("None: %s; of the bytes from the second half of the run, %s survived their first collection, " ..
            "but most of these died later"):format(grew, units.bytes(found.late))
  elseif found.maybe then
    return "None that is certain: " .. grew .. "; possible leaks are named at the top"
  elseif found.grew and found.alloc then
    return ("None: %s, too little to find the cause with so few samples; " ..
            "a run with --alloc %s takes enough samples"):format(grew, units.period(found.alloc))
  elseif found.grew then
    return "None: " .. grew .. ", but no line kept allocating objects that " ..
           (found.proved and "are still alive" or "survived")
  end
  return ("None: the heap does not grow (from %s to %s)"):format(units.bytes(found.before),
                                                            units.bytes(found.after))
end

-- Returns the text below the row of a line: one of the line's holders (paths of references), and the share of
-- the line's live samples that it keeps alive.
local function heldby(style, row, holder)
  return layout.wrap(("holder of %.0f%% of %s: %s"):format(100 * holder.share,
    units.plural(row.held, "sample"), layout.clean(holder.text)), "           ", style.width)
end

-- Returns true if the path of a holder must be shown below row i. Consecutive rows of a group can have the
-- same container (the table that keeps their objects alive). A path that starts with this container is shown
-- only below the first of these rows.
local function isnew(rows, i, holder)
  local before = rows[i - 1]
  local container = rows[i].container
  return not before or before.group ~= rows[i].group or not container or
         holder.text:sub(1, #container) ~= container
end

-- Returns the table of source lines that are likely to leak, as lines of text. Lines with the same holder
-- (the table that keeps their objects alive), function or caller are a group: all but the first are indented.
local function listing(style, found)
  local rows = tables.top(style, found.rows)
  local bytes = style.totals.unit == "bytes"
  local columns = {
    {found.proved and "still alive" or "survived", function(row)
      return tables.value(style.profile,
        {survivedbytes = row.keptbytes, survived = row.kept},
        bytes and "survivedbytes" or "survived")
    end},
    {"of line", function(row) return ("%.0f%%"):format(100 * row.kept / row.samples) end},
    {"seen in", spare = 2, function(row) return ("%d of %d"):format(row.parts, row.of) end},
    {"mostly", spare = 1, function(row) return layout.cutmiddle(layout.clean(row.type), 16) end},
  }
  local lines = tables.titled(style, "Likely leaks", found.rows, columns, "line", function(i, n)
    local inside = i > 1 and rows[i].group == rows[i - 1].group
    return inside and "  " .. labels.ofline(rows[i], n - 2, style.paint)
           or labels.ofline(rows[i], n, style.paint)
  end, labels.least(style.width, rows))
  -- Goes from the last row to the first, so that an insertion does not move the rows that follow in the loop.
  -- Row i is lines[i + 3].
  for i = #rows, 1, -1 do
    for k = #(rows[i].holders or {}), 1, -1 do
      if isnew(rows, i, rows[i].holders[k]) then
        table.insert(lines, i + 4, heldby(style, rows[i], rows[i].holders[k]))
      end
    end
  end
  return lines
end

-- Returns a sentence about lines with too few samples, or nil if there are none.
local function fewtext(found)
  local few = found.few
  return few and ("Not judged: %s with live objects from early and late in the run, but fewer than %d " ..
                  "live samples%s."):format(
    units.plural(few.lines, #found.rows > 0 and "more line" or "line"), few.least,
    few.alloc and ("; a run with --alloc %s takes enough samples"):format(
      units.period(few.alloc)) or "") or nil
end

--- Returns the report's section "Likely leaks" as lines of text.
--
--   - found: result of asamp.sums.leaks; nil: returns {}
--   - brief: true: without explanations
function M.lines(style, found, brief)
  if not found then
    return {}
  end
  local summary = M.summary(found)
  local few = fewtext(found)
  few = few and layout.wrap(few, "  ", style.width)
  if #found.rows == 0 then
    return {"", style.paint("bold", "Likely leaks"),
            layout.wrap(summary .. ".", "  ", style.width), few}
  end
  local lines = listing(style, found)
  table.insert(lines, 3, layout.wrap(summary .. ":", "  ", style.width))
  lines[#lines + 1] = few
  local last = found.rows[#found.rows]
  if last.group < #found.rows and not brief then
    lines[#lines + 1] = style.paint("dim", layout.wrap(
      "indented: a line with the same holder, function or caller as the line above.",
      "  ", style.width))
  end
  return lines
end

return M
