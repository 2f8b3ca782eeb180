-- SPDX-License-Identifier: MIT
-- Parses the command line of bench/run, and has functions for the other commands. No side effects.

local options = {}

options.USAGE = [[
usage: bench/run [options] [program or group]...
  --rounds N        rounds of every program (default 5)
  --configs A,B     of plain, fork, lua55, idle, sample, sample=PERIOD, mimalloc,
                    preload
                    (default plain,fork,idle,sample; plain,fork with --callgrind)
  --base NAME       compare every other configuration with this one
  --period SIZE     sampling period of 'sample' (default 512K)
  --plain PATH      the baseline (default build/plain/bin/lua)
  --fork PATH       the fork (default build/bin/lua)
  --lua55 PATH      Lua 5.5 (default build/lua55/bin/lua, which bench/lua55 builds)
  --preload LIB     adds 'preload': the baseline with LIB in LD_PRELOAD
  --callgrind       count instructions instead of time, at smaller sizes
  --instructions    also count instructions, in one run of each program at a smaller size
  --mode MODE       size of the workloads: size, small or tiny
  --out FILE        also write the report to FILE
  --list            print the names of programs and groups
AWFY=dir adds the programs of are-we-fast-yet (dir: a checkout's benchmarks/Lua).]]

local TAKES_VALUE = {
  rounds = true, configs = true, base = true, period = true, plain = true, fork = true,
  lua55 = true, preload = true, mode = true, out = true,
}
local FLAGS = { callgrind = true, instructions = true, list = true, help = true }
options.MODES = { size = true, small = true, tiny = true }

-- Splits a text at commas and returns the parts as a list.
function options.split(text)
  local out = {}
  for word in text:gmatch("[^,]+") do out[#out + 1] = word end
  return out
end

-- Scans a list of arguments. 'takes_value' and 'flags' are sets of names: the options with and without a
-- value. Returns a table of the options (name = value or true), and the list of the other words; or nil and
-- a message if an option is wrong.
function options.scan(args, takes_value, flags)
  local found, words = {}, {}
  local at = 1
  while at <= #args do
    local arg = args[at]
    local name, value = arg:match("^%-%-([%w-]+)=(.*)$")
    name = name or arg:match("^%-%-([%w-]+)$")
    if not name then
      if arg:sub(1, 1) == "-" then return nil, ("unknown option %q; see --help"):format(arg) end
      words[#words + 1] = arg
    elseif flags[name] and not value then
      found[name] = true
    elseif takes_value[name] then
      if not value then
        at = at + 1
        value = args[at]
      end
      if not value or value == "" then return nil, ("option --%s needs a value; see --help"):format(name) end
      found[name] = value
    else
      return nil, ("unknown option %q; see --help"):format(arg)
    end
    at = at + 1
  end
  return found, words
end

-- Returns the value of the option 'name' as a positive integer ('default' if it was not given); or nil and
-- a message if the value is wrong.
function options.positive(found, name, default)
  local value = math.tointeger(tonumber(found[name] or default))
  if value and value >= 1 then return value end
  return nil, ("--%s must be a positive integer, got %q"):format(name, found[name])
end

-- Parses the arguments of bench/run. Returns a table of all options. Some always have a value: rounds
-- (integer), configs (list of names), words (programs and groups), mode, period. Returns nil and a message
-- if something is wrong.
function options.parse(args)
  local found, words = options.scan(args, TAKES_VALUE, FLAGS)
  if not found then return nil, words end
  found.words = words

  local rounds, message = options.positive(found, "rounds", 5)
  if not rounds then return nil, message end
  found.rounds = found.callgrind and 1 or rounds
  if found.callgrind and found.instructions then
    return nil, "--callgrind counts instructions alone; leave out --instructions"
  end

  found.mode = found.mode or (found.callgrind and "small" or "size")
  if not options.MODES[found.mode] then
    return nil, ("--mode must be size, small or tiny, got %q"):format(found.mode)
  end

  found.period = found.period or "512K"
  if not found.period:match("^%d+[KMG]?$") then
    return nil, ("--period must be bytes with an optional K, M or G, got %q"):format(found.period)
  end

  local default = found.callgrind and "plain,fork" or "plain,fork,idle,sample"
  local names = found.configs or default
  found.configs = options.split(names)
  if #found.configs == 0 then return nil, ("--configs names nothing in %q; see --help"):format(names) end
  if found.preload and not names:find("preload", 1, true) then
    table.insert(found.configs, "preload")
  end
  return found
end

return options
