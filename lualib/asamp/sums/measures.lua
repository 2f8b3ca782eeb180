-- SPDX-License-Identifier: MIT
-- The measures of a sum (fields: totals.lua), their names and their variances.

local M = {}

--- Maps the words that --by accepts to fields of a sum.
M.MEASURES = {bytes = "bytes", samples = "samples", survived = "survivedbytes",
              alive = "alivebytes", time = "timesamples"}

--- Maps the fields that rows can be sorted by to their names.
M.NAMES = {bytes = "bytes", samples = "samples", timesamples = "time",
           survivedbytes = "bytes that survived",
           survived = "samples that survived",
           alivebytes = "bytes alive at the end",
           alive = "samples alive at the end"}

-- For each field of sums (totals.lua) with bytes: COUNTS has the field with the number of samples of these
-- bytes, VARIANCES the field with the variance of the bytes.
local COUNTS = {bytes = "samples", survivedbytes = "survived",
                alivebytes = "alive"}
local VARIANCES = {bytes = "bytesquares", survivedbytes = "survivedsquares",
                   alivebytes = "alivesquares"}

--- Returns the field with numbers of samples that belongs to a field of bytes, such as "samples" for "bytes".
-- Returns any other field unchanged.
function M.counted(field)
  return COUNTS[field] or field
end

--- Returns the variance of a field of a sum, in the square of the field's unit. The model: the number of
-- allocation samples is a Poisson count, so n samples have the variance n. A time sample that represents n
-- sampling periods is a single observation, and has the variance n^2.
function M.variance(profile, sum, field)
  if field == "timesamples" then
    return sum.timesquares
  elseif not COUNTS[field] then
    return sum[field]
  elseif (profile.periods or 0) > 0 or profile.uneven then
    return sum[VARIANCES[field]]
  end
  return sum[field] * math.max(profile.period or 1, 1)
end

--- Returns two values, whose quotient is the share of a sum that has one outcome, such as "survived":
--
--   1. bytes with this outcome
--   2. bytes with any known outcome
--
-- If the sum has no bytes, the values are numbers of samples instead.
--
-- sum: a sum of totals.lua
-- which: the outcome: "survived", "later" (survived and died later) or "alive"
function M.fate(sum, which)
  if sum.bytes > 0 then
    local undecided = sum.undecidedbytes
    if undecided == 0 then
      undecided = sum.undecided * (sum.bytes // sum.samples)
    end
    return sum[which .. "bytes"], sum.bytes - undecided
  end
  return sum[which], sum.samples - sum.undecided
end

--- Returns the number of time samples of equal weight that would measure the time of a sum with the same
-- relative error. It is below the number of sampling periods if some samples represent several of them.
function M.observations(sum)
  return sum.timesquares > 0 and sum.timesamples ^ 2 / sum.timesquares or 0
end

--- Returns the field of sums for the measure 'by' (a key of MEASURES), such as "alivebytes" for "alive". If
-- 'unit' is "samples", returns the field with the number of samples instead, such as "alive".
function M.field(by, unit)
  local field = M.MEASURES[by]
  return unit == "samples" and M.counted(field) or field
end

function M.isbytes(field)
  return COUNTS[field] ~= nil
end

--- Returns the clock of a profile's time samples: "CPU", "wall" or "CPU and wall", or nil if there are no
-- time samples, or if their clock is unknown.
function M.clock(profile)
  if profile.timesamples == 0 or not profile.own then
    return nil
  end
  return profile.wall and (profile.cpu and "CPU and wall" or "wall") or "CPU"
end

--- Returns true if the profile records which survivors died later. Only then the bytes alive at its end are
-- known.
function M.hasdeaths(profile)
  return profile.fates and (profile.followed or 0) > 0
end

return M
