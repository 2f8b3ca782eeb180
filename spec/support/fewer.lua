-- SPDX-License-Identifier: MIT
-- fewer(n, m): how many rounds a loop of a spec makes: n, but m on the asan build, which takes
-- 3 to 10 times as long. There the instructions matter, and the release and debug builds
-- run all rounds.

local asan = os.getenv "ASAMP_VARIANT" == "asan"

return function(n, m) return asan and m or n end
