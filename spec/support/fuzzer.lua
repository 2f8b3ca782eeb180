-- SPDX-License-Identifier: MIT
-- Runs the fuzzers that spec/fuzz/build creates with a limited number of inputs. A fuzzer is linked with
-- the archive of the tested variant, or, if its options contain -D, compiled from the sources.

local process = require "spec.support.process"
local shell = require "spec.support.shell"

local SANITIZED = " -g -fno-omit-frame-pointer -fsanitize=address,undefined " ..
                  "-fno-sanitize-recover=undefined"

local variant = os.getenv "ASAMP_VARIANT" or "fork"

-- Compiles the fuzzer 'name' with these compiler options (on asan also with the sanitizers) and runs it.
-- 'inputs' has the number of inputs for each build variant. The environment variables ASAMP_SEED and
-- ASAMP_INPUTS override the seed and this number. If an input fails, raises an error that states the seed.
return function(name, options, seed, inputs)
  local program = os.tmpname()
  if variant == "asan" then options = options .. SANITIZED end
  local archive = options:find("-D", 1, true) and "" or ("build/%s/asamp.a"):format(variant)
  shell.output("spec/fuzz/build '%s' '%s' %s %s", program, options, name, archive)
  seed = os.getenv "ASAMP_SEED" or seed
  local n = os.getenv "ASAMP_INPUTS" or inputs[variant]
  local status, out, err = process.run{program = program, seed, n}
  os.remove(program)
  assert(status == 0 and out == n .. " inputs\n", ("seed %s: %s%s"):format(seed, out, err))
end
