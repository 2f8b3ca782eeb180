-- SPDX-License-Identifier: MIT
--
-- stressed(program, seeds, rounds, settings): runs the program spec/lua/gc/PROGRAM.lua with the arguments
-- SEED and ROUNDS. Runs it for the seeds 1 to 'seeds' (or to the value of the environment variable
-- ASAMP_SEEDS), under each of the settings of LUAN_STRESS. The debug build verifies the heap at
-- collections. An error names the seed and the setting.

local process = require "spec.support.process"
local shell = require "spec.support.shell"

return function(program, seeds, rounds, settings)
  for seed = 1, tonumber(os.getenv("ASAMP_SEEDS") or seeds) do
    for _, stress in ipairs(settings) do
      local status, text = shell.run(("LUAN_STRESS=%s %s spec/lua/gc/%s.lua %d %d 2>&1"):format(
        stress, process.interpreter(), program, seed, rounds))
      if status ~= 0 then error(("%s, seed %d, %s: %s"):format(program, seed, stress, text), 2) end
    end
  end
end
