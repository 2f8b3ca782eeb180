-- SPDX-License-Identifier: MIT
-- The verdict on the page of `asamp view`: the sentences of the report.

local copies = require "asamp.sums.copies"
local leaks = require "asamp.sums.leaks"
local lives = require "asamp.show.page.lives"
local shown = require "asamp.show.verdict"
local totals = require "asamp.sums.totals"
local verdict = require "asamp.sums.verdict"

local M = {}

--- Returns the sentences of the report's verdict as a list of {text, command, rank}. Returns {} if the
-- profile was merged from several, or has no samples. It must have time slices (profile.bins).
function M.of(profile)
  if profile.profiles or profile.samples + profile.timesamples == 0 then
    return {}
  end
  local found = leaks.of(lives.coarse(profile))
  return shown.sentences(verdict.of(profile, totals.of(profile), found, copies.of(profile)), profile)
end

return M
