-- SPDX-License-Identifier: MIT
-- The notes on the page of `asamp view` about omitted and incomplete data (rule VD4 of data.lua).

local head = require "asamp.show.head"
local units = require "asamp.show.units"

local M = {}

--- Name of the function that represents the removed nodes of the call tree.
M.CUT = "[smaller callees]"

local function share(part)
  return part < 0.0005 and "less than 0.1%" or units.percent(part, 1)
end

local function number(n, one, several)
  return n == 1 and one or several
end

--- Returns notes for the reader of the page, mostly about missing data, as a list of sentences.
--
--   - tree: result of asamp.sums.pruned
--   - limit: largest number of its nodes
--   - data: the data that the page embeds
--   - more: list of further sentences, which are appended
function M.of(profile, tree, limit, data, more)
  local out = {}
  local function note(text, ...)
    out[#out + 1] = text:format(...)
  end
  if profile.message then
    note("The page shows the readable part of the file: %s.", profile.message)
  end
  if profile.undetailed > 0 then
    note("The end of the file is missing: size and survival of %s are unknown.%s",
         units.plural(profile.undetailed, "sample"), data.untimed >= 0 and
         (" %s unknown, too, so the timeline shows %s at its end, in a bar that is cut off."):format(
           number(profile.undetailed, "The time is", "The times are"),
           number(profile.undetailed, "this sample", "these samples")) or "")
  end
  if (profile.lost or 0) > 0 then
    note("%s lost (allocation or time): the page does not include %s.", number(profile.lost,
         "1 more sample was", units.count(profile.lost) .. " more samples were"),
         number(profile.lost, "it", "them"))
  end
  out[#out + 1] = head.untimed(profile)
  if profile.undecided > 0 and profile.fates then
    note("The survival of %s is unknown, because no collection followed: %s as not survived. " ..
         "Shares of survivors do not include %s.", units.plural(profile.undecided, "sample"),
         number(profile.undecided, "it counts", "they count"), number(profile.undecided, "it", "them"))
  end
  if profile.samples > 0 and profile.bytes == 0 then
    note("The file does not record how many bytes a sample represents.")
  end
  if profile.timed == false and profile.samples + profile.timesamples > 0 then
    note("The file has no times of samples, so the timeline shows them at equal distances.")
  end
  if profile.bins and profile.bins.n > 1 and data.bins.n < profile.bins.n then
    note("The timeline has only %s, so that the page stays small.", units.plural(data.bins.n, "slice"))
  end
  if tree.cut > 0 then
    note("The call tree contains its %s largest nodes; %s, %s of all samples, %s shown as %s.",
         units.count(limit), units.plural(tree.cut, "smaller one"), share(tree.share),
         number(tree.cut, "is", "are"), M.CUT)
  end
  if data.step > 1 then
    note("Each point of the timeline shows the largest values of %s collections.",
         units.count(data.step * (profile.collections[1].n or 1)))
  end
  -- The number of marks that the program set: those of heap walks do not count.
  local marks = #data.marks - #(profile.walktimes or {})
  if #profile.marks > marks then
    note("The timeline shows only %s of the marks, evenly spaced.", units.count(marks))
  end
  if profile.ring and profile.ring.samples > 0 then
    note("Of the flight recorder's samples, %s older than the period that the recorder keeps: " ..
         "%s still alive when this period started.",
         number(profile.ring.samples, "1 is", units.count(profile.ring.samples) .. " are"),
         number(profile.ring.samples, "the object was", "the objects were"))
  end
  for _, left in ipairs(profile.left) do
    note("Incomplete data: %s.", left.text)
  end
  return table.move(more, 1, #more, #out + 1, out)
end

return M
