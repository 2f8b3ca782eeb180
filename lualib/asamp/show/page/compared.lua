-- SPDX-License-Identifier: MIT
-- Data for the differential flame graph in the page of `asamp view`: columns of numbers and texts for
-- the NODES largest frames and the ROWS functions with the largest changes.

local compare = require "asamp.sums.compare"
local difftree = require "asamp.sums.difftree"
local measures = require "asamp.sums.measures"
local order = require "asamp.sums.order"
local totals = require "asamp.sums.totals"

local M = {}

local NODES, ROWS = 20000, 500
local SCALE = 1e6  -- standard errors in the page are integers, in 1 / SCALE of the profile's total
-- The page shows the measure "alive" first in place of the usual first measure if live bytes changed by more
-- than SIGMA standard errors, and if their relative change is larger than that of the usual measure by LEAST.
local SIGMA, LEAST = 3, 0.1

local function integer(x)
  return math.tointeger(x) or x
end

-- Converts a list of rows to columns: a map from each of 'keys' to the list of the rows' values for it.
local function columns(rows, keys)
  local out = {}
  for _, key in ipairs(keys) do
    out[key] = {}
    for i, row in ipairs(rows) do
      out[key][i] = row[key]
    end
  end
  return out
end

-- Converts a row of a comparison for the page: rounds numbers to integers where possible, so that their text
-- is short. Function numbers start at 0 in the page. The error is in units of 1 / SCALE.
local function rounded(row)
  return {fn = row.fn and row.fn - 1, a = integer(row.a), b = integer(row.b),
          totala = row.totala and integer(row.totala), totalb = row.totalb and integer(row.totalb),
          error = math.floor(row.error * SCALE + 0.5), noise = row.noise and 1 or 0}
end

-- Returns up to ROWS functions. Those with significant changes come first, then those whose changes may be
-- chance (noise). In both parts the function whose share changed most is the first.
local function largest(rows)
  local list = {}
  for _, row in ipairs(rows) do
    if row.a + row.b > 0 then
      list[#list + 1] = {row = row, noise = row.noise and 1 or 0, size = math.abs(row.change), fn = row.fn}
    end
  end
  table.sort(list, order.by("noise", "-size", "fn"))
  local out = {}
  for i = 1, math.min(ROWS, #list) do
    out[i] = rounded(list[i].row)
  end
  return out
end

-- Returns the change of a measure's total, as a share of the larger one of its two totals. 'r': result of
-- asamp.sums.compare.of.
local function part(r)
  return math.abs(r.b - r.a) / math.max(r.a, r.b)
end

-- Returns the key of the measure that the page shows first: "alive" if live bytes changed much (limits SIGMA
-- and LEAST); else the first measure of 'list' (result of difftree.measures).
--
-- old, a: the old profile and its totals
-- new, b: the new profile and its totals
local function first(old, a, new, b, list)
  local function compared(field)
    return compare.of(old, a, new, b, field, {sigma = SIGMA})
  end
  for _, measure in ipairs(list) do
    if measure.key == "alive" then
      local r = compared(measure.field)
      if math.abs(r.b - r.a) > SIGMA * r.error and part(r) >= part(compared(list[1].field)) + LEAST then
        return "alive"
      end
    end
  end
  return list[1].key
end

--- Returns the comparison of two profiles for the page, or nil if they have no measure in common.
--
--   - old, new: the profiles. In names of fields, a is the old profile and b the new one
--   - limit: largest number of frames; nil: NODES
--
-- Fields of the result:
--
--   - old: path of the old profile
--   - functions: columns name, file, line, native
--   - nodes: the frames, as columns parent (0: the root), fn (index of the function, from 0)
--   - left: number of omitted frames
--   - first: key of the measure that is shown first
--   - measures: list of measures
--
-- Fields of a measure:
--
--   - key: its name
--   - bytes: true if values are bytes
--   - worth: {old, new}, seconds per unit; nil: not a time
--   - wholea, wholeb: totals of the profiles
--   - ofa, ofb: totals by which values are divided to get shares
--   - a, b: columns by frame: its values, including those of its callees
--   - error: column by frame: standard error of the share's change, in 1 / SCALE
--   - noise: column by frame: 1 if the change is not significant
--   - rows: columns by function: fn, error, noise, a and b (without callees), totala and totalb (with
--     callees)
function M.of(old, new, limit)
  local a, b = totals.of(old), totals.of(new)
  local list = difftree.measures(old, a, new, b)
  if #list == 0 then
    return nil
  end
  local found = difftree.of(old, a, new, b, list, math.min(limit or NODES, NODES))
  local fns = {}
  for i, fn in ipairs(found.functions) do
    fns[i] = {name = fn.name, file = fn.file, line = fn.line, native = fn.native and 1 or 0}
  end
  local out = {old = old.path, functions = columns(fns, {"name", "file", "line", "native"}),
               nodes = {parent = found.nodes.parent, fn = {}}, left = found.left,
               first = first(old, a, new, b, list), measures = {}}
  for i, fn in ipairs(found.nodes.fn) do
    out.nodes.fn[i] = fn - 1
  end
  local seconds = (old.timeperiod or 0) > 0 and (new.timeperiod or 0) > 0
  for i, r in ipairs(found.measures) do
    local nodes = {}
    for k, row in ipairs(r.nodes) do
      nodes[k] = rounded(row)
    end
    local m = columns(nodes, {"a", "b", "error", "noise"})
    m.bytes = measures.isbytes(r.field)
    m.key, m.wholea, m.wholeb = r.key, integer(r.wholea), integer(r.wholeb)
    m.ofa, m.ofb = integer(r.ofa), integer(r.ofb)
    m.worth = r.key == "time" and seconds and {old.timeperiod, new.timeperiod} or nil
    m.rows = columns(largest(r.functions), {"fn", "a", "b", "totala", "totalb", "error", "noise"})
    out.measures[i] = m
  end
  return out
end

return M
