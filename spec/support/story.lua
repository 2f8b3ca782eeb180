-- SPDX-License-Identifier: MIT
-- For specs that take random actions on a thing and on its model.

--- story(seed) -> same(what, expected, got), to be called for every action: raises
-- an error with the seed and the last actions when the two differ.
return function(seed)
  local story = {}
  return function(what, expected, got)
    story[#story + 1] = what
    if expected ~= got then
      error(("seed %d, action %d: expected %s, got %s after: ... %s"):format(
        seed, #story, expected, got, table.concat(story, ", ", math.max(1, #story - 20))))
    end
  end
end
