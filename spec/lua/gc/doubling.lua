-- SPDX-License-Identifier: MIT
--
-- Returns the dumped code of a function, which is loaded in a separate state (within.lua). The function
-- fills the list 'kept' with strings until the string table is just below its next doubling. It returns a
-- second function, which creates some more strings and returns the number of the string at which the table
-- doubled, or nil.
return string.dump(function(kept)
  local function make(from, to)
    for i = from, to do
      local before = collectgarbage("count")
      kept[i] = "string " .. i
      if collectgarbage("count") - before > 900 then return i end
    end
  end
  local size = 1 << 17
  -- The string table has just doubled. It doubles again after 'size' more strings.
  local at = make(1, 2 * size)
  make(at + 1, at + size - 50)
  return function() return make(at + size - 49, at + size + 50) end
end)
