-- SPDX-License-Identifier: MIT
-- The proofs of likely leaks (asamp.sums.proof) on the page of `asamp view`: the sentences of the report.

local leaks = require "asamp.sums.leaks"
local lives = require "asamp.show.page.lives"
local shown = require "asamp.show.proof"
local totals = require "asamp.sums.totals"
local verdict = require "asamp.sums.verdict"

local M = {}

--- Returns the verdict on a profile with time slices (bins); nil: it has no likely leaks.
function M.verdict(profile)
  if profile.profiles or profile.samples == 0 then
    return nil
  end
  local judged = verdict.of(profile, totals.of(profile), leaks.of(lives.coarse(profile)))
  return #judged.leaks > 0 and judged or nil
end

--- Returns the proofs of likely leaks as {intro, rows, limit}: sentences, 'rows' a list of them. 'judged': a
-- verdict whose groups have proofs; 'snapshot': path of the heap snapshot that the proofs use.
function M.of(judged, snapshot)
  local rows = {}
  for i, group in ipairs(judged.leaks) do
    rows[i] = shown.sentence(group.proof, shown.lines(group.rows))
  end
  return {intro = "Measured in the snapshot " .. snapshot:match "[^/]*$", rows = rows, limit = shown.LIMIT}
end

return M
