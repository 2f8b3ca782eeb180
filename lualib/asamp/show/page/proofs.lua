-- SPDX-License-Identifier: MIT
-- The proofs of likely leaks (asamp.sums.proof) on the page of `asamp view`: the sentences of the report.

local leaks = require "asamp.sums.leaks"
local lives = require "asamp.show.page.lives"
local shown = require "asamp.show.proof"
local totals = require "asamp.sums.totals"
local verdict = require "asamp.sums.verdict"

local M = {}

--- Returns the verdict (asamp.sums.verdict) on a profile with time slices: whether and why the heap grows.
-- Returns nil if it has no likely leaks or no samples, or if it was merged from several.
function M.verdict(profile)
  if profile.profiles or profile.samples == 0 then
    return nil
  end
  local judged = verdict.of(profile, totals.of(profile), leaks.of(lives.coarse(profile)))
  return #judged.leaks > 0 and judged or nil
end

--- Returns the proofs of likely leaks as three fields of sentences:
--
--   - intro: the first sentence
--   - rows: list with a sentence for each leak
--   - limit: the last sentence
--
-- judged: a verdict whose likely leaks have proofs (asamp.sums.proof)
-- snapshot: path of the heap snapshot in which bytes were measured
function M.of(judged, snapshot)
  local rows = {}
  for i, group in ipairs(judged.leaks) do
    rows[i] = shown.sentence(group.proof, shown.lines(group.rows))
  end
  return {intro = "Measured in the snapshot " .. snapshot:match "[^/]*$", rows = rows, limit = shown.LIMIT}
end

return M
