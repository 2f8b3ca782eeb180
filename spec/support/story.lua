-- SPDX-License-Identifier: MIT

-- For specs that apply random actions to an object and to a model of it. story(seed) returns a function
-- same(action, expected, got), which the spec calls after every action. If 'expected' and 'got' differ, it
-- raises an error that states the seed and the last actions.
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
