-- SPDX-License-Identifier: MIT
-- fewer(n, m) returns how many times a spec repeats a loop: n, but m on the asan build, which takes 3 to 10
-- times as long. On that build it is enough to execute each line of code, because the other builds run all
-- n rounds.

local asan = os.getenv "ASAMP_VARIANT" == "asan"

return function(n, m) return asan and m or n end
