-- SPDX-License-Identifier: MIT
-- The samples alive at the peak of Lua's heap, for the page of `asamp view`. The peak is the collection after
-- which most bytes were in use. A sample counts as alive if no collection until then found it dead, as in
-- `asamp report --at peak`. Only major collections find old objects dead.

local measures = require "asamp.sums.measures"

local M = {}

--- Returns the time of the peak, at which most bytes were in use, in us since the start, or nil if the
-- profile does not record when objects died, or has no collections. With this time as the option 'at',
-- profiler.reader returns the profile as of the peak.
function M.time(profile)
  return measures.hasdeaths(profile) and profile.course and profile.course.highest or nil
end

--- Returns the samples alive at the peak, the time at which most bytes were in use, as a table:
--
--   - time: time of the peak, seconds since the start
--   - inuse: bytes in use after the collection at this time
--   - bin: number of the page's time slice, from 0
--   - node, kind, bytes: columns of equal length: bytes by call tree node and kind
--
-- Parameters:
--
--   - at: the profile read as of the peak, with the same numbers of nodes and kinds
--   - tree: result of asamp.sums.pruned
--   - bins: time slices of the page
function M.of(profile, at, tree, bins)
  local time, nkinds = M.time(profile), #profile.kinds
  local out, index = {node = {}, kind = {}, bytes = {}}, {}
  for i, number in ipairs(at.sites.node) do
    local node, kind, bytes = tree.map[number], at.sites.kind[i] - 1, at.sites.bytes[i]
    if node and kind < nkinds and bytes > 0 and not profile.kinds[kind + 1].time then
      local key = node * nkinds + kind
      local n = index[key]
      if not n then
        n = #out.node + 1
        index[key], out.node[n], out.kind[n], out.bytes[n] = n, node, kind, 0
      end
      out.bytes[n] = out.bytes[n] + bytes
    end
  end
  out.time, out.inuse = time / 1e6, profile.course.peak.inuse
  out.bin = math.max(0, math.min(bins.n - 1, (time - bins.start) // bins.width))
  return out
end

return M
