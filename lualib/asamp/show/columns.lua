-- SPDX-License-Identifier: MIT
-- The columns of the report's tables: rows of totals in, columns of layout.grid out.
-- Pure. 'style': see tables.lua; 'field': what is measured.

local measures = require "asamp.sums.measures"
local tables = require "asamp.show.tables"
local units = require "asamp.show.units"

local M = {}

-- {== cells =================================================================

-- Of what a sum has a fate: the share that has the fate 'which'.
local function fateshare(sum, which)
  local part, whole = measures.fate(sum, which)
  return whole > 0 and ("%.0f%%"):format(100 * part / whole) or "-"
end

-- The share of what was decided that survived.
local function lived(profile, sum)
  return profile.fates and fateshare(sum, "survived") or "-"
end

-- The share of what was decided that is alive at the end.
local function alive(profile, sum)
  return measures.tellsdeaths(profile) and fateshare(sum, "alive") or "-"
end

-- The share of what survived, in bytes or samples, that is alive at the end.
local function aliveof(sum, field)
  local whole = sum[field]
  return whole > 0 and ("%.0f%%"):format(
    100 * sum[field == "survived" and "alive" or "alivebytes"] / whole) or "-"
end

-- ==}

-- {== columns ===============================================================

--- The share of a field that a sum is of the whole.
function M.share(sum, whole, field)
  return units.percent(sum[field], whole[field])
end

--- Columns of self and total of one field.
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

-- Is a field one of all that was allocated, and not of what of it survived or is alive?
local function ofall(field)
  return field == "bytes" or field == "samples"
end

--- Adds the columns of how many blocks there were, and of how many bytes each. How many of
-- these survived is not known.
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

--- Adds the columns of what survived and of what is alive at the end, as shares of what the
-- field counts: all that survived did, and all that is alive is.
function M.fates(style, columns, field)
  if ofall(field) then
    columns[#columns + 1] = {"lived", spare = 2, function(row)
      return lived(style.profile, row.self)
    end}
  end
  local counted = measures.counted(field)
  if measures.tellsdeaths(style.profile) and counted ~= "alive" then
    columns[#columns + 1] = {"alive", spare = 3, function(row)
      return counted == "survived" and aliveof(row.self, field) or alive(style.profile, row.self)
    end}
  end
end

--- Adds the columns of where the time of a line went, in shares of all time.
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
