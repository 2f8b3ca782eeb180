-- SPDX-License-Identifier: MIT
-- Native memory by library, and its peak.
--
-- A sample is charged to the library of its innermost C function outside the C and C++ runtime libraries:
-- memory from strdup counts for the caller of strdup. If the stack has only functions of these libraries, the
-- innermost one counts.

local measures = require "asamp.sums.measures"
local order = require "asamp.sums.order"
local totals = require "asamp.sums.totals"

local M = {}

M.KIND = "native"

local function isruntime(file)
  local name = file:match "[^/]*$"
  return name:find "^libc[.-]" or name:find "^libstdc%+%+%." or name:find "^libc%+%+%."
end

-- Returns the path of the library to which a stack is charged, or false if the stack has no C function of a
-- known library. 'node': the innermost frame of the stack.
local function libraryof(profile, node)
  local nodes, innermost = profile.nodes, false
  while node > 0 do
    local fn = profile.functions[nodes.fn[node]]
    if not fn.native or fn.file == "-" then
      break
    elseif not isruntime(fn.file) then
      return fn.file
    end
    innermost = innermost or fn.file
    node = nodes.parent[node]
  end
  return innermost
end

-- Returns the largest number of live bytes at the end of a time slice, and that time in seconds, or nil if it
-- is unknown. Ignores blocks that died before their first collection.
--
-- kinds: set of kinds of blocks that count
-- covered: set of the call tree nodes whose samples count; nil: all
local function highest(profile, kinds, covered)
  local bins, gone = profile.bins, profile.gone
  local change, alive, most, at = {}, 0, 0, 0
  if not bins or not gone or not measures.hasdeaths(profile) then
    return nil
  end
  local width = math.max(bins.width, gone.width)
  local last = 0
  local function add(columns, bytes, sign)
    for i, kind in ipairs(columns.kind) do
      if kinds[kind] and (not covered or covered[columns.node[i]]) then
        local slice = columns.bin[i] * columns.width // width + 1
        change[slice] = (change[slice] or 0) + sign * bytes[i]
        last = math.max(last, slice)
      end
    end
  end
  add(bins, bins.survivedbytes, 1)
  add(gone, gone.bytes, -1)
  for slice = 1, last do
    alive = alive + (change[slice] or 0)
    if alive > most then
      most, at = alive, math.min(slice * width / 1e6, profile.duration or math.huge)
    end
  end
  return most, at
end

--- Returns the native memory of a profile, or nil if it was not sampled.
--
--   - samples, bytes: all samples of native memory, and the bytes that they represent
--   - alive: bytes alive at the end; nil: the file does not record deaths
--   - peak, peaktime: largest live bytes at the end of a time slice, and its time in seconds; nil: unknown
--   - libraries: rows for the libraries, the largest first. Fields of a row:
--     - library: path; "-": no C stack
--     - samples, bytes, alive: of this library
--     - file, line, name: the Lua line with most bytes; nil: none
--
-- covered: set of the call tree nodes whose samples count; nil: all
function M.of(profile, covered)
  if not profile.malloc then
    return nil
  end
  local kinds, sites, known = {}, profile.sites, measures.hasdeaths(profile)
  for i, kind in ipairs(profile.kinds) do
    kinds[i] = kind.name == M.KIND or nil
  end
  local _, _, nearest = totals.linerows(profile)
  local whole, bylibrary = {samples = 0, bytes = 0, alive = known and 0 or nil, libraries = {}}, {}
  for i, kind in ipairs(sites.kind) do
    local node = sites.node[i]
    if kinds[kind] and (not covered or covered[node]) then
      local library = libraryof(profile, node) or "-"
      local row = bylibrary[library]
      if not row then
        row = {library = library, samples = 0, bytes = 0, alive = known and 0 or nil, lines = {}}
        bylibrary[library], whole.libraries[#whole.libraries + 1] = row, row
      end
      for _, sum in ipairs{whole, row} do
        sum.samples, sum.bytes = sum.samples + sites.samples[i], sum.bytes + sites.bytes[i]
        sum.alive = known and sum.alive + sites.survivedbytes[i] - sites.laterbytes[i] or nil
      end
      local line = nearest[node]
      if line then
        local n = (row.lines[line] or 0) + sites.bytes[i]
        row.lines[line] = n
        if n > (row.most or 0) then
          row.most, row.file, row.line, row.name = n, line.file, line.line, line.name
        end
      end
    end
  end
  for _, row in ipairs(whole.libraries) do
    row.lines, row.most = nil, nil
  end
  table.sort(whole.libraries, order.by("-bytes", "library"))
  whole.peak, whole.peaktime = highest(profile, kinds, covered)
  return whole
end

return M
