-- SPDX-License-Identifier: MIT
-- Renders the proofs of asamp.sums.proof as sentences.

local layout = require "asamp.show.layout"
local steps = require "asamp.sums.proof".steps
local units = require "asamp.show.units"

local M = {}

--- Sentence that follows the proofs and states their limit.
M.LIMIT = "A proof measures which reference keeps the bytes, not whether the program still needs them: " ..
          "a cache or list in use is no leak."

--- Returns true if a likely leak ('group' of a verdict) is proved: a heap snapshot shows the reference that
-- keeps its bytes alive (asamp.sums.proof).
function M.holds(group)
  return group.proof ~= nil and group.proof.proved == true
end

-- Returns a path of references as text, with its last fields first: '["handlers"]["tick"] of local "bus" of
-- main chunk'.
local function named(path)
  local list = steps(path)
  local last = table.remove(list)
  while last:find "^%[" and #list > 1 and list[#list]:find "^%[" do
    last = table.remove(list) .. last
  end
  return layout.clean(last .. (#list > 0 and " of " .. table.concat(list, " → ") or ""))
end

--- Returns sentences about the bytes that would be freed without a certain reference, and about their share
-- of the live bytes that certain source lines allocated.
--
--   - proof: result of asamp.sums.proof.of
--   - lines: words for these source lines, such as "this line's" (M.lines)
--   - plain: true for a holder that is no likely leak: omits "Proved" and "Not proved"
function M.sentence(proof, lines, plain)
  if proof.reason then
    return ("%s: %s."):format(plain and "Not measurable" or "Not provable", layout.clean(proof.reason))
  end
  local text = ("%s %s frees %s (measured)"):format(
    proof.emptied and "emptying" or "removing", named(proof.holder), units.bytes(proof.freed))
  text = plain and text:gsub("^%l", string.upper) or
         (proof.proved and "Proved: " or "Not proved: ") .. text
  if proof.share then
    text = text .. (", %.0f%% of %s live bytes"):format(100 * proof.share, lines)
  else
    text = text .. ", and the snapshot has no sample of " .. lines:gsub("'s?$", "")
  end
  if proof.also then
    text = text .. (proof.emptied and ". Removing only this reference is not enough: " ..
                    "the emptied object is also held by " or ". The remaining objects are held by ") ..
           layout.clean(proof.also)
  end
  return text .. "."
end

--- Returns the parameter 'lines' of M.sentence for a likely leak. 'rows': list of the leak's lines.
function M.lines(rows)
  return #rows == 1 and "this line's" or "these lines'"
end

return M
