-- SPDX-License-Identifier: MIT
-- What can be measured of a sum (totals.lua says what a sum has), what that is
-- called, and how sure it is. Pure.

local M = {}

--- Fields of a sum by the name of what they measure.
M.MEASURES = {bytes = "bytes", samples = "samples", survived = "survivedbytes",
              alive = "alivebytes", time = "timesamples"}

--- What the fields that can be sorted by are called.
M.NAMES = {bytes = "bytes", samples = "samples", timesamples = "time",
           survivedbytes = "bytes that survived",
           survived = "samples that survived",
           alivebytes = "bytes alive at the end",
           alive = "samples alive at the end"}

-- Of fields of bytes: the fields of their samples, and of their variances.
local COUNTS = {bytes = "samples", survivedbytes = "survived",
                alivebytes = "alive"}
local VARIANCES = {bytes = "bytesquares", survivedbytes = "survivedsquares",
                   alivebytes = "alivesquares"}

--- The field of the samples that a field is made of.
function M.counted(field)
  return COUNTS[field] or field
end

--- The variance of what a sum has of a field that can be sorted by, in that
-- field's unit, squared. The points of a block are independent of each other,
-- the periods of a stack of time are not.
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

--- Of what a sum has a fate: the part that 'survived', died 'later' or is 'alive',
-- and the whole; both in bytes if these are known.
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

--- How many independent observations a sum's time is worth; a number.
function M.observations(sum)
  return sum.timesquares > 0 and sum.timesamples ^ 2 / sum.timesquares or 0
end

--- The field of a measure; 'unit': see M.of.
function M.field(by, unit)
  local field = M.MEASURES[by]
  return unit == "samples" and M.counted(field) or field
end

--- Is a field one of bytes?
function M.isbytes(field)
  return COUNTS[field] ~= nil
end

--- The clock of a profile's samples of time, "CPU", "wall" or both of them; nil when
-- it has none or does not tell.
function M.clock(profile)
  if profile.timesamples == 0 or not profile.own then
    return nil
  end
  return profile.wall and (profile.cpu and "CPU and wall" or "wall") or "CPU"
end

--- Does the file tell who died later, and so what is alive at the end?
function M.tellsdeaths(profile)
  return profile.fates and (profile.followed or 0) > 0
end

return M
