-- SPDX-License-Identifier: MIT
-- Proves likely leaks with a heap snapshot (profiler.heap) of the same run: computes the bytes that would
-- become free without the reference that the report names.
--
-- The bytes are exact, because the snapshot has all objects. Shares of a line's bytes are estimated from its
-- samples.

local holders = require "asamp.sums.holders"

local M = {}

--- A likely leak is proved if the removal of the reference to its holder would free half of the live sampled
-- bytes of its lines. If these lines keep bytes in several containers, half of their part in this container
-- is enough (partof).
M.ENOUGH = 1 / 2

function M.steps(text)
  local list = {}
  for step in (text .. holders.ARROW):gmatch("(.-)" .. holders.ARROW) do
    list[#list + 1] = step
  end
  return list
end

-- Returns the numbers of the allocation sites of the snapshot 'heap' at the lines 'rows' ({file, line} each).
local function sitesof(heap, rows)
  local list, wanted = {}, {}
  for _, row in ipairs(rows) do
    wanted[("%s\0%d"):format(row.file, row.line)] = true
  end
  for _, site in ipairs(heap:sites{}) do
    if site.source and wanted[("%s\0%d"):format(site.source, site.line)] then
      list[#list + 1] = site.site
    end
  end
  return list
end

-- Returns the text of the start of a path, up to its first container: a table before a step with one index,
-- such as [12]. If there is none, returns the first result of holders.container.
local function container(text)
  local list = M.steps(text)
  for i = 2, #list do
    if list[i]:find "^%[%d+%]$" then
      return table.concat(list, holders.ARROW, 1, i - 1)
    end
  end
  return (holders.container(text))
end

-- Returns the share (0 to 1) of the kept bytes of a likely leak's lines that is in the leak's container. The
-- rest of these bytes is in other containers.
--
-- group: element of the field 'leaks' of asamp.sums.verdict.of
local function partof(group)
  local kept, whole = 0, 0
  for _, row in ipairs(group.rows) do
    kept, whole = kept + (row.keptbytes or 0), whole + (row.whole or row.keptbytes or 0)
  end
  return kept / math.max(whole, 1)
end

-- Converts a result of heap:cut to a proof (result of M.of).
--
-- cut: the result: bytes that would be freed without some references
-- holder: text of the path whose references were cut
-- least: the leak is proved if at least this share of the sampled bytes would be freed
-- emptied: true: the references to the holder's elements were cut, instead of those to the holder
local function ofcut(cut, holder, least, emptied)
  local share = cut.samplebytes > 0 and cut.freedbytes / cut.samplebytes or nil
  return {holder = holder, emptied = emptied, freed = cut.freed, objects = cut.objects,
          references = cut.references, share = share, samples = cut.samples,
          proved = share ~= nil and share >= least and cut.freed > 0,
          also = cut.also and container(holders.text(cut.also)) or nil}
end

--- Computes which bytes would be freed without the references to the holder of a likely leak. Returns the
-- proof as a table. If there is none, for example because the holder is unknown, the table has only the
-- field 'reason' (text). Otherwise it has these fields:
--
--   - holder: text of the path to the holder
--   - references: number of removed references
--   - freed: bytes of the objects that would be freed
--   - objects: number of these objects
--   - share: freed bytes, as a share of the live sampled bytes of the leak's lines; nil: these have no live
--     samples
--   - samples: number of these live samples
--   - emptied: true: the references to the holder's elements were removed, because other references keep the
--     holder itself alive
--   - also: path of another holder that keeps the remaining objects alive; nil: none
--   - proved: true: the share is large enough (M.ENOUGH)
--
-- heap: the snapshot
-- group: element of the field 'leaks' of asamp.sums.verdict.of
function M.of(heap, group)
  if group.rows[1].type == "native" then
    return {reason = "the bytes are native memory, which no reference of Lua holds"}
  elseif not group.holder then
    return {reason = "no holder is known"}
  end
  local query = {steps = M.steps(group.holder), sites = sitesof(heap, group.rows)}
  local cut, reason = heap:cut(query)
  if not cut then
    return {reason = reason}
  end
  local least = M.ENOUGH * partof(group)
  local proof = ofcut(cut, group.holder, least)
  if not proof.proved then
    query.elements = true
    cut = heap:cut(query)
    local emptied = cut and ofcut(cut, group.holder, least, true)
    if emptied and emptied.proved then
      emptied.also = proof.also
      return emptied
    end
  end
  return proof
end

--- Sets the field 'proof' of each likely leak of a verdict (asamp.sums.verdict.of) to the result of M.of with
-- the snapshot 'heap'.
function M.add(heap, verdict)
  for _, group in ipairs(verdict.leaks) do
    group.proof = M.of(heap, group)
  end
end

return M
