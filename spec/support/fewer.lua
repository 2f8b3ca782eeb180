-- SPDX-License-Identifier: MIT
-- fewer(n, m) returns how many times a spec repeats a loop: n, but m on the asan build, which takes 3 to 10
-- times as long. On that build it is enough to execute each line of code, because the other builds run all
-- n rounds. fewer(n) is nil on the asan build; at the end of a list, it leaves out an element there.

local asan = os.getenv "ASAMP_VARIANT" == "asan"

return function(n, m)
  if asan then return m end
  return n
end
