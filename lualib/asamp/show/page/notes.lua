-- SPDX-License-Identifier: MIT
-- What the page says of what it leaves out, or shows in part (VD4). Pure.

local measures = require "asamp.sums.measures"
local units = require "asamp.show.units"

local M = {}

--- The function that stands for what was cut of the call tree.
M.CUT = "[smaller callees]"

local function share(part)
  return part < 0.0005 and "less than 0.1%" or units.percent(part, 1)
end

--- A list of sentences. 'tree': of asamp.sums.pruned, 'limit' of its nodes; 'data': what
-- the page embeds.
function M.of(profile, tree, limit, data)
  local out = {}
  local function note(text, ...)
    out[#out + 1] = text:format(...)
  end
  if profile.message then
    note("The file is not whole: %s. The page shows what could be read.", profile.message)
  end
  if profile.undetailed > 0 then
    note("%s came without size and fate: the file is cut.%s",
         units.plural(profile.undetailed, "sample"), data.untimed >= 0 and
         " They tell no time either and stand in the last slice of the timeline, " ..
         "whose bar is cut off." or "")
  end
  if (profile.lost or 0) > 0 then
    note("%s more were lost, of allocation or of time, and are not in the page.",
         units.plural(profile.lost, "sample"))
  end
  if profile.undecided > 0 and profile.fates then
    note("%s had no collection before the end; they count as not survived, and in no share of what " ..
         "survived.",
         units.plural(profile.undecided, "sample"))
  end
  if measures.tellsdeaths(profile) and profile.unfollowed > 0 then
    note("Of %s that survived it is not known when they died; they count as alive.",
         units.plural(profile.unfollowed, "sample"))
  end
  if profile.samples > 0 and profile.bytes == 0 then
    note("The file does not tell how many bytes a sample stands for.")
  end
  if profile.timed == false and profile.samples + profile.timesamples > 0 then
    note("The file tells no times: on the timeline samples are one period apart.")
  end
  if profile.bins and profile.bins.n > 1 and data.bins.n < profile.bins.n then
    note("The timeline has %d slices, so that the page stays small.", data.bins.n)
  end
  if tree.cut > 0 then
    note("The call tree has its %s largest nodes; %s smaller ones, %s of all samples, " ..
         "are shown as %s.", units.count(limit), units.count(tree.cut), share(tree.share), M.CUT)
  end
  if data.step > 1 then
    note("The timeline shows the largest values of every %s collections.",
         units.count(data.step * (profile.collections[1].n or 1)))
  end
  local marks = #data.marks - #(profile.walktimes or {})  -- the program's own
  if #profile.marks > marks then
    note("The timeline shows %s marks, evenly among all.", units.count(marks))
  end
  if profile.ring and profile.ring.samples > 0 then
    note("Of the flight recorder's samples %s are from before its time, and were alive then.",
         units.count(profile.ring.samples))
  end
  for _, left in ipairs(profile.left) do
    note("Limits: %s.", left.text)
  end
  return out
end

return M
