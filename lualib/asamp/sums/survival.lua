-- SPDX-License-Identifier: MIT
-- Estimates the share of a nursery's bytes that survives a collection, for any size of nursery. All lengths
-- are bytes filled in the nursery.
--
-- The model has two functions, A and B. Of the bytes that are allocated v after the previous collection and u
-- before the next one, the share A(u) B(v) is dead at the next one.
--
--   - A is the mortality by age.
--   - B is below 1 shortly after a collection because of nepotism: dead objects that were just tenured keep
--     younger ones alive.
--
-- A and B are fitted alternately to counts of samples, and made monotone (isotonic regression: Ayer, Brunk
-- and others 1955). Nurseries of many sizes (LUA_GC=nursery=128K-2M) determine both functions; with a single
-- size, only the monotonicity separates them.

local M = {}

local ROUNDS = 60
local TAIL = 0.03

-- Returns the mortality of each bin (range of ages): the share of bytes that die. The result is the
-- non-decreasing sequence of shares that fits the observed shares best. A bin without bytes has the share of
-- the previous one. The last share is used for all greater ages, too, so at least 3% of the bytes (TAIL) must
-- determine it.
--
-- died, exposed: lists by bin: dead bytes, and all bytes
-- bins: number of the last bin
-- most: largest share
local function monotone(died, exposed, bins, most)
  local pools, all = {}, 0
  for k = 0, bins do
    if (exposed[k] or 0) > 0 then
      local pool = {from = k, died = died[k], exposed = exposed[k]}
      while #pools > 0 and
            pools[#pools].died * pool.exposed >= pool.died * pools[#pools].exposed do
        local before = table.remove(pools)
        pool = {from = before.from, died = before.died + pool.died,
                exposed = before.exposed + pool.exposed}
      end
      pools[#pools + 1] = pool
      all = all + exposed[k]
    end
  end
  while #pools > 1 and pools[#pools].exposed < TAIL * all do
    local last = table.remove(pools)
    local pool = pools[#pools]
    pool.died, pool.exposed = pool.died + last.died, pool.exposed + last.exposed
  end
  local values, at = {}, 1
  pools[1] = pools[1] or {from = 0, died = 1, exposed = 0}
  for k = 0, bins do
    while pools[at + 1] and pools[at + 1].from <= k do at = at + 1 end
    values[k] = math.min(most, pools[at].died / pools[at].exposed)
  end
  return values
end

-- Adds up the bytes of samples by one of two ages: the bytes from the allocation to the next collection (u),
-- or those from the previous collection to the allocation (v). Returns two lists by bin of this age: dead
-- bytes, and all bytes.
--
-- cells: profile.ages: the samples by both ages; a cell has those of one bin of each age
-- by: name of the field of a cell with the bin of this age
-- other: name of the field with the bin of the other age
-- values: list of factors, by bin of the other age, by which all bytes of a cell are multiplied; nil: 1
local function sums(cells, by, other, values)
  local died, exposed = {}, {}
  for _, cell in ipairs(cells) do
    local k = cell[by]
    died[k] = (died[k] or 0) + cell.bytes - cell.survived
    exposed[k] = (exposed[k] or 0) + cell.bytes * (values and values[cell[other]] or 1)
  end
  return died, exposed
end

--- Fits the model to a profile's samples. Returns nil if there are none. The result is the parameter 's' of
-- M.share and M.doubt. Other modules use these fields of it:
--
--   - reach: size of the largest observed nursery, bytes
--   - bytes: bytes of all samples
--   - mean: share of these bytes that survived
--   - byage: mortality by bin of the age (share of dead bytes, 0 to 1)
--   - bins: number of the last bin
--
-- ages: the field 'ages' of a profile
function M.of(ages)
  if #ages == 0 then
    return nil
  end
  local bins, bytes, survived, last = 0, 0, 0, 0
  for _, cell in ipairs(ages) do
    bins = math.max(bins, cell.behind, cell.before)
    last = math.max(last, cell.behind)
    bytes, survived = bytes + cell.bytes, survived + cell.survived
  end
  local byage, bybirth
  local function ofage(other)
    local died, exposed = sums(ages, "behind", "before", other)
    return monotone(died, exposed, bins, 1)
  end
  local function ofbirth(other)
    local died, exposed = sums(ages, "before", "behind", other)
    return monotone(died, exposed, bins, 1)
  end
  local agealone, birthalone, one = ofage(), ofbirth(), {}
  for k = 0, bins do one[k] = 1 end
  for _ = 1, ROUNDS do
    byage = ofage(bybirth)
    bybirth = ofbirth(byage)
  end
  local function startof(k)
    return k == 0 and 0 or ages.first * 2 ^ ((k - 1) / ages.doubling)
  end
  return {byage = byage, bybirth = bybirth, bins = bins, startof = startof,
          alone = {{byage = agealone, bybirth = one, bins = bins, startof = startof},
                   {byage = one, bybirth = birthalone, bins = bins, startof = startof}},
          mean = survived / bytes, bytes = bytes,
          reach = startof(last + 1)}
end

--- Returns the share of n allocated bytes of a nursery that survives its collection, 0 to 1. 's': result of
-- M.of.
function M.share(s, n)
  if n <= 0 then
    return 1
  end
  local cuts = {0, n}
  for k = 1, s.bins do
    local at = s.startof(k)
    if at < n then
      cuts[#cuts + 1], cuts[#cuts + 2] = at, n - at
    end
  end
  table.sort(cuts)
  local died, u, v = 0, 0, s.bins
  for i = 1, #cuts - 1 do
    local from, to = cuts[i], cuts[i + 1]
    local mid = (from + to) / 2
    while u < s.bins and s.startof(u + 1) <= mid do u = u + 1 end
    while v > 0 and s.startof(v) > n - mid do v = v - 1 end
    died = died + (to - from) * s.byage[u] * s.bybirth[v]
  end
  return 1 - died / n
end

--- Returns the uncertainty of M.share(s, n), the estimated share of a nursery of n bytes that survives. The
-- result is the largest difference of this share from the estimates of two simpler models. In one of them,
-- survival depends only on an object's age. In the other one, it depends only on the bytes between the
-- previous collection and the object's allocation.
--
-- s: result of M.of
function M.doubt(s, n)
  local share, most = M.share(s, n), 0
  for _, one in ipairs(s.alone) do
    most = math.max(most, math.abs(M.share(one, n) - share))
  end
  return most
end

return M
