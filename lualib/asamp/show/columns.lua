-- SPDX-License-Identifier: MIT
-- Columns of the report's tables: converts rows of totals (asamp.sums.totals) to columns for tables.columns.
-- In all functions, 'style' is described in tables.lua, 'field' is a field of sums, such as "bytes", and
-- 'columns' is a list to which columns are added.

local measures = require "asamp.sums.measures"
local tables = require "asamp.show.tables"
local units = require "asamp.show.units"

local M = {}

-- {== cells =================================================================

-- Returns, as text, the share of the samples in a sum that "survived", died "later" or is "alive" ('which').
-- Samples whose survival is unknown do not count.
local function fateshare(sum, which)
  local part, whole = measures.fate(sum, which)
  return whole > 0 and ("%.0f%%"):format(100 * part / whole) or "-"
end

-- Returns, as text, the share of the samples in a sum that survived their first collection, or "-" if the
-- profile does not record survival.
local function lived(profile, sum)
  return profile.fates and fateshare(sum, "survived") or "-"
end

-- Returns, as text, the share of the samples in a sum that are alive at the end, or "-" if the profile does
-- not record when objects died.
local function alive(profile, sum)
  return measures.hasdeaths(profile) and fateshare(sum, "alive") or "-"
end

-- Returns text: the share of a sum's survivors that are alive at the end. 'field': "survived" (the share of
-- samples) or "survivedbytes" (the share of bytes).
local function aliveof(sum, field)
  local whole = sum[field]
  return whole > 0 and ("%.0f%%"):format(
    100 * sum[field == "survived" and "alive" or "alivebytes"] / whole) or "-"
end

-- ==}

-- {== columns ===============================================================

function M.share(sum, whole, field)
  return units.percent(sum[field], whole[field])
end

function M.measured(style, field)
  local whole = style.totals.whole
  local columns = {}
  for _, key in ipairs{"self", "total"} do
    local main = key == style.key
    columns[#columns + 1] = {key, spare = not main and 6, function(row)
      return tables.value(style.profile, row[key], field)
    end}
    columns[#columns + 1] = {"", gap = 1, least = 6, spare = main and 7 or 9, function(row)
      return M.share(row[key], whole, field)
    end}
  end
  return columns
end

-- Returns true if the measure 'field' counts all allocations, not only survivors or live objects.
local function ofall(field)
  return field == "bytes" or field == "samples"
end

--- Adds columns with the number of blocks and their mean size. Adds none for fields of survivors, because
-- their number of blocks is unknown.
function M.blocks(style, columns, field)
  if style.totals.whole.objects == 0 or style.totals.unit ~= "bytes" or not ofall(field) then
    return
  end
  columns[#columns + 1] = {"blocks", spare = 8, function(row)
    return row.self.objects > 0 and
           units.count(math.max(1, math.floor(row.self.objects + 0.5))) or "-"
  end}
  columns[#columns + 1] = {"mean", spare = 10, function(row)
    return row.self.objects > 0 and
           units.short(math.floor(row.self.bytes / row.self.objects + 0.5)) or "-"
  end}
end

--- Adds two columns with shares of a row's samples: "lived", those that survived their first collection, and
-- "alive", those alive at the end. In a table of survivors, "alive" is the share of the survivors that are
-- alive. Omits a column in which each row would have 100%, such as "alive" in a table of live bytes.
function M.fates(style, columns, field)
  if ofall(field) then
    columns[#columns + 1] = {"lived", spare = 2, function(row)
      return lived(style.profile, row.self)
    end}
  end
  local counted = measures.counted(field)
  if measures.hasdeaths(style.profile) and counted ~= "alive" then
    columns[#columns + 1] = {"alive", spare = 3, function(row)
      return counted == "survived" and aliveof(row.self, field) or alive(style.profile, row.self)
    end}
  end
end

--- Adds columns with the shares of all time that a line spent in Lua code, in C functions and in collections.
function M.times(style, columns)
  local whole = style.totals.whole
  local function column(title, spare, of)
    columns[#columns + 1] = {title, spare = spare, function(row)
      return units.percent(of(row.self), whole.timesamples)
    end}
  end
  column("Lua", 4, function(sum)
    return sum.timesamples - sum.nativesamples - sum.gcsamples
  end)
  column("C", 5, function(sum) return sum.nativesamples end)
  column("GC", 1, function(sum) return sum.gcsamples end)
end

return M
