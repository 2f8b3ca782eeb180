-- SPDX-License-Identifier: MIT
-- Parses the command line of bench/pauses. No side effects.

local pause_options = {}

local options = require "runner.options"

pause_options.USAGE = [[
usage: bench/pauses [options]
  --live MB         the live heap (default 1024)
  --allocate MB     records allocated in addition (default 8 times the live heap)
  --survivors N     of 16 records, how many replace a live one (default 4)
  --page N          records in one array (default 1024)
  --trap NAME       in the place of the records a trap of bench/trap, made and dropped
                    twice while it is measured: threads, finalizers, strings, stack,
                    tables, large, weak, slots
  --size N          objects of the trap that are alive at once (default: the trap's)
  --batches N       batches of the trap (default 100000)
  --clock CLOCK     cpu (of the thread) or wall (default cpu)
  --rounds N        runs of every configuration (default 1)
  --configs A,B     VARIANT:MODE, or idle for the machine's own noise
                    VARIANT: plain, fork
                    MODE: default, generational, incremental, full (stop-the-world)
  --plain PATH      the baseline (default build/plain/bin/lua)
  --fork PATH       the fork (default build/bin/lua)]]

local TAKES_VALUE = {
  live = true, allocate = true, survivors = true, page = true, clock = true, rounds = true,
  configs = true, plain = true, fork = true, trap = true, size = true, batches = true,
}
local FLAGS = { help = true }

local CONFIGS = "plain:generational,plain:incremental,plain:full,"
  .. "fork:default,fork:generational,fork:incremental,fork:full,idle"
local MODES = { default = true, generational = true, incremental = true, full = true }

-- number of records per batch, as in micro/churn.lua
local BATCH = 16
-- bytes that one record of micro/churn.lua takes with upstream's Lua
local RECORD_BYTES = 320

-- Default of --size, the number of live objects, for each trap.
local TRAPS = {
  threads = 1000000, finalizers = 1000000, strings = 4000000, stack = 150000,
  tables = 50000, large = 300000, weak = 1000000, slots = 4000000,
}
local NOT_OF_TRAPS = { "live", "allocate", "survivors", "page" }

-- Returns the configuration for a name, { name, variant = "plain" or "fork", mode }; or nil and a message.
local function configuration(name)
  if name == "idle" then return { name = name, variant = "plain", mode = "idle" } end
  local variant, mode = name:match("^(%a+):(%a+)$")
  if (variant == "plain" or variant == "fork") and MODES[mode] then
    return { name = name, variant = variant, mode = mode }
  end
  return nil, ("no configuration named %q; see --help"):format(name)
end

-- Checks the options of a trap and adds their defaults. Returns nil and a message if they are wrong.
local function complete_trap(found)
  if not found.trap then
    local stray = found.size and "size" or found.batches and "batches"
    if stray then return nil, ("--%s is an option of --trap; see --help"):format(stray) end
    return true
  end
  local default = TRAPS[found.trap]
  if not default then return nil, ("no trap named %q; see --help"):format(found.trap) end
  for _, name in ipairs(NOT_OF_TRAPS) do
    if found[name] then return nil, ("--%s is not for --trap; see --help"):format(name) end
  end
  local message
  found.size, message = options.positive(found, "size", default)
  if message then return nil, message end
  found.batches, message = options.positive(found, "batches", 100000)
  return message == nil, message
end

-- Parses the arguments of bench/pauses. Returns a table with a field for each option of USAGE; configs is a
-- list of configurations. The field records is the number of live records, computed from --live. Without
-- --trap, batches is the number of batches of BATCH records that are allocated, computed from --allocate.
-- Returns nil and a message if an argument is wrong.
function pause_options.parse(args)
  local found, words = options.scan(args, TAKES_VALUE, FLAGS)
  if not found then return nil, words end
  if #words > 0 then return nil, ("%q is not an option; see --help"):format(words[1]) end

  local ok, message = complete_trap(found)
  if not ok then return nil, message end
  local function positive(name, default)
    local value, why = options.positive(found, name, default)
    found[name], message = value, message or why
  end
  positive("live", 1024)
  positive("allocate", 8 * (found.live or 1))
  positive("page", 1024)
  positive("rounds", 1)
  if message then return nil, message end

  local survivors = math.tointeger(tonumber(found.survivors or 4))
  if not survivors or survivors < 0 or survivors > BATCH then
    return nil, ("--survivors must be an integer from 0 to %d, got %q"):format(BATCH, found.survivors)
  end
  found.survivors = survivors

  found.clock = found.clock or "cpu"
  if found.clock ~= "cpu" and found.clock ~= "wall" then
    return nil, ("--clock must be cpu or wall, got %q"):format(found.clock)
  end

  local list = {}
  for _, name in ipairs(options.split(found.configs or CONFIGS)) do
    list[#list + 1], message = configuration(name)
    if message then return nil, message end
  end
  if #list == 0 then return nil, ("--configs names nothing in %q; see --help"):format(found.configs) end
  found.configs = list

  found.records = math.max(1, found.live * 1000000 // RECORD_BYTES)
  found.batches = found.batches or math.max(1, found.allocate * 1000000 // (RECORD_BYTES * BATCH))
  return found
end

return pause_options
