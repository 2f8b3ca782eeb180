-- SPDX-License-Identifier: MIT
-- The samples that were alive when most of Lua's heap was in use, as `asamp report --at peak` has them:
-- at the end of the collection after which most was in use, without samples that a collection had
-- found dead by then. Tenured objects are found dead by major collections only. Pure: two readings of
-- a file in, columns out.

local measures = require "asamp.sums.measures"

local M = {}

--- Returns the microseconds since the start that the second reading needs as 'at'; nil if the
-- profile has no deaths or no collections.
function M.time(profile)
  return measures.hasdeaths(profile) and profile.course and profile.course.highest or nil
end

--- Returns {time (seconds), inuse (bytes after that collection), bin (the slice of the page that contains it,
-- from 0), columns node, kind (as in the page's rows), bytes}. 'at': the second reading; its nodes
-- and kinds have the numbers of the first. 'tree': of asamp.sums.pruned; 'bins': the page's slices.
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
