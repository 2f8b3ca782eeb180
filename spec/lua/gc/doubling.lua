-- SPDX-License-Identifier: MIT
--
-- The text of a function, for a state of its own (within.lua): it fills the list 'kept' with
-- strings until the string table is about to double, and returns a function that makes some
-- more, and returns a description of the doubled ones; nil: there are none.
return string.dump(function(kept)
  local function make(from, to)
    for i = from, to do
      local before = collectgarbage("count")
      kept[i] = "string " .. i
      if collectgarbage("count") - before > 900 then return i end
    end
  end
  local size = 1 << 17
  local at = make(1, 2 * size)  -- it has doubled to as many buckets again
  make(at + 1, at + size - 50)
  return function() return make(at + size - 49, at + size + 50) end
end)
