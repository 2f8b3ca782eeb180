-- SPDX-License-Identifier: MIT
-- fewer(n, m): returns the number of rounds of a loop in a spec: n, but m on the asan build, which takes 3
-- to 10 times as long. On this build it suffices to execute each line of code; the other builds run all
-- rounds.

local asan = os.getenv "ASAMP_VARIANT" == "asan"

return function(n, m) return asan and m or n end
