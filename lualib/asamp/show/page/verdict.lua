-- SPDX-License-Identifier: MIT
-- The verdict of the page: the sentences of the report. Pure: a profile with bins in, a list of
-- {text, command} out; empty for a profile of several, one after the other.

local copies = require "asamp.sums.copies"
local leaks = require "asamp.sums.leaks"
local lives = require "asamp.show.page.lives"
local shown = require "asamp.show.verdict"
local totals = require "asamp.sums.totals"
local verdict = require "asamp.sums.verdict"

local M = {}

--- The sentences.
function M.of(profile)
  if profile.profiles or profile.samples + profile.timesamples == 0 then
    return {}
  end
  local found = leaks.of(lives.coarse(profile))
  return shown.sentences(verdict.of(profile, totals.of(profile), found, copies.of(profile)), profile)
end

return M
